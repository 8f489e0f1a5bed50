// Stored dates and times as texts of the browser's inputs, and back.

const two = (value: number): string => String(value).padStart(2, '0')

function dateOf(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const date = new Date(typeof value === 'string' && /^\d{10,}$/.test(value) ? Number(value) : value)
  return Number.isNaN(date.getTime()) ? null : date
}

/** Seconds and milliseconds, if any: the next change would lose those that an input does not show. */
const rest = (seconds: string, milliseconds: string): string =>
  milliseconds === '000' ? (seconds === '00' ? '' : `:${seconds}`) : `:${seconds}.${milliseconds}`

/** `19:30` for `19:30:00.000`; with seconds and milliseconds where there are some. */
export function timeInput(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  const [, minutes = '', seconds = '00', milliseconds = ''] = /^(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?/.exec(text) ?? []
  return minutes === '' ? '' : `${minutes}${rest(seconds, milliseconds.padEnd(3, '0'))}`
}

/** `19:30:00.000` for `19:30`. */
export function timeValue(text: string): string {
  const [minutes = '', milliseconds = ''] = text.split('.')
  return `${minutes.length === 5 ? `${minutes}:00` : minutes}.${milliseconds.padEnd(3, '0')}`
}

/** The step of an input that takes the text: a minute, a second, or a millisecond. */
export const stepOf = (text: string): number => (/\.\d+$/.test(text) ? 0.001 : /:\d\d:\d\d$/.test(text) ? 1 : 60)

/** A stored timestamp in the zone of the browser. */
export function dateTimeInput(value: unknown): string {
  const date = dateOf(value)
  if (date === null) return ''
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`
  return `${day}T${time}${rest(two(date.getSeconds()), String(date.getMilliseconds()).padStart(3, '0'))}`
}

/** A typed date and time of the browser's zone as a timestamp. */
export function dateTimeValue(text: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? text : date.toISOString()
}

/** Short name of the browser's zone at a timestamp, such as `CEST`. */
export function zoneAt(value: unknown, language: string): string {
  const parts = new Intl.DateTimeFormat(language, { timeZoneName: 'short' }).formatToParts(dateOf(value) ?? new Date())
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}
