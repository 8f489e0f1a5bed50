// Actions of the open document for the palette: those of its menu, its publication, its preview, and its second column.
import { useFormat, useWords } from '../../parts/words.js'
import { type ScreenAction, useScreenActions } from '../shell/actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { useMeta } from './use-document-form.js'

interface PaletteActionsProps {
  readonly form: DocumentForm
  readonly locales: readonly { readonly code: string }[]
  /** A locale or `published`; null: nothing. */
  readonly beside: string | null
  readonly onBeside: (beside: string | null) => void
  readonly onOpen: (window: 'publish') => void
  /** Null: its documents have no preview. */
  readonly onPreview: (() => void) | null
  readonly isPreviewed: boolean
  /** Those of the menu. */
  readonly more: readonly ScreenAction[]
}

/** Offers the actions while the document is open. */
export default function PaletteActions(props: PaletteActionsProps): null {
  const { form, locales, beside, onBeside, onOpen, onPreview, isPreviewed, more } = props
  const { publish, preview, secondColumn } = useWords().editor
  const { languageName } = useFormat()
  const { view } = useMeta(form)
  const { type, locale } = form
  const besideOf = (name: string) => `${secondColumn.label}: ${name}`
  const columns = [
    ...(beside === null ? [] : [{ value: null, label: secondColumn.none }]),
    ...(view?.published == null ? [] : [{ value: 'published', label: besideOf(secondColumn.published) }]),
    ...(type.localized ? locales.map(({ code }) => ({ value: code, label: besideOf(languageName(code)) })) : []),
  ].filter(({ value }) => value !== locale && (value === null || value !== beside))
  useScreenActions([
    ...(mayPublish(type, view) ? [{ id: 'publish', label: publish.publish, keys: 'Ctrl Enter', run: () => onOpen('publish') }] : []),
    ...(onPreview === null
      ? []
      : [{ id: 'preview', label: isPreviewed ? preview.close : preview.title, keys: 'Ctrl Shift P', run: onPreview }]),
    ...more,
    ...columns.map(({ value, label }) => ({ id: `beside ${value}`, label, run: () => onBeside(value) })),
  ])
  return null
}
