// A number as it is typed; its value is there with every key.
import { type KeyboardEvent, useState } from 'react'
import { TextInput, type TextInputProps } from './text-input.js'

/** A number; spread a field's control on it. */
interface NumberInputProps extends Omit<TextInputProps, 'value' | 'onChange' | 'inputMode' | 'type' | 'step' | 'isCode'> {
  /** A text where the value is not, or not yet, a number: it stays as typed. */
  readonly value: number | string | null
  readonly onChange: (value: number | string | null) => void
  readonly isInteger?: boolean
  /** Integers beyond those that a number can hold: the value is a text of digits. */
  readonly isBig?: boolean
  readonly step?: number
}

const textOf = (value: number | string | null): string => (value === null ? '' : String(value))

const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The value of a typed text; a decimal comma is a decimal point. */
function parse(text: string, isBig: boolean): number | string | null {
  const trimmed = text.trim().replace(',', '.')
  if (trimmed === '') return null
  if (isBig || !isNumber.test(trimmed)) return text.trim()
  return Number(trimmed)
}

/** A native input for numbers: no value is changed on leaving, arrows step. */
export function NumberInput({ value, onChange, isInteger = false, isBig = false, step = 1, onKeyDown, ...rest }: NumberInputProps) {
  const [typed, setTyped] = useState(() => textOf(value))
  const shown = textOf(parse(typed, isBig)) === textOf(value) ? typed : textOf(value)
  const change = (text: string) => {
    setTyped(text)
    onChange(parse(text, isBig))
  }
  const stepBy = (by: number) => {
    const from = typeof value === 'number' ? value : 0
    const digits = Math.max(...[from, by].map((one) => (String(one).split('.')[1] ?? '').length))
    change((from + by).toFixed(digits))
  }
  const keyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    onKeyDown?.(event)
    if (rest.readOnly === true || isBig || event.altKey || (value !== null && typeof value !== 'number')) return
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    stepBy((event.key === 'ArrowUp' ? step : -step) * (event.shiftKey ? 10 : 1))
  }
  return (
    <TextInput
      autoComplete="off"
      {...rest}
      inputMode={isInteger || isBig ? 'numeric' : 'decimal'}
      value={shown}
      onChange={change}
      onKeyDown={keyDown}
    />
  )
}
