// The regular expressions of schemas. None of them runs without a bound: those that cannot backtrack by their form are run by
// JavaScript's engine, others by one that takes linear time, and what that one does not know, or counts in another way, in
// JavaScript's, with one deadline for a whole body.
import { type Context, createContext, Script } from 'node:vm'
import { patternTime } from '../config/limits.js'

/** A regular expression of a schema. */
export interface Pattern {
  /** As messages print it. */
  readonly printed: RegExp
  /** Whether it matches a text; null where only an engine without a bound can tell, which gets a deadline (`isDoneWithin`). */
  test(value: string): boolean | null
}

/** Compiles a pattern in the language of RE2. */
export type Engine = (source: string) => (value: string) => boolean

const patterns = new Map<string, Pattern | null>()

/** Whether one of these needs the engine that takes linear time, which is loaded for that alone. */
export const needsEngine = (sources: readonly string[]): boolean => sources.some((source) => !isPlain(source))

/** Compiles every pattern of `sources`, once; `engine`: takes linear time, and throws for what it does not know. */
export function preparePatterns(sources: readonly string[], engine: Engine | null): void {
  for (const source of sources) if (!patterns.has(source)) patterns.set(source, openPattern(source, engine))
}

/** The pattern with this source; null where it is none. */
export function patternOf(source: string): Pattern | null {
  if (!patterns.has(source)) patterns.set(source, openPattern(source, null))
  return patterns.get(source)!
}

/** Half of a character beyond 16 bits: JavaScript counts the halves, as Strapi does, the other engine counts characters. */
const surrogate = /[\ud800-\udfff]/

function openPattern(source: string, engine: Engine | null): Pattern | null {
  let printed: RegExp
  try {
    printed = new RegExp(source)
  } catch {
    return null
  }
  if (isPlain(source)) return { printed, test: (value) => printed.test(value) }
  const translated = engine === null ? null : translate(source)
  try {
    if (engine !== null && translated !== null) {
      const linear = engine(translated)
      return { printed, test: (value) => (surrogate.test(value) ? null : linear(value)) }
    }
  } catch {
    // Something that only JavaScript's engine has.
  }
  return { printed, test: () => null }
}

/** Whether a pattern cannot backtrack: it is anchored, without groups and choices, and at most one thing is repeated. */
function isPlain(source: string): boolean {
  const bare = withoutClasses(source.replaceAll(/\\./gs, 'x'))
  const repeated = bare.match(/[*+?]|\{\d+,\d*\}/g) ?? []
  return /^\^/.test(source) && !/[()|]/.test(bare) && !/\\[1-9k]/.test(source) && repeated.length <= 1
}

/** A pattern without escapes, with `x` in place of its classes; one that does not end stays as it is. */
function withoutClasses(source: string): string {
  const [first, ...rest] = source.split('[')
  let bare = first!
  let isInside = false
  for (const part of rest) {
    const end = part.indexOf(']')
    if (!isInside) bare += 'x'
    isInside = end === -1
    if (!isInside) bare += part.slice(end + 1)
  }
  return isInside ? `${bare}[` : bare
}

/** Spaces as JavaScript has them; the other engine means fewer. */
const spaces = '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
/** Letters that mean the same after a backslash in both. */
const sameEscapes = 'dDwWtnrfv'

/** The same pattern in the other engine's language; null where that cannot be said. */
function translate(source: string): string | null {
  if (surrogate.test(source) || /\[\^?\]|\[:|\(\?(?:<?[=!])/.test(source)) return null
  let [translated, inClass] = ['', false]
  for (let at = 0; at < source.length; at++) {
    const one = source[at]!
    if (one === '\\') {
      const [, letter = ''] = /^\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/s.exec(source.slice(at)) ?? []
      const said = escaped(letter, inClass)
      if (said === null) return null
      translated += said
      at += letter.length
      continue
    }
    if (one === '[' && inClass) translated += '\\['
    else translated += one === '.' && !inClass ? '[^\\n\\r\\x{2028}\\x{2029}]' : one
    inClass = one === '[' ? true : one === ']' ? false : inClass
  }
  return translated
}

function escaped(letter: string, inClass: boolean): string | null {
  if (/^[ux]./.test(letter)) return `\\x{${letter.slice(1)}}`
  if (letter === 's') return inClass ? spaces : `[${spaces}]`
  if (letter === 'S') return inClass ? null : `[^${spaces}]`
  if (/[bB]/.test(letter)) return inClass ? null : `\\${letter}`
  return sameEscapes.includes(letter) || /^[^\w\s]$/.test(letter) ? `\\${letter}` : null
}

/** Made with the first work; to make one takes a millisecond. */
let room: Context | null = null
const script = new Script('work()')

/** Does `work`, and stops it wherever it is after so many milliseconds; false: it was not done. */
export function isDoneWithin(time: number, work: () => void): boolean {
  room ??= createContext({ work })
  room.work = work
  try {
    script.runInContext(room, { timeout: Math.ceil(time) })
    return true
  } catch (error) {
    // A long text may also need more than the engine's own stack.
    if (error instanceof RangeError || (error as { readonly code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    room.work = null
  }
}

/** How long the texts are that a pattern is tried with, and how often it must fail to be in time. */
const [triedLength, trials] = [40, 2]

/**
 * Whether some short text keeps JavaScript's engine busy, and so every other service that runs the schema. Tried with the letters
 * of the pattern, repeated.
 */
export function isDangerous(source: string): boolean {
  const pattern = patternOf(source)?.printed
  if (pattern === undefined || isPlain(source) || !/[*+]|\{\d+,\}/.test(source)) return false
  const letters = [
    ...new Set(
      `${
        source
          .replaceAll(/\\[a-zA-Z]/g, '')
          .match(/[\p{L}\d_@. -]/gu)
          ?.join('') ?? ''
      }a0 `,
    ),
  ].slice(0, 8)
  const tried = [...letters.map((letter) => letter.repeat(triedLength)), letters.join('').repeat(triedLength / letters.length)]
  const isLate = (value: string): boolean => !isDoneWithin(patternTime, () => void pattern.test(`${value}\u0000`))
  // A busy machine may be late once.
  return tried.some((value) => Array.from({ length: trials }).every(() => isLate(value)))
}
