// Labels of paths in the form, of attributes and the positions of entries, and links with these labels.
import { type Layout, labelOf } from '../../fields/document.js'
import type { FieldError } from '../../form/errors.js'
import { joinPath, splitPath } from '../../form/paths.js'
import type { DocumentStore } from '../../form/store.js'
import { type Entry, isKeyed, keyOf } from '../../form/values.js'
import { useWords } from '../../parts/words.js'
import type { DocumentForm, TypeDescription } from './document-form.js'
import styles from './editor.module.css'

/** A path as a person reads it: `Sections › 2 Quote › Text`. */
export function labelOfPath(type: TypeDescription, store: DocumentStore, path: string): string {
  const labels: string[] = []
  let layout: Layout | undefined = type.layout
  let attributes: Readonly<Record<string, { readonly type: string; readonly component?: unknown }>> = type.attributes
  let component: unknown
  let at = ''
  let list: unknown
  for (const part of splitPath(path)) {
    at = joinPath(at, part)
    if (isKeyed(list) && list.length > 0) {
      const index = list.findIndex((item) => keyOf(item) === part)
      const entry = list[index] as Entry | undefined
      component = entry?.__component ?? component
      labels.push(`${index + 1} ${type.components[String(component)]?.displayName ?? ''}`.trim())
    } else if (layout !== undefined) {
      labels.push(labelOf(layout, part))
      component = attributes[part]?.component
    }
    list = store.get(at)
    const next: TypeDescription['components'][string] | undefined = type.components[String(component)]
    if (next !== undefined) {
      layout = next.layout
      attributes = next.attributes
    }
  }
  return labels.join(' › ')
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
