// The fields of a document or an entry in the rows of its layout.
import { type CSSProperties, memo } from 'react'
import { useValue } from '../form/hooks.js'
import type { Entry } from '../form/values.js'
import { AttributeField } from './attribute-field.js'
import { isConditional, isShown } from './conditions.js'
import { type Section, useDocumentFields } from './document.js'
import styles from './field-rows.module.css'

/** Rows of fields: names of attributes with their widths in twelfths. */
type Rows = Section['layout']['layouts']['edit']

/** The fields of a section that its layout shows. */
export const fieldsOf = ({ layout, attributes }: Pick<Section, 'layout' | 'attributes'>): Rows[number] =>
  layout.layouts.edit.flat().filter(({ name }) => attributes[name] !== undefined && layout.metadatas[name]?.edit.visible !== false)

/** The fields of a section. */
export const FieldRows = memo(function FieldRows({ section, isAligned = false }: FieldRowsProps) {
  return (
    <div className={isAligned ? styles.aligned : styles.rows}>
      {fieldsOf(section).map(({ name, size }, index) => (
        <ShownField key={name} section={section} name={name} size={size} row={isAligned ? index + 1 : undefined} />
      ))}
    </div>
  )
})

interface FieldRowsProps {
  readonly section: Section
  /** Each field in a row of the outer grid, next to the same field of another form. */
  readonly isAligned?: boolean
}

interface ShownFieldProps {
  readonly section: Section
  readonly name: string
  readonly size: number
  readonly row: number | undefined
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

function Cell({ section, name, size, row }: ShownFieldProps) {
  const span = wide.test(section.attributes[name]!.type) ? 12 : size
  return (
    <div className={styles.cell} style={{ '--span': Math.min(12, Math.max(3, span)), gridRow: row } as CSSProperties}>
      <AttributeField section={section} name={name} Rows={FieldRows} />
    </div>
  )
}
