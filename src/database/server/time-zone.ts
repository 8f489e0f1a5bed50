// The time zone of a database. Strapi stores local times without a zone, so all processes must use the same zone: the first start records
// its zone, and a different one causes a warning.
import { createHash } from 'node:crypto'

/** Its only row is the zone of the timestamps in this database. */
export const zoneTable = 'octavo_time_zone'

export const zoneColumns: readonly string[] = ['id integer primary key', 'zone varchar(200) not null']

/** Executes a statement; resolves to the first value of its first row, or null. */
type AskZone = (statement: string) => Promise<unknown>

interface ZoneLog {
  warn(message: string): void
  error(message: string): void
}

/** Zones are compared by their offsets in these years, since a zone may have several names. */
const firstYear = 1990
const lastYear = 2040

/** UTC offsets of this process's zone in minutes, twice a month. */
const getOffsets = (from: number, to: number): readonly number[] =>
  Array.from({ length: (to - from + 1) * 24 }, (_, index) =>
    new Date(Date.UTC(from, Math.floor(index / 2), 1 + 14 * (index % 2))).getTimezoneOffset(),
  )

/** `Europe/Zurich 1f3a…`: the name of this process's zone, and a digest of its offsets. */
function ownZone(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const digest = createHash('sha256').update(getOffsets(firstYear, lastYear).join()).digest('hex').slice(0, 16)
  return `${timeZone.replaceAll(/[^\w+/-]/g, '')} ${digest}`
}

const changesClocks = (year: number): boolean => new Set(getOffsets(year, year + 1)).size > 1

/** Records the zone of the first start; warns about a different one and about daylight saving time. `createTable`: its DDL. */
export async function checkTimeZone(ask: AskZone, createTable: string, log: ZoneLog, now: Date): Promise<void> {
  const own = ownZone()
  const [name = 'UTC', digest] = own.split(' ')
  const stored = await storedZone(ask, createTable, own).catch((error: Error) => {
    log.warn(`The time zone of the database cannot be stored (${error.message}): every process has to run with the same TZ`)
    return own
  })
  const [storedName, storedDigest] = stored.split(' ')
  if (storedDigest !== digest && storedName !== name)
    log.error(
      `The times of this database were written in the time zone ${storedName}, and this process runs in ${name}: all of them are shown wrong, and tokens expire at another time. Start every process with TZ=${storedName}. If ${name} is right, empty the table ${zoneTable} while none runs`,
    )
  if (changesClocks(now.getFullYear()))
    log.warn(
      `In the time zone ${name} (TZ) one hour of the year comes twice: in it createdAt and updatedAt are not exact, and an ambiguous time is refused. TZ=UTC has no such hour; a database keeps the zone that it was written in`,
    )
}

async function storedZone(ask: AskZone, createTable: string, own: string): Promise<string> {
  const read = async () => (await ask(`select zone from ${zoneTable} where id = 1`)) as string | null
  const known = await read().catch(async () => {
    await ask(createTable)
    return read()
  })
  if (known !== null) return known
  // Another process may have been faster.
  await ask(`insert into ${zoneTable} (id, zone) values (1, '${own}')`).catch(() => {})
  return (await read()) ?? own
}

const twoDigits = (number: number): string => String(number).padStart(2, '0')

/** Parts of a local time: the year, and the rest. */
interface WallClock {
  /** Year 0 precedes year 1. */
  readonly year: number
  /** For example `07-01 08:30:00.000`. */
  readonly rest: string
}

/** The local time of a timestamp in milliseconds. */
export function toWallClock(milliseconds: number): WallClock {
  const date = new Date(milliseconds)
  const day = `${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  const time = `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`
  return { year: date.getFullYear(), rest: `${day} ${time}` }
}

/** True if the local time identifies the timestamp: in the repeated hour at the end of daylight saving time, two timestamps share one. */
function isUnambiguous(milliseconds: number): boolean {
  const shown = new Date(milliseconds)
  const read = new Date(2000, 0, 1)
  read.setFullYear(shown.getFullYear(), shown.getMonth(), shown.getDate())
  return read.setHours(shown.getHours(), shown.getMinutes(), shown.getSeconds(), shown.getMilliseconds()) === milliseconds
}

/** Explains, as the end of a sentence, why a local time does not identify the timestamp; null if it does. */
export const ambiguousTimeProblem = (milliseconds: number): string | null =>
  isUnambiguous(milliseconds) ? null : "cannot be stored: the clock in the server's time zone (TZ) shows another time in the same way"

const text = /^(\d+)-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?( BC)?$/

/** The timestamp of a local time in this process's zone, truncated to milliseconds. Null: invalid. */
export function fromWallClock(shown: string): number | null {
  const parts = text.exec(shown)
  if (parts === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', isBefore] = parts
  // Servers in non-strict modes accept such dates.
  if (month === '00' || day === '00') return null
  const date = new Date(2000, 0, 1)
  date.setFullYear(isBefore === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day))
  return date.setHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, '0').slice(0, 3)))
}
