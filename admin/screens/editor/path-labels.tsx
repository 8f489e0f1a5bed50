// Labels of paths in the form, their order on the screen, and links with these labels.
import { fieldsOf, type Layout, labelOf } from '../../fields/document.js'
import type { FieldError } from '../../form/errors.js'
import { joinPath, splitPath } from '../../form/paths.js'
import type { DocumentStore } from '../../form/store.js'
import { type Entry, type FormAttributes, isKeyed, keyOf } from '../../form/values.js'
import { useWords } from '../../parts/words.js'
import type { DocumentForm, TypeDescription } from './document-form.js'
import styles from './editor.module.css'

/** An attribute or an entry of a path. */
interface Step {
  readonly label: string
  /** In its layout or list; -1: the layout does not show it. */
  readonly position: number
}

function stepsOf(type: TypeDescription, store: DocumentStore, path: string): readonly Step[] {
  const steps: Step[] = []
  let layout: Layout | undefined = type.layout
  let attributes = type.attributes as FormAttributes
  let component: unknown
  let at = ''
  let list: unknown
  for (const part of splitPath(path)) {
    at = joinPath(at, part)
    if (isKeyed(list) && list.length > 0) {
      const index = list.findIndex((item) => keyOf(item) === part)
      const entry = list[index] as Entry | undefined
      component = entry?.__component ?? component
      steps.push({ label: `${index + 1} ${type.components[String(component)]?.displayName ?? ''}`.trim(), position: index })
    } else if (layout !== undefined) {
      const position = fieldsOf({ layout, attributes }).findIndex(({ name }) => name === part)
      steps.push({ label: labelOf(layout, part), position })
      component = attributes[part]?.component
    }
    list = store.get(at)
    const next: TypeDescription['components'][string] | undefined = type.components[String(component)]
    if (next !== undefined) {
      layout = next.layout
      attributes = next.attributes as FormAttributes
    }
  }
  return steps
}

/** A path as a person reads it: `Sections › 2 Quote › Text`. */
export const labelOfPath = (type: TypeDescription, store: DocumentStore, path: string): string =>
  stepsOf(type, store, path)
    .map(({ label }) => label)
    .join(' › ')

/** The place of a path on the screen, in the order of lists of numbers; null: it is not shown there. */
export function placeOfPath(type: TypeDescription, store: DocumentStore, path: string): readonly number[] | null {
  const places = stepsOf(type, store, path).map(({ position }) => position)
  return path === '' || places.includes(-1) ? null : places
}

/** The name of a document: the value of the attribute that its layout names. */
export function nameOfDocument({ layout }: TypeDescription, values: Entry | null | undefined): string {
  const { mainField } = layout.settings
  const value = values?.[String(mainField)]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

interface FieldLinksProps {
  readonly form: DocumentForm
  readonly onGo: (path: string) => void
  readonly found: readonly FieldError[]
}

/** Links to the fields of errors and hints. */
export function FieldLinks({ form, onGo, found }: FieldLinksProps) {
  const words = useWords().editor.errors
  return (
    <ul className={styles.links}>
      {found.map(({ path, code, source }) => (
        <li key={`${path} ${code} ${source}`}>
          <button type="button" className={styles.link} onClick={() => onGo(path)}>
            {labelOfPath(form.type, form.store, path) || words.atDocument}
          </button>
        </li>
      ))}
    </ul>
  )
}
