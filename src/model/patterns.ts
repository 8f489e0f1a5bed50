// Runs the regular expressions of schemas in bounded time. Patterns that cannot backtrack run in JavaScript's engine, others in RE2, which
// takes linear time; patterns that RE2 does not support run in JavaScript's engine with one deadline per request body.
import { type Context, createContext, Script } from 'node:vm'
import { patternTime } from '../config/limits.js'

/** A regular expression of a schema. */
export interface Pattern {
  /** The pattern as shown in messages. */
  readonly printed: RegExp
  /** True if it matches; null if only JavaScript's engine can decide, which needs a deadline (`isDoneWithin`). */
  test(value: string): boolean | null
}

/** Compiles a pattern in RE2 syntax. */
export type Engine = (source: string) => (value: string) => boolean

const patterns = new Map<string, Pattern | null>()

/** True if a pattern needs RE2, which is only loaded then. */
export const needsEngine = (sources: readonly string[]): boolean => sources.some((source) => !isPlain(source))

/** Compiles every pattern once. `engine` runs in linear time and throws for unsupported patterns. */
export function preparePatterns(sources: readonly string[], engine: Engine | null): void {
  for (const source of sources) if (!patterns.has(source)) patterns.set(source, openPattern(source, engine))
}

/** Returns the compiled pattern; null if the source is not a valid pattern. */
export function patternOf(source: string): Pattern | null {
  if (!patterns.has(source)) patterns.set(source, openPattern(source, null))
  return patterns.get(source)!
}

/** Half of a surrogate pair: JavaScript and Strapi count the halves as characters, RE2 does not. */
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
    // The pattern uses a feature that only JavaScript's engine has.
  }
  return { printed, test: () => null }
}

/** True if a pattern cannot backtrack: it is anchored, has no groups or alternatives, and at most one repetition. */
function isPlain(source: string): boolean {
  const bare = withoutClasses(source.replaceAll(/\\./gs, 'x'))
  const repeated = bare.match(/[*+?]|\{\d+,\d*\}/g) ?? []
  return /^\^/.test(source) && !/[()|]/.test(bare) && !/\\[1-9k]/.test(source) && repeated.length <= 1
}

/** Replaces the character classes of a pattern without escapes by `x`; an unclosed class is kept. */
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

/** The white-space characters of JavaScript; RE2 has fewer. */
const spaces = '\\t\\n\\v\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
/** Letters with the same meaning after a backslash in both engines. */
const sameEscapes = 'dDwWtnrfv'

/** Translates a pattern to RE2 syntax; null if that is not possible. */
function translate(source: string): string | null {
  if (surrogate.test(source) || /\[\^?\]|\[:|\(\?(?:<?[=!])/.test(source)) return null
  let [translated, inClass] = ['', false]
  for (let at = 0; at < source.length; at++) {
    const one = source[at]!
    if (one === '\\') {
      const [, letter = ''] = /^\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/s.exec(source.slice(at)) ?? []
      const translatedEscape = escaped(letter, inClass)
      if (translatedEscape === null) return null
      translated += translatedEscape
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

/** The VM context for work with a deadline, created on first use, which takes a millisecond. */
let context: Context | null = null
const script = new Script('work()')

/** Runs `work` and interrupts it after `time` milliseconds; false if it was interrupted. */
export function isDoneWithin(time: number, work: () => void): boolean {
  context ??= createContext({ work })
  context.work = work
  try {
    script.runInContext(context, { timeout: Math.ceil(time) })
    return true
  } catch (error) {
    // A long text may also overflow the stack of the engine.
    if (error instanceof RangeError || (error as { readonly code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  } finally {
    context.work = null
  }
}

/** The length of the texts for testing a pattern, and how many times it must time out. */
const [triedLength, trials] = [40, 2]

/**
 * True if some short text makes JavaScript's engine take very long, as it would in Strapi. Tested with repetitions of the characters in
 * the pattern.
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
  // On a busy machine a single test may time out.
  return tried.some((value) => Array.from({ length: trials }).every(() => isLate(value)))
}
