// Numbers: integers, big integers, decimals and floats.
import { useValue } from '../form/hooks.js'
import { NumberInput } from '../parts/number-input.js'
import { type FieldProps, useDocumentFields } from './document.js'

/** A number; a big integer is a text of digits. The value is there with every key. */
export function NumberField({ control, path, attribute, placeholder, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const value = useValue(store, path)
  return (
    <NumberInput
      {...control}
      value={typeof value === 'number' || typeof value === 'string' ? value : null}
      isInteger={attribute.type === 'integer'}
      isBig={attribute.type === 'biginteger'}
      placeholder={placeholder}
      readOnly={isReadOnly}
      onChange={(number) => store.set(path, number, { isTyping: true })}
    />
  )
}
