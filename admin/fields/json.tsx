// JSON: the value changes with every text that is valid; an invalid one stays in the browser until it is.
import { lazy, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { useWords } from '../parts/words.js'
import { type FieldProps, useDocumentFields } from './document.js'
import styles from './json.module.css'

const JsonEditor = lazy(() => import('../markdown/json-editor.js'))

const printed = (value: unknown): string => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2))

function parsed(text: string): { readonly value: unknown } | null {
  if (text.trim() === '') return { value: null }
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

/** A text in the storage of the browser; without a key, in memory alone. */
function useStoredText(key: string | null) {
  const name = key === null ? null : `octavo.json:${key}`
  const [text, setText] = useState(() => (name === null ? null : localStorage.getItem(name)))
  const store = (next: string | null) => {
    setText(next)
    if (name === null) return
    try {
      if (next === null) localStorage.removeItem(name)
      else localStorage.setItem(name, next)
    } catch {
      // Full storage: the text is in memory until the page is left.
    }
  }
  return [text, store] as const
}

/** A value of JSON as a text. */
export function JsonField({ control, path, label, isReadOnly }: FieldProps) {
  const { store, type, document, locale } = useDocumentFields()
  const words = useWords().fields.json
  const value = useValue(store, path)
  const [invalid, storeInvalid] = useStoredText(document === null ? null : [type.uid, document, locale ?? '', path].join(':'))
  // The typed form of the value, with its spaces.
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown } | null>(null)
  const text = invalid ?? (typed !== null && typed.value === value ? typed.text : printed(value))
  const change = (next: string) => {
    const found = parsed(next)
    storeInvalid(found === null ? next : null)
    if (found === null) return
    setTyped({ text: next, value: found.value })
    store.set(path, found.value, { isTyping: true })
  }
  return (
    <>
      <JsonEditor control={control} label={label} value={text} isReadOnly={isReadOnly} onChange={change} />
      {invalid !== null && (
        <p className={styles.invalid} role="status">
          {words.invalid}
        </p>
      )}
    </>
  )
}
