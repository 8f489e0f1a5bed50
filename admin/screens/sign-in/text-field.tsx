// Fields of one line in forms of sign-in.
import type { ComponentProps, ReactNode } from 'react'
import { Field } from '../../parts/field.js'
import { TextInput } from '../../parts/text-input.js'
import { useWords } from '../../parts/words.js'
import styles from './sign-in.module.css'

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

interface EmailFieldProps extends Pick<TextFieldProps, 'value' | 'onChange' | 'autoFocus'> {
  readonly isWrong: boolean
}

/** The address that one signs in with. */
export function EmailField({ isWrong, ...input }: EmailFieldProps): ReactNode {
  const { signIn } = useWords().shell
  const error = isWrong ? signIn.emailMissing : null
  return <TextField {...input} label={signIn.email} name="email" type="email" autoComplete="username" error={error} />
}

/** First name and last name of an administrator. */
export interface Names {
  readonly firstname: string
  readonly lastname: string
}

/** The names as the API takes them. */
export const trimmedNames = ({ firstname, lastname }: Names) => ({ firstname: firstname.trim(), lastname: lastname.trim() || null })

interface NameFieldsProps {
  readonly value: Names
  readonly onChange: (value: Names) => void
  readonly isWrong: boolean
  readonly autoFocus?: boolean
}

/** Fields for both names; the last one may stay empty. */
export function NameFields({ value, onChange, isWrong, autoFocus }: NameFieldsProps): ReactNode {
  const { signIn } = useWords().shell
  return (
    <div className={styles.pair}>
      <TextField
        label={signIn.firstname}
        name="firstname"
        autoComplete="given-name"
        autoFocus={autoFocus}
        value={value.firstname}
        onChange={(firstname) => onChange({ ...value, firstname })}
        error={isWrong ? signIn.nameMissing : null}
      />
      <TextField
        label={signIn.lastname}
        name="lastname"
        autoComplete="family-name"
        value={value.lastname}
        onChange={(lastname) => onChange({ ...value, lastname })}
      />
    </div>
  )
}
