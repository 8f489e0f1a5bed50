// Actions of the open document for the palette: those of its menu, its publication, its preview, and its second column.
import type { Choice } from '../../parts/select.js'
import { useWords } from '../../parts/words.js'
import { type ScreenAction, useScreenActions } from '../shell/actions.js'
import { type DocumentForm, mayPublish } from './document-form.js'
import { useMeta } from './use-document-form.js'

interface PaletteActionsProps {
  readonly form: DocumentForm
  /** Choices of the second column; one without a value closes it. */
  readonly columnChoices: readonly Choice[]
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
  const { form, columnChoices, beside, onBeside, onOpen, onPreview, isPreviewed, more } = props
  const { publish, preview, secondColumn } = useWords().editor
  const { view } = useMeta(form)
  const columns = columnChoices.filter(({ value }) => value !== (beside ?? ''))
  useScreenActions([
    ...(mayPublish(form.type, view) ? [{ id: 'publish', label: publish.publish, keys: 'Ctrl Enter', run: () => onOpen('publish') }] : []),
    ...(onPreview === null
      ? []
      : [{ id: 'preview', label: isPreviewed ? preview.close : preview.title, keys: 'Ctrl Shift P', run: onPreview }]),
    ...more,
    ...columns.map(({ value, label }) => ({
      id: `beside ${value}`,
      label: value === '' ? label : `${secondColumn.label}: ${label}`,
      run: () => onBeside(value === '' ? null : value),
    })),
  ])
  return null
}
