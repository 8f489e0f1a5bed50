// The fields of a document or an entry in the rows of its layout.
import { type CSSProperties, memo, useCallback, useSyncExternalStore } from 'react'
import type { Entry } from '../form/values.js'
import { AttributeField } from './attribute-field.js'
import { isConditional, isShown } from './conditions.js'
import { fieldsOf, type Section, useDocumentFields } from './document.js'
import styles from './field-rows.module.css'

/** Rows of fields: names of attributes with their widths in twelfths. */
type Rows = Section['layout']['layouts']['edit']

/** The fields of a section. */
export const FieldRows = memo(function FieldRows({ section, isAligned = false }: FieldRowsProps) {
  const all = fieldsOf(section)
  const hidden = useHidden(section, all)
  const shown = all.filter(({ name }) => !hidden.includes(name))
  const spans = spansOf(section, shown)
  return (
    <div className={isAligned ? styles.aligned : styles.rows}>
      {shown.map((field, index) => (
        <div
          key={field.name}
          className={styles.cell}
          style={{ '--span': spans[index], gridRow: isAligned ? all.indexOf(field) + 1 : undefined } as CSSProperties}
        >
          <AttributeField section={section} name={field.name} Rows={FieldRows} />
        </div>
      ))}
    </div>
  )
})

interface FieldRowsProps {
  readonly section: Section
  /** Each field in a row of the outer grid, next to the same field of another form. */
  readonly isAligned?: boolean
}

/** Names of the fields whose rules do not hold at present. */
function useHidden(section: Section, fields: Rows[number]): readonly string[] {
  const { store } = useDocumentFields()
  const { path, attributes } = section
  const conditional = fields.filter(({ name }) => isConditional(attributes[name]!))
  const hasRules = conditional.length > 0
  const subscribe = useCallback((listener: () => void) => (hasRules ? store.subscribe(path, listener) : () => {}), [store, path, hasRules])
  const hidden = useSyncExternalStore(subscribe, () => {
    const values = hasRules ? ((store.get(path) ?? {}) as Entry) : {}
    return conditional.flatMap(({ name }) => (isShown(attributes[name]!, attributes, values) ? [] : [name])).join(' ')
  })
  return hidden.split(' ')
}

/** Kinds that need the whole width, and those that look odd in it. */
const wide = /^(component|dynamiczone|blocks|richtext|json)$/
const narrow = /^(boolean|integer|biginteger|float|decimal|date|time|datetime|timestamp)$/

/** Widths in twelfths. A field with nothing next to it takes its whole row. */
function spansOf({ attributes }: Section, fields: Rows[number]): readonly number[] {
  const types = fields.map(({ name }) => attributes[name]!.type)
  const sizes = fields.map(({ size }, index) => (wide.test(types[index]!) ? 12 : Math.min(12, Math.max(3, size))))
  let used = 0
  return sizes.map((size, index) => {
    const isFirst = used === 0 || used + size > 12
    used = isFirst ? size : used + size
    const isAlone = isFirst && used + (sizes[index + 1] ?? 12) > 12
    if (isAlone && !narrow.test(types[index]!)) used = 12
    return isAlone ? used : size
  })
}
