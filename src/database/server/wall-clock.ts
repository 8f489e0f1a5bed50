// Moments as the wall clock of this process shows them: Strapi's drivers store these, without a zone.

const two = (number: number): string => String(number).padStart(2, '0')

/** The parts of a wall clock's text: `2024-07-01`, `08:30:00.000`, and the year. */
export interface WallClock {
  /** 0 is the year before the first. */
  readonly year: number
  /** `07-01 08:30:00.000` */
  readonly rest: string
}

/** What the clock of this process shows at a moment; milliseconds since 1970. */
export function wallClockOf(milliseconds: number): WallClock {
  const moment = new Date(milliseconds)
  const day = `${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}.${String(moment.getMilliseconds()).padStart(3, '0')}`
  return { year: moment.getFullYear(), rest: `${day} ${time}` }
}

/**
 * Whether the clock of this process shows a moment as no other: in the hour that comes twice at the end of summer time, the first of two
 * moments or the second is read as the other one.
 */
function showsMoment(milliseconds: number): boolean {
  const shown = new Date(milliseconds)
  const read = new Date(2000, 0, 1)
  read.setFullYear(shown.getFullYear(), shown.getMonth(), shown.getDate())
  return read.setHours(shown.getHours(), shown.getMinutes(), shown.getSeconds(), shown.getMilliseconds()) === milliseconds
}

/** Why a clock does not show a moment as no other, as the end of a sentence; null: it does. */
export const clockFault = (milliseconds: number): string | null =>
  showsMoment(milliseconds) ? null : "cannot be stored: the clock in the server's time zone (TZ) shows another moment in the same way"

const text = /^(\d+)-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?( BC)?$/

/** The moment that a wall clock shows in the zone of this process; what is finer than milliseconds is cut off. Null: it shows none. */
export function fromWallClock(shown: string): number | null {
  const parts = text.exec(shown)
  if (parts === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', isBefore] = parts
  // What servers without strict modes have let in.
  if (month === '00' || day === '00') return null
  const moment = new Date(2000, 0, 1)
  moment.setFullYear(isBefore === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day))
  return moment.setHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, '0').slice(0, 3)))
}
