// Texts of one line and of several.
import { useValue } from '../form/hooks.js'
import { TextArea } from '../parts/text-area.js'
import { TextInput } from '../parts/text-input.js'
import { type FieldProps, useDocumentFields } from './document.js'

/** A text field as props of an input. An emptied field has no value, unless an empty text is stored. */
function useText(path: string): { readonly value: string; readonly onChange: (text: string) => void } {
  const { store } = useDocumentFields()
  const value = useValue(store, path)
  return {
    value: typeof value === 'string' ? value : value === null || value === undefined ? '' : String(value),
    onChange: (text) => store.set(path, text === '' && store.baseAt(path) !== '' ? null : text),
  }
}

/** A text of one line. */
export function StringField({ control, path, placeholder, isReadOnly, attribute }: FieldProps) {
  const text = useText(path)
  return (
    <TextInput
      {...control}
      {...text}
      dir="auto"
      placeholder={placeholder}
      readOnly={isReadOnly}
      isCode={attribute.customField !== undefined}
    />
  )
}

/** A text of several lines. */
export function TextField({ control, path, placeholder, isReadOnly }: FieldProps) {
  const text = useText(path)
  return <TextArea {...control} {...text} dir="auto" placeholder={placeholder} readOnly={isReadOnly} />
}

/** An e-mail address. */
export function EmailField({ control, path, placeholder, isReadOnly }: FieldProps) {
  const text = useText(path)
  return (
    <TextInput {...control} {...text} type="email" inputMode="email" autoComplete="off" placeholder={placeholder} readOnly={isReadOnly} />
  )
}
