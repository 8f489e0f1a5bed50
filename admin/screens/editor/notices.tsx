// Messages about the whole document: lost network, deletion, copies of earlier pages, and changes of others.
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from 'react'
import { useFormState, useSaver } from '../../form/hooks.js'
import { parentPath } from '../../form/paths.js'
import { Button } from '../../parts/button.js'
import { classes } from '../../parts/classes.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { useOnline } from '../shell/session.js'
import { copyStorage, type DocumentForm, type DocumentMeta, openCopy } from './document-form.js'
import styles from './editor.module.css'
import { labelOfPath } from './path-labels.js'
import { useMeta } from './use-document-form.js'

interface NoticesProps {
  readonly form: DocumentForm
  readonly replace: (form: DocumentForm) => void
  readonly onCreated: (documentId: string) => void
  /** Fills a language that does not exist yet from another; without it, nothing is said about such a language. */
  readonly onFill?: (from: string) => void
}

/** Messages above the fields. */
export function Notices({ form, replace, onCreated, onFill }: NoticesProps) {
  const { phase, message } = useSaver(form.saver)
  const words = useWords().editor.notices
  const { copies, theirs } = useMeta(form)
  const isOnline = useOnline()
  const isCopied = useSyncExternalStore(form.keeper.subscribe, () => form.keeper.isWorking)
  return (
    <div className={styles.notices}>
      {/* Without a connection, the bar above the screen says so. */}
      {phase === 'offline' && isOnline && <Notice kind="warning">{words.offline}</Notice>}
      {phase === 'failed' && (
        <Notice
          kind="wrong"
          actions={
            <Button isSmall onPress={() => form.saver.resume()}>
              {words.retry}
            </Button>
          }
        >
          {words.failed(message ?? '')}
        </Notice>
      )}
      {phase === 'gone' && (
        <Notice
          kind="wrong"
          actions={
            <Button isSmall onPress={() => form.saver.createAgain()}>
              {words.createAgain}
            </Button>
          }
        >
          {words.gone}
        </Notice>
      )}
      {onFill !== undefined && <Untranslated form={form} onFill={onFill} />}
      {!isCopied && <Notice kind="warning">{words.noCopy}</Notice>}
      {copies.length > 0 && <FoundCopy {...{ form, replace, onCreated }} />}
      {theirs !== null && <TheirChanges form={form} theirs={theirs} />}
      <Undecided form={form} />
    </div>
  )
}

/** Says that the document lacks the language, and offers the values of others. */
function Untranslated({ form, onFill }: Required<Pick<NoticesProps, 'form' | 'onFill'>>) {
  const { documentId, revision } = useSaver(form.saver)
  const { view } = useMeta(form)
  const words = useWords().editor.fill
  const format = useFormat()
  if (form.locale === null || documentId === null || revision !== null) return null
  const language = format.languageName(form.locale)
  if (view?.may.update.length === 0) return <Notice kind="info">{words.absent(language)}</Notice>
  const sources = (view?.locales ?? []).flatMap(({ locale }) => locale ?? []).slice(0, 3)
  return (
    <Notice
      kind="info"
      actions={sources.map((from) => (
        <Button key={from} isSmall onPress={() => onFill(from)}>
          {words.action(format.languageName(from))}
        </Button>
      ))}
    >
      {words.create(language)}
    </Notice>
  )
}

interface NoticeProps {
  readonly kind: 'info' | 'warning' | 'wrong'
  readonly actions?: ReactNode
  readonly children: ReactNode
}

function Notice({ kind, actions, children }: NoticeProps) {
  return (
    <div className={classes(styles.notice, styles[kind])} role={kind === 'info' ? undefined : kind === 'wrong' ? 'alert' : 'status'}>
      <p>{children}</p>
      {actions !== undefined && <div className={styles.noticeActions}>{actions}</div>}
    </div>
  )
}

/** A copy of an earlier page that was not saved. */
function FoundCopy({ form, replace, onCreated }: NoticesProps) {
  const words = useWords().editor.notices
  const { copies, view } = useMeta(form)
  const format = useFormat()
  const copy = copies[0]!
  const restored = useRef<string | null>(null)
  const restore = async () => {
    // A double press would open a second form and replace the one being edited.
    if (restored.current === copy.id) return
    restored.current = copy.id
    const { type, locale, user, saver } = form
    const opened = await openCopy({ type, locale, user, view, documentId: saver.state.documentId, onCreated }, copy)
    opened.update({ copies: copies.slice(1) })
    replace(opened)
  }
  const discard = async () => {
    await copyStorage.delete(copy.id)
    form.update({ copies: copies.slice(1) })
  }
  return (
    <Notice
      kind="info"
      actions={
        <>
          <Button isSmall kind="main" onPress={() => void restore()}>
            {words.restore}
          </Button>
          <Button isSmall kind="quiet" onPress={() => void discard()}>
            {words.discardCopy}
          </Button>
        </>
      }
    >
      {words.copyFound(format.dateTime(new Date(copy.time)))}
    </Notice>
  )
}

/** Conflicts that wait for a choice: author, date and fields of the other change. */
function Undecided({ form: { type, store } }: { readonly form: DocumentForm }) {
  const words = useWords().editor.notices
  const format = useFormat()
  const conflicts = useFormState(store, (all) => all.conflicts().map(({ path, by }) => ({ path, by })))
  const [first] = conflicts
  if (first === undefined) return null
  const { person = null, time = null } = first.by ?? {}
  const labels = conflicts.map(({ path }) => labelOfPath(type, store, path))
  return (
    <Notice kind="warning">
      {words.undecided(person, format.list([...new Set(labels)]), time === null ? null : format.dateTime(new Date(time)))}
    </Notice>
  )
}

/** Reports changes by another person in a toast, because a line above the fields would shift them during typing. */
function TheirChanges({ form, theirs }: Pick<NoticesProps, 'form'> & { readonly theirs: NonNullable<DocumentMeta['theirs']> }) {
  const words = useWords().editor.notices
  const format = useFormat()
  const { say } = useToasts()
  const labels = theirs.paths.map(
    (path) => labelOfPath(form.type, form.store, path) || labelOfPath(form.type, form.store, parentPath(path)),
  )
  const text = words.theirs(theirs.person, format.list([...new Set(labels)]))
  // Each change is said, also when it is about the same fields.
  useEffect(() => say(text, { isKept: true }), [say, text, theirs])
  return null
}
