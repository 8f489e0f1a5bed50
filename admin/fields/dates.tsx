// Dates and times in the browser's own inputs. An incomplete date changes nothing.
import { CalendarDays, Clock, X } from 'lucide-react'
import { useRef, useState } from 'react'
import { useValue } from '../form/hooks.js'
import { textOf } from '../form/values.js'
import { IconButton } from '../parts/icon-button.js'
import { TextInput } from '../parts/text-input.js'
import { useFormat, useWords } from '../parts/words.js'
import { dateTimeInput, dateTimeValue, stepOf, timeInput, timeValue, zoneAt } from './date-values.js'
import { type FieldProps, useDocumentFields } from './document.js'

interface Conversion {
  readonly type: 'date' | 'time' | 'datetime-local'
  /** The text of the input for a stored value. */
  readonly toInput: (value: unknown) => string
  readonly toValue: (text: string) => string
}

function DateInput({
  control,
  path,
  label,
  isReadOnly,
  conversion,
  end,
}: FieldProps & { readonly conversion: Conversion; readonly end?: string }) {
  const { store } = useDocumentFields()
  const value = useValue(store, path)
  const input = useRef<HTMLInputElement>(null)
  const [isPartial, setIsPartial] = useState(false)
  const words = useWords()
  const { lang: _, dir: __, ...described } = control
  const shown = isPartial ? '' : conversion.toInput(value)
  const Icon = conversion.type === 'time' ? Clock : CalendarDays
  const open = () => {
    input.current?.focus()
    // Some browsers have no picker for times.
    try {
      input.current?.showPicker()
    } catch {}
  }
  const clear = () => {
    // An incomplete date is not a value, so React would leave it in the input.
    if (input.current !== null) input.current.value = ''
    setIsPartial(false)
    store.set(path, null, { isTyping: false })
    input.current?.focus()
  }
  return (
    <TextInput
      {...described}
      ref={input}
      type={conversion.type}
      value={shown}
      step={conversion.type === 'date' ? undefined : stepOf(shown)}
      readOnly={isReadOnly}
      max={conversion.type === 'time' ? undefined : conversion.type === 'date' ? '9999-12-31' : '9999-12-31T23:59'}
      onChange={(text) => {
        const isBad = input.current?.validity.badInput === true
        setIsPartial(isBad)
        if (!isBad) store.set(path, text === '' ? null : conversion.toValue(text), { isTyping: true })
      }}
      onBlur={() => setIsPartial(false)}
      end={
        <>
          {end !== undefined && <span title={Intl.DateTimeFormat().resolvedOptions().timeZone}>{end}</span>}
          {!isReadOnly && (
            <IconButton isSmall label={words.fields.date.open(label)} onPress={open}>
              <Icon size={16} aria-hidden="true" />
            </IconButton>
          )}
          {!isReadOnly && (shown !== '' || isPartial) && (
            <IconButton isSmall label={words.fields.date.clear(label)} onPress={clear}>
              <X size={16} aria-hidden="true" />
            </IconButton>
          )}
        </>
      }
    />
  )
}

const dates: Conversion = { type: 'date', toInput: (value) => textOf(value).slice(0, 10), toValue: (text) => text }
const times: Conversion = { type: 'time', toInput: timeInput, toValue: timeValue }
const dateTimes: Conversion = { type: 'datetime-local', toInput: dateTimeInput, toValue: dateTimeValue }

/** A day. */
export const DateField = (props: FieldProps) => <DateInput {...props} conversion={dates} />

/** A time of any day, without a zone. */
export const TimeField = (props: FieldProps) => <DateInput {...props} conversion={times} />

/** A point in time, in the browser's zone, which is named. */
export function DateTimeField(props: FieldProps) {
  const { store } = useDocumentFields()
  const { language } = useFormat()
  const value = useValue(store, props.path)
  return <DateInput {...props} conversion={dateTimes} end={zoneAt(value, language)} />
}
