// JSON: the value changes with every text that is valid; an invalid one stays in the form until it is.
import { lazy, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { toUnfinished, unfinishedText } from '../form/values.js'
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

/** A value of JSON as a text. */
export function JsonField({ control, path, label, isReadOnly }: FieldProps) {
  const { store } = useDocumentFields()
  const words = useWords().fields.json
  const value = useValue(store, path)
  const invalid = unfinishedText(value)
  // The typed form of the value, with its spaces.
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: unknown } | null>(null)
  const text = invalid ?? (typed !== null && typed.value === value ? typed.text : printed(value))
  const change = (next: string) => {
    const found = parsed(next)
    if (found !== null) setTyped({ text: next, value: found.value })
    store.set(path, found === null ? toUnfinished(next) : found.value, { isTyping: true })
  }
  return (
    <>
      <JsonEditor control={control} label={label} value={text} isReadOnly={isReadOnly} onChange={change} />
      {invalid !== undefined && (
        <p className={styles.invalid} role="status">
          {words.invalid}
        </p>
      )}
    </>
  )
}
