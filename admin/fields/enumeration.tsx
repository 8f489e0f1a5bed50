// One of the values that the schema names.
import { useValue } from '../form/hooks.js'
import { type Choice, Select } from '../parts/select.js'
import { useWords } from '../parts/words.js'
import { type FieldProps, useDocumentFields } from './document.js'

/** Marks the choice without a value; a value cannot be empty. */
const none = ''

/** One of the values of the schema, or none where the attribute is not required. */
export function EnumerationField({ control, path, attribute, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const words = useWords().fields
  const value = useValue(store, path)
  const values = Array.isArray(attribute.enum) ? attribute.enum.map(String) : []
  const isUnknown = typeof value === 'string' && !values.includes(value)
  const choices: readonly Choice[] = [
    ...(attribute.required === true ? [] : [{ value: none, label: words.notSet }]),
    ...values.map((one) => ({ value: one, label: one })),
    // Stored before the schema changed.
    ...(isUnknown ? [{ value, label: words.notAChoice(value) }] : []),
  ]
  return (
    <Select
      {...control}
      choices={choices}
      value={typeof value === 'string' ? value : attribute.required === true ? null : none}
      isDisabled={isReadOnly}
      onChange={(chosen) => store.set(path, chosen === none ? null : chosen, { isTyping: false })}
    />
  )
}
