// The head of the editor: name, state, languages, second column, and actions.
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Columns2, Ellipsis, History, MonitorPlay, PanelRight, Redo2, Undo2 } from 'lucide-react'
import { Fragment, lazy, Suspense, useSyncExternalStore } from 'react'
import { Link, useLocation } from 'wouter'
import { addresses } from '../../addresses.js'
import { useFormState, useSaver, useValue } from '../../form/hooks.js'
import type { Entry } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { IconButton } from '../../parts/icon-button.js'
import { Menu, MenuItem, MenuLine } from '../../parts/menu.js'
import { type Choice, Select } from '../../parts/select.js'
import { State } from '../../parts/state.js'
import { useToasts } from '../../parts/toasts.js'
import { useFormat, useWords } from '../../parts/words.js'
import { mayIn, startQuery } from '../../server/queries.js'
import type { ScreenAction } from '../shell/actions.js'
import { listName } from '../shell/type-names.js'
import { cloneDocument, saveAll } from './document-actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import styles from './editor.module.css'
import { nameOfDocument } from './path-labels.js'
import { People } from './presence.js'
import { SavingStatus } from './saving-status.js'
import type { SecondForm } from './second-column.js'
import { useMeta } from './use-document-form.js'

const PaletteActions = lazy(() => import('./palette-actions.js'))
const ScheduledMark = lazy(async () => ({ default: (await import('./scheduled.js')).ScheduledMark }))

/** A window of the editor. */
export type EditorWindow = 'publish' | 'schedule' | 'history' | 'delete' | 'unpublish' | 'discard' | 'panel' | `fill ${string}`

/** An action of the menu, or with `href` a link. */
type MenuAction = ScreenAction & { readonly href?: string }

interface EditorHeaderProps {
  readonly form: DocumentForm
  readonly second: SecondForm | null
  readonly locales: readonly { readonly code: string; readonly isDefault: boolean }[]
  /** A locale or `published`; null: nothing. */
  readonly beside: string | null
  readonly onLocale: (locale: string) => void
  readonly onBeside: (beside: string | null) => void
  readonly onOpen: (window: EditorWindow) => void
  readonly onUndo: (isRedo: boolean) => void
  /** Null: its documents have no preview. */
  readonly onPreview: (() => void) | null
  readonly isPreviewed: boolean
}

/** The head of the editor. */
export function EditorHeader(props: EditorHeaderProps) {
  const { form, onOpen } = props
  const words = useWords().editor
  const { view } = useMeta(form)
  const { type } = form
  const isSingle = type.kind === 'singleType'
  useValue(form.store, String(type.layout.settings.mainField))
  const name = nameOfDocument(type, form.store.get('') as Entry)
  const { documentId } = useSaver(form.saver)
  const known = useQuery(startQuery()).data?.data.types.find(({ uid }) => uid === type.uid)
  const { languages, columnChoices } = useViews(props)
  const list = known === undefined ? type.displayName : listName(known)
  return (
    <header className={styles.header}>
      <div className={styles.headLine}>
        {!isSingle && (
          <Link href={addresses.list(type.uid)} className={styles.back} aria-label={words.back(list)}>
            <ArrowLeft size={16} aria-hidden="true" />
            <span className={styles.backText}>{list}</span>
          </Link>
        )}
        <h1 className={styles.name} lang={form.locale ?? undefined} dir="auto">
          {isSingle ? type.displayName : name || (documentId === null ? words.newDocument(type.displayName) : words.untitled)}
        </h1>
        {type.draftAndPublish && view?.state != null && <State state={view.state} />}
        {(view?.scheduled.length ?? 0) > 0 && (
          <Suspense>
            <ScheduledMark form={form} onOpen={() => onOpen('schedule')} />
          </Suspense>
        )}
      </div>
      <div className={styles.actions}>
        <SavingStatus form={form} />
        <UndoButtons {...props} />
        <span className={styles.panelButton}>
          {documentId !== null && mayPublish(type, view) && (
            <Button kind="main" isSmall onPress={() => onOpen('publish')}>
              {words.publish.publish}
            </Button>
          )}
          <IconButton label={words.openPanel} onPress={() => onOpen('panel')}>
            <PanelRight />
          </IconButton>
        </span>
        <MoreMenu {...props} columnChoices={columnChoices} />
      </div>
      <Views {...props} columnChoices={columnChoices} languages={languages} />
    </header>
  )
}

/** Whose steps Undo takes back for a focused element: those of a text with its own history, of the second column, or of the form. */
export function stepsAt(focused: Element | null): 'text' | 'second' | 'form' {
  if (focused?.closest('[contenteditable="true"]') != null) return 'text'
  return focused?.closest('[data-column="second"]') == null ? 'form' : 'second'
}

function onFocus(listener: () => void): () => void {
  const moves = ['focusin', 'focusout'] as const
  for (const move of moves) document.addEventListener(move, listener)
  return () => {
    for (const move of moves) document.removeEventListener(move, listener)
  }
}

/** Undo and redo of the text or of the column with the focus, otherwise of the form. A press leaves the focus where it is. */
function UndoButtons({ form, second, onUndo }: EditorHeaderProps) {
  const words = useWords().editor
  const place = useSyncExternalStore(onFocus, () => stepsAt(document.activeElement))
  const { store } = (place === 'second' ? second?.form : null) ?? form
  const { canUndo, canRedo } = useFormState(store, ({ canUndo, canRedo }) => ({ canUndo, canRedo }))
  const isOwn = place === 'text'
  return (
    <span className={styles.undo}>
      <IconButton label={words.undo} keys="Ctrl Z" isDisabled={!canUndo && !isOwn} preventFocusOnPress onPress={() => onUndo(false)}>
        <Undo2 />
      </IconButton>
      <IconButton label={words.redo} keys="Ctrl Shift Z" isDisabled={!canRedo && !isOwn} preventFocusOnPress onPress={() => onUndo(true)}>
        <Redo2 />
      </IconButton>
    </span>
  )
}

/** Choices of the language, if there are several, and of the second column. */
function useViews({ form, locales, beside }: EditorHeaderProps) {
  const words = useWords().editor
  const format = useFormat()
  const { view } = useMeta(form)
  const { documentId } = useSaver(form.saver)
  const shown = form.type.localized && locales.length > 1 ? locales : []
  const languages: readonly Choice[] = shown.map(({ code, isDefault }) => {
    const isThere = view?.locales.some(({ locale }) => locale === code) ?? false
    const notes = [...(isDefault ? [words.isDefault] : []), ...(isThere || documentId === null ? [] : [words.missingLanguage])]
    return { value: code, label: format.languageName(code), ...(notes.length > 0 ? { description: notes.join(', ') } : {}) }
  })
  const columnChoices: readonly Choice[] = [
    ...(beside === null ? [] : [{ value: '', label: words.secondColumn.none }]),
    ...(view?.published == null ? [] : [{ value: 'published', label: words.secondColumn.published }]),
    ...languages.filter(({ value }) => value !== form.locale),
  ]
  return { languages, columnChoices }
}

interface ViewsProps extends EditorHeaderProps {
  readonly languages: readonly Choice[]
  readonly columnChoices: readonly Choice[]
}

function Views({ form, languages, columnChoices, beside, onLocale, onBeside, onOpen, onPreview, isPreviewed }: ViewsProps) {
  const words = useWords().editor
  const { documentId } = useSaver(form.saver)
  return (
    <div className={styles.views}>
      {languages.length > 0 && (
        <span className={styles.language}>
          <Select isSmall aria-label={words.language} choices={languages} value={form.locale} onChange={onLocale} />
        </span>
      )}
      {columnChoices.length > 0 && documentId !== null && (
        <span className={styles.beside}>
          <Columns2 size={16} aria-hidden="true" />
          <Select
            isSmall
            isQuiet
            aria-label={words.secondColumn.label}
            choices={columnChoices}
            value={beside}
            placeholder={words.secondColumn.choose}
            onChange={(value) => onBeside(value === '' ? null : value)}
          />
        </span>
      )}
      <span className={styles.spring} />
      <People form={form} />
      {onPreview !== null && (
        <IconButton label={words.preview.title} keys="Ctrl Shift P" isOn={isPreviewed} onPress={onPreview}>
          <MonitorPlay />
        </IconButton>
      )}
      {documentId !== null && (
        <span className={styles.history}>
          <IconButton label={words.history.open} onPress={() => onOpen('history')}>
            <History />
          </IconButton>
        </span>
      )}
    </div>
  )
}

function MoreMenu(props: EditorHeaderProps & Pick<ViewsProps, 'columnChoices'>) {
  const { form, locales, onOpen } = props
  const words = useWords().editor
  const format = useFormat()
  const [, navigate] = useLocation()
  const { say } = useToasts()
  const { view } = useMeta(form)
  const { documentId } = useSaver(form.saver)
  const { may, state, published } = view ?? {}
  const { type, locale } = form
  const clone = async () => {
    try {
      await saveAll(form)
      const copy = await cloneDocument(form)
      if (copy === null) return
      navigate(addresses.document(type.uid, copy, locale))
      say(words.clone.done)
    } catch (error) {
      say((error as Error).message, { kind: 'wrong' })
    }
  }
  const mayFill = (may?.update.length ?? 0) > 0
  const others = locales.filter(({ code }) => code !== locale && view?.locales.some((one) => one.locale === code))
  if (documentId === null) return null
  const opening = (id: EditorWindow, label: string): MenuAction => ({ id, label, run: () => onOpen(id) })
  const compare = addresses.compare(type.uid, documentId, locale === null ? {} : { locale })
  const actions: readonly (MenuAction | false)[] = [
    opening('history', words.history.open),
    mayPublish(type, view) && opening('schedule', words.publish.later),
    published != null && { id: 'compare', label: words.compare.title, href: compare, run: () => navigate(compare) },
    ...(type.localized && mayFill ? others.map(({ code }) => opening(`fill ${code}`, words.fill.action(format.languageName(code)))) : []),
    type.kind === 'collectionType' && mayIn(type, 'create', locale) && { id: 'clone', label: words.clone.action, run: () => void clone() },
    may?.discardDraft === true && state === 'changed' && opening('discard', words.publish.discard),
    may?.unpublish === true && published != null && opening('unpublish', words.publish.unpublish),
    may?.delete === true && opening('delete', words.remove.action),
  ]
  const offered = actions.filter((action) => action !== false)
  return (
    <>
      <Menu
        label={words.more}
        trigger={
          <IconButton label={words.more}>
            <Ellipsis />
          </IconButton>
        }
      >
        {offered.map(({ id, label, href, run }) => (
          <Fragment key={id}>
            {id === 'delete' && <MenuLine />}
            <MenuItem href={href} isDanger={id === 'delete'} onPress={href === undefined ? run : undefined}>
              {label}
            </MenuItem>
          </Fragment>
        ))}
      </Menu>
      <Suspense>
        <PaletteActions {...props} more={offered} />
      </Suspense>
    </>
  )
}
