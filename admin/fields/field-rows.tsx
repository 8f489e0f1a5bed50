// The fields of a document or an entry in the rows of its layout.
import { type CSSProperties, memo } from 'react'
import { useValue } from '../form/hooks.js'
import type { Entry } from '../form/values.js'
import { AttributeField } from './attribute-field.js'
import { isConditional, isShown } from './conditions.js'
import { type Section, useDocumentFields } from './document.js'
import styles from './field-rows.module.css'

/** Rows of fields: names of attributes with their widths in twelfths. */
export type Rows = Section['layout']['layouts']['edit']

/** The fields of a section; `rows`: some of its layout. */
export const FieldRows = memo(function FieldRows({ section, rows = section.layout.layouts.edit }: FieldRowsProps) {
  const shown = rows.flat().filter(({ name }) => {
    const isVisible = section.layout.metadatas[name]?.edit.visible !== false
    return section.attributes[name] !== undefined && isVisible
  })
  return (
    <div className={styles.rows}>
      {shown.map(({ name, size }) => (
        <ShownField key={name} section={section} name={name} size={size} />
      ))}
    </div>
  )
})

interface FieldRowsProps {
  readonly section: Section
  readonly rows?: Rows
}

interface ShownFieldProps {
  readonly section: Section
  readonly name: string
  readonly size: number
}

/** Kinds that need the whole width. */
const wide = /^(component|dynamiczone|blocks|richtext|json)$/

function ShownField(props: ShownFieldProps) {
  const attribute = props.section.attributes[props.name]!
  return isConditional(attribute) ? <ConditionalField {...props} /> : <Cell {...props} />
}

function ConditionalField(props: ShownFieldProps) {
  const { store } = useDocumentFields()
  const { section, name } = props
  const values = useValue(store, section.path) as Entry | undefined
  return isShown(section.attributes[name]!, section.attributes, values ?? {}) ? <Cell {...props} /> : null
}

function Cell({ section, name, size }: ShownFieldProps) {
  const span = wide.test(section.attributes[name]!.type) ? 12 : size
  return (
    <div className={styles.cell} style={{ '--span': Math.min(12, Math.max(3, span)) } as CSSProperties}>
      <AttributeField section={section} name={name} Rows={FieldRows} />
    </div>
  )
}
