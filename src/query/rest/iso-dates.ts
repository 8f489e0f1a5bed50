// ISO 8601 dates and times in the forms that Strapi's queries take: calendar, week and ordinal dates, in short or long writing.

const datePart = /^(?:-?(\d{3})|-?(\d{2})(?:-?(\d{2}))?|-?W(\d{2})(?:-?(\d))?|-?)$/
const timePart = /^(\d{2}(?:[.,]\d*)?)(?::?(\d{2}(?:[.,]\d*)?))?(?::?(\d{2}(?:[.,]\d*)?))?$/
const offsetPart = /^([+-])(\d{2})(?::?(\d{2}))?$/
const day = 86_400_000

/** Milliseconds since 1970 of an ISO 8601 date with or without a time; without an offset it is UTC. Null for any other text. */
export function parseIsoDate(text: string): number | null {
  const [first = '', second, more] = text.split(/[T ]/, 3)
  if (more !== undefined || first.includes(':')) return null
  // As in Strapi, what follows a zone in the date belongs to the zone.
  const zoned = first.search(/z/i)
  const [date, rest] = zoned === -1 ? [first, second] : [first.slice(0, zoned), text.slice(zoned)]
  const begin = dateOf(date)
  if (begin === null || rest === undefined || rest === '') return begin
  const zoneAt = rest.search(/[Z+-]/)
  const zone = zoneAt === -1 ? '' : rest.slice(zoneAt)
  const clock = zoneAt === -1 ? rest : rest.slice(0, zoneAt)
  const time = clock === '' ? 0 : timeOf(clock)
  const offset = zone === '' || zone === 'Z' ? 0 : offsetOf(zone)
  return time === null || offset === null ? null : Math.trunc(begin + time - offset)
}

function dateOf(text: string): number | null {
  const [whole, years, centuries] = /^(?:(\d{4}|[+-]\d{6})|(\d{2}|[+-]\d{4})$)/.exec(text) ?? []
  if (whole === undefined) return null
  const year = years === undefined ? Number(centuries) * 100 : Number(years)
  const found = datePart.exec(text.slice(whole.length))
  if (found === null) return null
  const [ordinal, month, date, week, weekday] = found.slice(1).map((part) => (part === undefined ? undefined : Number(part)))
  if (week !== undefined) return weekDate(year, week, weekday ?? 1)
  const begin = (at: number, dayOfMonth: number) => new Date(0).setUTCFullYear(year, at, dayOfMonth)
  if (ordinal !== undefined) return ordinal >= 1 && ordinal <= (begin(12, 1) - begin(0, 1)) / day ? begin(0, ordinal) : null
  const moment = begin((month ?? 1) - 1, date ?? 1)
  const isDay = new Date(moment).getUTCMonth() === (month ?? 1) - 1 && new Date(moment).getUTCDate() === (date ?? 1)
  return isDay ? moment : null
}

/** Weeks begin on Mondays; the first is the one with January 4. */
function weekDate(year: number, week: number, weekday: number): number | null {
  if (week < 1 || week > 53 || weekday < 1 || weekday > 7) return null
  const fourth = new Date(0).setUTCFullYear(year, 0, 4)
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * day
  return monday + ((week - 1) * 7 + weekday - 1) * day
}

function timeOf(text: string): number | null {
  const found = timePart.exec(text)
  if (found === null) return null
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number((part ?? '0').replace(',', '.')))
  const exists = hours === 24 ? minutes === 0 && seconds === 0 : hours < 25 && minutes < 60 && seconds < 60
  return exists ? hours * 3_600_000 + minutes * 60_000 + seconds * 1000 : null
}

/** As in Strapi, what is no offset is none. */
function offsetOf(text: string): number | null {
  const [, sign, hours, minutes = '0'] = offsetPart.exec(text) ?? []
  if (sign === undefined) return 0
  if (Number(minutes) > 59) return null
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600_000 + Number(minutes) * 60_000)
}
