// Values from another database as columns of a server can hold them. What does not fit comes with a sentence, and as what is nearest.
import { type Decimal, decimalOf, exactNumber, type Fitted, type RowValue } from '../transfer/rows.js'

/** Fits a value that is not null into a column. */
export type Fitter = (value: RowValue) => Fitted

/** A number as an integer of `digits` behind the point, rounded half away from zero; and whether that changed it. */
function scaled({ negative, digits, exponent }: Decimal, decimals: number): { readonly units: bigint; readonly exact: boolean } {
  const shift = exponent + decimals
  const sign = negative ? -1n : 1n
  if (digits === '') return { units: 0n, exact: true }
  if (shift >= 0) return { units: sign * BigInt(digits + '0'.repeat(Math.min(shift, 1000))), exact: true }
  const cut = digits.length + shift
  const kept = BigInt(cut > 0 ? digits.slice(0, cut) : '0')
  const next = cut >= 0 ? Number(digits[cut]) : 0
  return { units: sign * (next >= 5 ? kept + 1n : kept), exact: false }
}

const unscaled = (units: bigint, decimals: number): string => {
  const text = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const fraction = decimals === 0 ? '' : `.${text.slice(-decimals)}`
  return `${units < 0n ? '-' : ''}${decimals === 0 ? text : text.slice(0, -decimals)}${fraction}`
}

const clamp = (value: bigint, [least, most]: readonly [bigint, bigint]): bigint => (value < least ? least : value > most ? most : value)

export const asDecimal = (value: RowValue): Decimal | 'infinite' | null => {
  if (value instanceof Uint8Array) return null
  // All digits of a number: its shortest form is another integer.
  const text = String(Number.isInteger(value) ? BigInt(value as number) : value)
  return /^-?Infinity$/.test(text) ? 'infinite' : decimalOf(text)
}

/** Numbers with a fixed number of decimals within bounds, which are given in units of the last one. */
export const fitUnits =
  (decimals: number, bounds: readonly [bigint, bigint], beyond: string, form: (units: bigint) => RowValue): Fitter =>
  (value) => {
    const number = asDecimal(value)
    if (number === null) return { value: null, problem: 'is not a number' }
    if (number === 'infinite') return { value: form(bounds[String(value).startsWith('-') ? 0 : 1]), problem: beyond }
    const { units, exact } = scaled(number, decimals)
    const within = clamp(units, bounds)
    if (within !== units) return { value: form(within), problem: beyond }
    if (exact) return { value: form(units) }
    return {
      value: form(units),
      problem: decimals === 0 ? 'is not an integer' : `has ${-number.exponent} decimals, of which ${decimals} are kept`,
    }
  }

/** As the values of such columns are read: a number, or a bigint where a number is not exact. */
const integer = (units: bigint): RowValue => (Number.isSafeInteger(Number(units)) ? Number(units) : units)

/** `signed`: one of the bits is the sign. */
export function fitInteger(bits: number, signed = true): Fitter {
  const end = 1n << BigInt(signed ? bits - 1 : bits)
  return fitUnits(0, [signed ? -end : 0n, end - 1n], `is beyond ${bits} bits`, integer)
}

export function fitDecimal(precision: number, decimals: number): Fitter {
  const most = 10n ** BigInt(precision) - 1n
  const form = (units: bigint): RowValue => {
    const text = unscaled(units, decimals)
    return exactNumber(text) ?? text
  }
  return fitUnits(decimals, [-most, most], `has more than ${precision - decimals} digits before the point`, form)
}

/** Digits of a number in single precision by which it is known. */
const singleDigits = 7

export const fitFloat =
  (bits: 32 | 64): Fitter =>
  (value) => {
    if (value === 'NaN') return { value }
    const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
    if (typeof number !== 'number' || Number.isNaN(number) || value === '') return { value: null, problem: 'is not a number' }
    if (typeof value === 'bigint' && BigInt(number) !== value) return { value: number, problem: 'has more digits than are kept' }
    const held = bits === 64 || !Number.isFinite(number) ? number : Number(Math.fround(number).toPrecision(singleDigits))
    return held === number ? { value: number } : { value: held, problem: 'has more digits than are kept' }
  }

const no: readonly RowValue[] = [0, '0', 'f', 'false', '']

export const fitBoolean: Fitter = (value) => {
  if (value === 0 || value === 1) return { value }
  return { value: no.includes(value) ? 0 : 1, problem: 'is neither 0 nor 1' }
}

/** Whether there is such a day: the month has it. */
export function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}

export const fitBytes: Fitter = (value) =>
  value instanceof Uint8Array ? { value } : { value: Buffer.from(String(value)), problem: 'is not bytes' }
