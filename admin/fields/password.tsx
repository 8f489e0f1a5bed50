// Passwords: they are never shown; a typed one replaces the stored one.
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useValue } from '../form/hooks.js'
import { IconButton } from '../parts/icon-button.js'
import { TextInput } from '../parts/text-input.js'
import { useWords } from '../parts/words.js'
import { type FieldProps, useDocumentFields } from './document.js'

/** A new password. An empty field leaves the stored one as it is. */
export function PasswordField({ control, path, isReadOnly }: FieldProps) {
  const { store, document } = useDocumentFields()
  const words = useWords().fields.password
  const value = useValue(store, path)
  const [isVisible, setIsVisible] = useState(false)
  return (
    <TextInput
      {...control}
      type={isVisible ? 'text' : 'password'}
      autoComplete="new-password"
      readOnly={isReadOnly}
      value={typeof value === 'string' ? value : ''}
      placeholder={document === null ? undefined : words.unchanged}
      onChange={(text) => store.set(path, text === '' ? store.baseAt(path) : text)}
      end={
        <IconButton isSmall label={isVisible ? words.hide : words.show} isOn={isVisible} onPress={() => setIsVisible(!isVisible)}>
          {isVisible ? <EyeOff size={16} aria-hidden="true" /> : <Eye size={16} aria-hidden="true" />}
        </IconButton>
      }
    />
  )
}
