// Values for fields of many documents.
import { Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { dateTimeInput, dateTimeValue, timeInput, timeValue } from '../../fields/date-values.js'
import { textOf } from '../../form/values.js'
import { Button } from '../../parts/button.js'
import { IconButton } from '../../parts/icon-button.js'
import { NumberInput } from '../../parts/number-input.js'
import { Select } from '../../parts/select.js'
import { TextInput } from '../../parts/text-input.js'
import { useWords } from '../../parts/words.js'
import styles from './bulk-dialog.module.css'
import { columnLabel } from './columns.js'
import { type AttributeInfo, attributeOf, type TypeInfo } from './list-query.js'

/** New values by attribute; null empties. */
export type FieldChange = Readonly<Record<string, unknown>>

interface EditFieldsProps {
  readonly type: TypeInfo
  readonly lang: string | undefined
  readonly changes: FieldChange
  readonly onChange: (changes: FieldChange) => void
}

interface Input {
  readonly type: 'text' | 'email' | 'date' | 'time' | 'datetime-local'
  readonly toInput?: (value: unknown) => string
  readonly toValue?: (text: string) => string
}

/** Kinds with a native input, and how its texts are stored. */
const inputs: Readonly<Record<string, Input>> = {
  string: { type: 'text' },
  text: { type: 'text' },
  email: { type: 'email' },
  date: { type: 'date' },
  time: { type: 'time', toInput: timeInput, toValue: timeValue },
  datetime: { type: 'datetime-local', toInput: dateTimeInput, toValue: dateTimeValue },
}

const editable = new Set([...Object.keys(inputs), 'integer', 'decimal', 'float', 'biginteger', 'boolean', 'enumeration'])

/** Attributes that many documents can be given at once: short values that are not unique. */
const editableFields = (type: TypeInfo): readonly string[] =>
  Object.entries(type.attributes as Readonly<Record<string, AttributeInfo & { readonly unique?: boolean }>>)
    .filter(([name, { type: kind, unique }]) => editable.has(kind) && unique !== true && type.fields.update.includes(name))
    .map(([name]) => name)

const startOf = ({ type, enum: choices = [] }: AttributeInfo): unknown =>
  type === 'boolean' ? true : type === 'enumeration' ? (choices[0] ?? null) : null

/** Rows of a field and its new value. */
export function EditFields({ type, lang, changes, onChange }: EditFieldsProps): ReactNode {
  const words = useWords()
  const { list } = words
  const fields = editableFields(type)
  const free = fields.filter((name) => !(name in changes))
  const choice = (name: string) => ({ value: name, label: columnLabel(words, type, name) })
  const without = (name: string) => Object.fromEntries(Object.entries(changes).filter(([one]) => one !== name))
  return (
    <div className={styles.edits}>
      {Object.entries(changes).map(([name, value]) => {
        const attribute = attributeOf(type, name)!
        return (
          <div key={name} className={styles.edit}>
            <Select
              aria-label={list.field}
              value={name}
              choices={[name, ...free].map(choice)}
              onChange={(other) => onChange({ ...without(name), [other]: startOf(attributeOf(type, other)!) })}
            />
            <NewValue
              label={choice(name).label}
              attribute={attribute}
              lang={lang}
              value={value}
              onChange={(next) => onChange({ ...changes, [name]: next })}
            />
            <IconButton label={words.parts.remove} onPress={() => onChange(without(name))}>
              <Trash2 />
            </IconButton>
          </div>
        )
      })}
      {free.length > 0 && (
        <div>
          <Button isSmall icon={<Plus />} onPress={() => onChange({ ...changes, [free[0]!]: startOf(attributeOf(type, free[0]!)!) })}>
            {list.addField}
          </Button>
        </div>
      )}
    </div>
  )
}

interface NewValueProps {
  readonly label: string
  readonly attribute: AttributeInfo
  readonly lang: string | undefined
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** The control of a kind of attribute; nothing entered empties the field. */
function NewValue({ label, attribute: { type, enum: choices = [] }, lang, value, onChange }: NewValueProps): ReactNode {
  const { list } = useWords()
  const empty = { value: '', label: list.noValue }
  const known = { 'aria-label': `${list.value}: ${label}`, placeholder: list.noValue }
  if (type === 'boolean')
    return (
      <Select
        {...known}
        value={value === null ? '' : String(value)}
        choices={[{ value: 'true', label: list.yes }, { value: 'false', label: list.no }, empty]}
        onChange={(next) => onChange(next === '' ? null : next === 'true')}
      />
    )
  if (type === 'enumeration')
    return (
      <Select
        {...known}
        value={value === null ? '' : String(value)}
        choices={[...choices.map((one) => ({ value: one, label: one })), empty]}
        onChange={(next) => onChange(next === '' ? null : next)}
      />
    )
  const input = inputs[type]
  if (input !== undefined) {
    const { toInput = textOf, toValue = textOf } = input
    return (
      <TextInput
        {...known}
        lang={lang}
        type={input.type}
        value={toInput(value)}
        onChange={(text) => onChange(text === '' ? null : toValue(text))}
      />
    )
  }
  return <NumberInput {...known} isBig={type === 'biginteger'} value={value as number | string | null} onChange={onChange} />
}
