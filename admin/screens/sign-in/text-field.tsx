// One line of text in a form of sign-in.
import type { ComponentProps, ReactNode } from 'react'
import { Field } from '../../parts/field.js'
import { TextInput } from '../../parts/text-input.js'

interface TextFieldProps
  extends Pick<ComponentProps<typeof TextInput>, 'autoComplete' | 'autoFocus' | 'isCode' | 'name' | 'type' | 'readOnly'> {
  readonly label: string
  readonly description?: string
  readonly error?: string | null
  readonly value: string
  readonly onChange: (value: string) => void
}

/** A label and its input. */
export function TextField({ label, description, error, ...input }: TextFieldProps): ReactNode {
  return (
    <Field label={label} description={description} error={error}>
      {(control) => <TextInput {...control} {...input} spellCheck={false} autoCapitalize={input.type === 'email' ? 'off' : undefined} />}
    </Field>
  )
}
