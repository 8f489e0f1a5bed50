// Passwords: a field that can show its text, and the rules of new ones.
import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Field } from '../../parts/field.js'
import { IconButton } from '../../parts/icon-button.js'
import { TextInput } from '../../parts/text-input.js'
import { useFormat, useWords } from '../../parts/words.js'

interface PasswordProps {
  readonly value: string
  readonly onChange: (value: string) => void
  /** A new password: its rules are shown. */
  readonly isNew?: boolean
  /** The form was submitted: an empty or weak password is an error. */
  readonly isChecked?: boolean
  readonly autoFocus?: boolean
}

const rules = {
  length: (text: string) => text.length >= 8,
  lower: (text: string) => /[a-z]/.test(text),
  upper: (text: string) => /[A-Z]/.test(text),
  digit: (text: string) => /\d/.test(text),
  bytes: (text: string) => new TextEncoder().encode(text).length < 73,
} as const

/** The rules of new passwords that a text breaks. */
export const brokenRules = (text: string): readonly (keyof typeof rules)[] =>
  (Object.keys(rules) as (keyof typeof rules)[]).filter((name) => !rules[name](text))

/** A field for a password. */
export function PasswordField({ value, onChange, isNew = false, isChecked = false, autoFocus }: PasswordProps): ReactNode {
  const { signIn } = useWords().shell
  const { list } = useFormat()
  const [isShown, setShown] = useState(false)
  const broken = isNew && value !== '' ? brokenRules(value) : []
  const missing = broken.length === 0 ? null : signIn.stillMissing(list(broken.map((name) => signIn.ruleNames[name])))
  const error = isChecked ? (value === '' ? signIn.passwordMissing : missing) : null
  return (
    <Field
      label={isNew ? signIn.newPassword : signIn.password}
      error={error}
      description={isNew && error === null ? (missing ?? signIn.rules) : undefined}
    >
      {(control) => (
        <TextInput
          {...control}
          name="password"
          type={isShown ? 'text' : 'password'}
          autoComplete={isNew ? 'new-password' : 'current-password'}
          autoFocus={autoFocus}
          spellCheck={false}
          autoCapitalize="off"
          value={value}
          onChange={onChange}
          end={
            <IconButton label={signIn.showPassword} isSmall isOn={isShown} onPress={() => setShown(!isShown)}>
              {isShown ? <EyeOff /> : <Eye />}
            </IconButton>
          }
        />
      )}
    </Field>
  )
}
