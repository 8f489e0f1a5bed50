// A choice of one among a few. Its list is loaded once the button is shown.
import { ChevronDown } from 'lucide-react'
import { lazy, type ReactNode, Suspense, useEffect, useId, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { classes } from './classes.js'
import type { FieldControl } from './field.js'
import styles from './select.module.css'
import { useWords } from './words.js'

const load = () => import('./select-list.js')
const SelectList = lazy(load)

/** Longest pause between two letters of one search, in milliseconds. */
const letterPause = 1_000

/** One of the choices. */
export interface Choice<Value extends string = string> {
  readonly value: Value
  readonly label: string
  readonly description?: string
  readonly icon?: ReactNode
  readonly lang?: string
  readonly isDisabled?: boolean
}

/** A choice of one; spread a field's control on it, or give it `aria-label`. */
interface SelectProps<Value extends string> extends Partial<FieldControl> {
  readonly choices: readonly Choice<Value>[]
  readonly value: Value | null
  readonly onChange: (value: Value) => void
  readonly placeholder?: string
  readonly isDisabled?: boolean
  readonly isSmall?: boolean
  /** As wide as its text, without a border: for bars and heads. */
  readonly isQuiet?: boolean
  /** Takes the focus after a choice from the list, instead of the button. */
  readonly onChosen?: () => void
  readonly 'aria-label'?: string
}

/** A button with the chosen label that opens the list of choices. */
export function Select<Value extends string>(props: SelectProps<Value>) {
  const { choices, value, onChange } = props
  const { parts } = useWords()
  const own = useId()
  const id = props.id ?? own
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [wasOpen, setWasOpen] = useState(false)
  const hasChosen = useRef(false)
  // Before it is needed, so that it opens without a network too.
  useEffect(() => {
    load().catch(() => {})
  }, [])
  const onLetter = useLetters(choices, value, onChange)
  const chosen = choices.find((choice) => choice.value === value)
  const label = props['aria-labelledby'] ?? (props['aria-label'] === undefined ? undefined : id)
  const open = () => {
    hasChosen.current = false
    setIsOpen(true)
    setWasOpen(true)
  }
  /** Chooses the neighbour that can be chosen. */
  const step = (by: 1 | -1) => {
    const possible = choices.filter((choice) => choice.isDisabled !== true)
    const next = possible[possible.findIndex((choice) => choice.value === value) + by]
    if (next !== undefined) onChange(next.value)
  }
  return (
    <div className={classes(styles.select, props.isQuiet && styles.narrow)} data-invalid={props['aria-invalid'] === true || undefined}>
      <Button
        ref={button}
        id={id}
        className={classes(styles.button, props.isSmall && styles.small, props.isQuiet && styles.quiet)}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-label={props['aria-label']}
        aria-labelledby={[`${own}value`, label].join(' ')}
        aria-describedby={props['aria-describedby']}
        isDisabled={props.isDisabled ?? false}
        onPress={open}
        // The closed list gives the focus back.
        onFocus={() => {
          if (hasChosen.current) props.onChosen?.()
          hasChosen.current = false
        }}
        onKeyDown={(event) => {
          const { key } = event
          const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
          if (key === 'ArrowDown' || key === 'ArrowUp') open()
          else if (isPlain && (key === 'ArrowRight' || key === 'ArrowLeft')) step(key === 'ArrowRight' ? 1 : -1)
          else if (!isPlain || !onLetter(key)) return event.continuePropagation()
          event.preventDefault()
        }}
      >
        <span id={`${own}value`} className={styles.value} lang={props.lang}>
          {chosen?.icon}
          <span className={chosen === undefined ? styles.placeholder : styles.text}>
            {chosen?.label ?? props.placeholder ?? parts.choose}
          </span>
        </span>
        <ChevronDown size={16} className={styles.arrow} aria-hidden="true" />
      </Button>
      {wasOpen && (
        <Suspense>
          <SelectList
            button={button}
            choices={choices}
            value={value}
            isOpen={isOpen}
            label={label}
            onClose={() => setIsOpen(false)}
            onChoose={(next) => {
              hasChosen.current = true
              if (next !== value) onChange(next as Value)
            }}
          />
        </Suspense>
      )}
    </div>
  )
}

/** Chooses by the first letters of a label, as the browser's own element does. Returns whether a key was used. */
function useLetters<Value extends string>(
  choices: readonly Choice<Value>[],
  value: Value | null,
  onChange: (value: Value) => void,
): (key: string) => boolean {
  const typed = useRef({ text: '', time: 0 })
  return (key) => {
    if (key.length !== 1 || key === ' ') return false
    const isNew = Date.now() - typed.current.time > letterPause
    const text = `${isNew ? '' : typed.current.text}${key.toLocaleLowerCase()}`
    typed.current = { text, time: Date.now() }
    // The first letter again leads to the next choice.
    const start = choices.findIndex((choice) => choice.value === value) + (text.length === 1 ? 1 : 0)
    const found = [...choices.slice(start), ...choices.slice(0, start)].find(
      ({ label, isDisabled }) => isDisabled !== true && label.toLocaleLowerCase().startsWith(text),
    )
    if (found !== undefined) onChange(found.value)
    return true
  }
}
