// The editor of a document: head, fields in one or two languages, and side panel.
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { addresses } from '../../addresses.js'
import { documentSection, fieldsOf } from '../../fields/document.js'
import { createFolding } from '../../fields/folding.js'
import { buttonClass } from '../../parts/button.js'
import { Panel } from '../../parts/dialog.js'
import { EmptyState } from '../../parts/empty-state.js'
import { ErrorState } from '../../parts/error-state.js'
import { Hidden } from '../../parts/hidden.js'
import { Skeleton } from '../../parts/skeleton.js'
import { useFormat, useWords } from '../../parts/words.js'
import { startQuery } from '../../server/queries.js'
import { readQuery } from '../../server/query-string.js'
import { listName } from '../shell/type-names.js'
import { type PublicationCheck, placeCheck } from './document-actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { DocumentPane } from './document-pane.js'
import styles from './editor.module.css'
import { EditorHeader, type EditorWindow, stepsAt } from './editor-header.js'
import { useEditorKeys } from './editor-keys.js'
import { type FormPlace, focusAfterClosing, goToError, undoAt } from './focus-path.js'
import { type LinkedDocument, LinkedDocuments } from './linked-documents.js'
import { Notices } from './notices.js'
import { useFollowing } from './presence.js'
import type { SecondForm } from './second-column.js'
import { SidePanel } from './side-panel.js'
import { isMissing, useDocumentForm } from './use-document-form.js'

const DeleteDialog = lazy(async () => ({ default: (await import('./delete-dialog.js')).DeleteDialog }))
const FillDialog = lazy(async () => ({ default: (await import('./fill-dialog.js')).FillDialog }))
const LocaleActionDialog = lazy(() => import('./locale-action-dialog.js'))
const LinkedPanel = lazy(() => import('./linked-panel.js'))
const HistoryPanel = lazy(async () => ({ default: (await import('./history-panel.js')).HistoryPanel }))
const PreviewPane = lazy(async () => ({ default: (await import('./preview-pane.js')).PreviewPane }))
const PublishDialog = lazy(async () => ({ default: (await import('./publish-dialog.js')).PublishDialog }))
const SecondColumn = lazy(async () => ({ default: (await import('./second-column.js')).SecondColumn }))
const ScheduleDialog = lazy(async () => ({ default: (await import('./scheduled.js')).ScheduleDialog }))

interface EditorScreenProps {
  readonly type: string
  /** Null: a new document. */
  readonly document: string | null
}

/** The state of the editor in its address. */
interface EditorAddress {
  readonly locale: string | null
  readonly beside: string | null
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The editor of a document. */
export default function EditorScreen({ type, document }: EditorScreenProps): ReactNode {
  const words = useWords().editor
  const [, navigate] = useLocation()
  const { data: start } = useQuery(startQuery())
  const given = readQuery(useSearch())
  const known = start?.data.types.find(({ uid }) => uid === type)
  const isLocalized = known?.localized === true
  const locales = start?.data.locales ?? []
  const defaultLocale = locales.find(({ isDefault }) => isDefault)?.code ?? null
  const address: EditorAddress = {
    locale: isLocalized ? (textOrNull(given.locale) ?? defaultLocale) : null,
    beside: textOrNull(given.beside),
  }
  const { locale } = address
  const onCreated = useCallback(
    (documentId: string) => navigate(addresses.document(type, documentId, locale), { replace: true }),
    [navigate, type, locale],
  )
  const { opened, replace } = useDocumentForm(start === undefined ? null : type, document, locale, onCreated)
  if (opened.kind === 'failed')
    return (
      <div className={styles.alone}>
        <h1>
          <Hidden>{known === undefined ? type : listName(known)}</Hidden>
        </h1>
        {isMissing(opened.error) ? (
          <EmptyState title={words.missing}>
            {known !== undefined && (
              <Link href={addresses.list(type)} className={buttonClass()}>
                {words.back(listName(known))}
              </Link>
            )}
          </EmptyState>
        ) : (
          <ErrorState text={opened.error.message} />
        )}
      </div>
    )
  if (opened.kind === 'loading')
    return (
      <div className={styles.alone}>
        <Skeleton lines={8} isField />
      </div>
    )
  return (
    <>
      <Editor {...{ form: opened.form, replace, locales, address, onCreated }} />
      <div className={styles.room} data-room />
    </>
  )
}

interface EditorProps {
  readonly form: DocumentForm
  readonly replace: (form: DocumentForm) => void
  readonly locales: readonly { readonly code: string; readonly isDefault: boolean }[]
  readonly address: EditorAddress
  readonly onCreated: (documentId: string) => void
}

function Editor({ form, replace, locales, address, onCreated }: EditorProps) {
  const words = useWords().editor
  const format = useFormat()
  const [, navigate] = useLocation()
  const [open, setOpen] = useState<EditorWindow | null>(null)
  const [isPreviewed, setPreviewed] = useState(false)
  const [linked, setLinked] = useState<LinkedDocument | null>(null)
  const folding = useMemo(() => createFolding(), [])
  const close = () => setOpen(null)
  const { documentId } = form.saver.state
  const panes = useRef<HTMLDivElement>(null)
  const [second, setSecond] = useState<SecondForm | null>(null)
  const goTo = async (locale: string | null, beside: string | null) => {
    const { keepInView } = await import('./keep-in-view.js')
    // A language that is not there yet begins with how to fill it.
    if (form.meta.view?.locales.every((one) => one.locale !== locale)) scrollTo({ top: 0, behavior: 'instant' })
    else if (panes.current !== null) keepInView(panes.current, mainPrefix, beside === null ? null : besidePrefix)
    navigate(
      documentId === null ? addresses.create(form.type.uid, locale) : addresses.document(form.type.uid, documentId, locale, { beside }),
    )
  }
  const onLocale = (locale: string) => void goTo(locale, address.beside === locale ? form.locale : address.beside)
  const onGo = (path: string) => {
    close()
    focusAfterClosing(folding, mainPrefix, path)
  }
  const onGoIn = useGoingIn({ form, idPrefix: mainPrefix, go: onGo }, second, onLocale)
  const onUndo = (isRedo: boolean) => {
    // A rich text and the second column have their own steps.
    const focused = globalThis.document.activeElement
    if (focused?.dispatchEvent(new CustomEvent('octavo-undo', { bubbles: true, cancelable: true, detail: isRedo })) === false) return
    if (second !== null && stepsAt(focused) === 'second') second.undo(isRedo)
    else undoAt(form.store, folding, mainPrefix, isRedo)
  }
  // A new document begins with its name, unless that would open the keyboard of a phone.
  useEffect(() => {
    const { mainField } = form.type.layout.settings
    const isFirst = fieldsOf(documentSection(form.type))[0]?.name === mainField
    if (isFirst && form.saver.state.documentId === null && matchMedia('(hover: hover)').matches)
      globalThis.document.getElementById(`${mainPrefix}${mainField}`)?.focus()
  }, [form])
  useFollowing(form, mainPrefix, second)
  const onPreview = form.type.previewed && documentId !== null ? () => setPreviewed(!isPreviewed) : null
  useEditorKeys({
    onSave: () => void form.saver.save(),
    onPublish: () => (mayPublish(form.type, form.meta.view) ? setOpen('publish') : void form.saver.save()),
    onUndo,
    onError: (isBackwards) => goToError([{ form, idPrefix: mainPrefix, go: onGo }, ...(second === null ? [] : [second])], isBackwards),
    onPreview,
    onLanguage: () => {
      const codes = locales.map(({ code }) => code)
      const next = codes[(codes.indexOf(form.locale ?? '') + 1) % codes.length]
      if (next !== undefined && form.locale !== null) onLocale(next)
    },
  })
  const panel = <SidePanel form={form} onPublish={() => setOpen('publish')} onGo={onGo} onLocale={onLocale} />
  const isBeside = address.beside !== null && documentId !== null
  const label = form.locale === null ? words.form : format.languageName(form.locale)
  return (
    <div className={styles.screen} data-preview={isPreviewed}>
      <EditorHeader
        {...{ form, second, locales, onLocale, onUndo, onPreview, isPreviewed }}
        beside={address.beside}
        onBeside={(beside) => void goTo(form.locale, beside)}
        onOpen={setOpen}
      />
      <div className={styles.body}>
        <div className={styles.main}>
          <Notices {...{ form, replace, onCreated }} onFill={(from) => setOpen(`fill ${from}`)} />
          <LinkedDocuments value={setLinked}>
            <div
              ref={panes}
              className={styles.panes}
              data-beside={isBeside}
              style={{ '--rows': fieldsOf(documentSection(form.type)).length + 1 } as CSSProperties}
            >
              <DocumentPane form={form} folding={folding} idPrefix={mainPrefix} label={label} isAligned={isBeside} />
              {isBeside && (
                <Suspense>
                  <SecondColumn
                    form={form}
                    onForm={setSecond}
                    onGoIn={onGoIn}
                    shown={address.beside!}
                    document={documentId}
                    idPrefix={besidePrefix}
                  />
                </Suspense>
              )}
            </div>
          </LinkedDocuments>
        </div>
        {isPreviewed && onPreview !== null ? (
          <Suspense>
            <PreviewPane form={form} document={documentId!} onGo={onGo} onClose={onPreview} />
          </Suspense>
        ) : (
          <aside className={styles.aside} aria-label={words.panel} data-region="panel">
            {panel}
          </aside>
        )}
      </div>
      {open === 'panel' && (
        <Panel isOpen onClose={close} title={words.openPanel} size="small">
          {panel}
        </Panel>
      )}
      <Suspense>
        {(open === 'unpublish' || open === 'discard') && <LocaleActionDialog form={form} action={open} onClose={close} />}
        {linked !== null && <LinkedPanel wanted={linked} onClose={() => setLinked(null)} />}
        {open === 'publish' && (
          <PublishDialog form={form} onClose={close} onGo={onGo} onGoIn={onGoIn} onLater={() => setOpen('schedule')} />
        )}
        {open === 'schedule' && <ScheduleDialog form={form} onClose={close} />}
        {open === 'history' && <HistoryPanel form={form} onClose={close} />}
        {open === 'delete' && <DeleteDialog form={form} onClose={close} onDeleted={() => navigate(addresses.list(form.type.uid))} />}
        {open?.startsWith('fill ') === true && <FillDialog form={form} from={open.slice('fill '.length)} onClose={close} />}
      </Suspense>
    </div>
  )
}

/** Goes to the first error of an attribute in a language, which is opened first unless one of the columns has it. */
function useGoingIn(main: FormPlace, second: SecondForm | null, onLocale: (locale: string) => void) {
  const wanted = useRef<{ readonly check: PublicationCheck; readonly attribute: string }>(null)
  const goIn = (check: PublicationCheck, attribute: string) => {
    const there = [main, second].find((one) => one?.form.locale === check.locale)
    if (there != null) return there.go(placeCheck(there.form, check, attribute))
    wanted.current = { check, attribute }
    if (check.locale !== null) onLocale(check.locale)
  }
  useEffect(() => {
    const { check, attribute } = wanted.current ?? {}
    if (check?.locale !== main.form.locale || attribute === undefined) return
    wanted.current = null
    main.go(placeCheck(main.form, check, attribute))
  })
  return goIn
}

const mainPrefix = 'field-'
const besidePrefix = 'beside-'
