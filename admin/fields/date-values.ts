// Stored dates and times as texts of the browser's inputs, and back.

const two = (value: number): string => String(value).padStart(2, '0')

function dateOf(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const date = new Date(typeof value === 'string' && /^\d{10,}$/.test(value) ? Number(value) : value)
  return Number.isNaN(date.getTime()) ? null : date
}

/** `19:30` for `19:30:00.000`; with seconds where there are some. */
export function timeInput(value: unknown): string {
  const [, minutes = '', seconds = '00'] = /^(\d\d:\d\d)(?::(\d\d))?/.exec(typeof value === 'string' ? value : '') ?? []
  return seconds === '00' ? minutes : `${minutes}:${seconds}`
}

/** `19:30:00.000` for `19:30`. */
export const timeValue = (text: string): string => `${text.length === 5 ? `${text}:00` : text.slice(0, 8)}.000`

/** A stored timestamp in the zone of the browser. */
export function dateTimeInput(value: unknown): string {
  const date = dateOf(value)
  if (date === null) return ''
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}${seconds}`
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
