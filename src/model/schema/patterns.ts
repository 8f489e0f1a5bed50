// Runs the regular expressions of schemas in bounded time. Patterns that cannot backtrack run in JavaScript's engine, others in RE2, which
// takes linear time; patterns that RE2 does not support run in JavaScript's engine with one deadline per request body.

import { type Context, createContext, Script } from 'node:vm'
import { LRUCache } from 'lru-cache'

/** Time for all values of one body to match regular expressions of a schema that cannot run in linear time. */
const maxPatternTimeMs = 100

/** A regular expression of a schema. */
export interface Pattern {
  /** The pattern as shown in messages. */
  readonly printed: RegExp
  /** True if it matches; null if only JavaScript's engine can decide, which needs a deadline (`isDoneWithin`). */
  test(value: string): boolean | null
}

/** A text to test against a pattern with a deadline. */
export interface PatternCheck {
  readonly pattern: Pattern
  readonly value: string
}

/** Compiles a pattern in RE2 syntax. */
export type Engine = (source: string) => (value: string) => boolean

interface Known {
  /** Null: it is not a pattern. */
  readonly pattern: Pattern | null
  isDangerous?: boolean
}

/**
 * In steps of about 0.1 kB and a microsecond each. Requests bring their own patterns, so larger ones are left to JavaScript's engine and
 * its deadline.
 */
const longestProgram = 20_000
const programsOfModel = 200_000
const programsKept = 2_000_000

const patterns = new LRUCache<string, Known>({
  maxSize: programsKept,
  sizeCalculation: (_known, source) => 1 + source.length + Math.min(sizeOf(source), longestProgram),
})

/** True if a pattern needs RE2, which is only loaded then. */
export const needsEngine = (sources: readonly string[]): boolean => sources.some((source) => !isPlain(source))

/** Compiles every pattern once, and yields after each. `engine` runs in linear time and throws for unsupported patterns. */
export function* preparePatterns(sources: readonly string[], engine: Engine | null): Generator<void, void> {
  let left = programsOfModel
  for (const source of new Set(sources)) {
    if (patterns.has(source)) continue
    const size = sizeOf(source)
    const isSmall = size <= Math.min(longestProgram, left)
    if (isSmall) left -= size
    patterns.set(source, { pattern: createPattern(source, isSmall ? engine : null) })
    if (engine !== null) yield
  }
}

/** Returns the compiled pattern; null if the source is not a valid pattern. */
export const getPattern = (source: string): Pattern | null => getTestState(source).pattern

function getTestState(source: string): Known {
  const before = patterns.get(source)
  if (before !== undefined) return before
  const known = { pattern: createPattern(source, null) }
  patterns.set(source, known)
  return known
}

/** The characters, classes and escapes of a pattern, repeated as often as its counts say: the steps of its RE2 program. */
function sizeOf(source: string): number {
  const sizes = [0]
  let last = 0
  for (const [part, least, most] of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gs)) {
    if (part === '(') sizes.push(0)
    else {
      const isGroup = part === ')' && sizes.length > 1
      const copies = least === undefined ? 1 : Math.max(1, Number(most || least))
      const one = isGroup ? sizes.pop()! + 1 : 1
      const added = least === undefined ? one : last * (copies - 1)
      last = least === undefined ? one : last * copies
      sizes[sizes.length - 1]! += added
    }
  }
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Half of a surrogate pair: JavaScript and Strapi count the halves as characters, RE2 does not. */
const surrogate = /[\ud800-\udfff]/

function createPattern(source: string, engine: Engine | null): Pattern | null {
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

/** Replaces the character classes of a pattern without escapes by `x`. */
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
  let translated = ''
  let inClass = false
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
export function completesWithin(time: number, work: () => void): boolean {
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

/** The length of the texts for testing a pattern, how many times it must time out, and milliseconds for the patterns that a model adds. */
const triedLength = 40
const trials = 2
const timeOfModel = 10 * maxPatternTimeMs

/**
 * Finds patterns that take JavaScript's engine very long for some short text, as they would in Strapi. Tests repetitions of the characters
 * in the pattern until the time is over by the clock `now`. Yields after each.
 */
export function* findDangerousPatterns(sources: readonly string[], now: () => number): Generator<void, ReadonlySet<string>> {
  let left = timeOfModel
  const dangerous = new Set<string>()
  for (const source of new Set(sources)) {
    const known = getTestState(source)
    if (known.isDangerous === undefined && left > 0) {
      known.isDangerous = false
      for (const value of triedValues(source)) {
        const since = now()
        // On a busy machine a single test may time out.
        known.isDangerous = Array.from({ length: trials }).every(() => isLate(known.pattern!, value))
        left -= now() - since
        yield
        if (known.isDangerous || left <= 0) break
      }
    }
    if (known.isDangerous === true) dangerous.add(source)
  }
  return dangerous
}

const isLate = ({ printed }: Pattern, value: string): boolean =>
  !completesWithin(maxPatternTimeMs, () => void printed.test(`${value}\u0000`))

/** The texts that a pattern is tested with. */
function triedValues(source: string): readonly string[] {
  if (getPattern(source) === null || isPlain(source) || !/[*+]|\{\d+,\}/.test(source)) return []
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
  return [...letters.map((letter) => letter.repeat(triedLength)), letters.join('').repeat(triedLength / letters.length)]
}

/** Results of the patterns that need a deadline: one deadline for all texts of a body, and for all checks of one write. */
export interface PatternChecks {
  readonly results: Map<Pattern, Map<string, boolean>>
  /** Milliseconds that are left. */
  left: number
}

export const createPatternChecks = (): PatternChecks => ({ results: new Map(), left: maxPatternTimeMs })
