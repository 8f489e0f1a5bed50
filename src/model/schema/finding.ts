// What a check of a schema finds, and how serious it is.
import { boundedText } from '../../foundation/errors/bounded-values.js'

/** A name that is not known, and the names that may be meant. */
export interface Guess {
  readonly given: string
  /** Lists them: only the first findings of a check are completed with a guess. */
  known(): Iterable<string>
}

/**
 * A finding at one path of a schema. `wrong` ends the start. `careless` ends it as well, unless Strapi serves the project too: Strapi
 * starts with such a mistake. `unlikely` is a warning. `unstartable` is one where Strapi serves the project too, and does not start with it.
 */
export interface Finding {
  /** The path in the file: `attributes.slug.targetField`. */
  readonly path: string
  readonly message: string
  readonly kind: 'wrong' | 'careless' | 'unlikely' | 'unstartable'
  /** What goes on the message; null: nothing. */
  readonly guess: Guess | null
}

const finding =
  (kind: Finding['kind']) =>
  (path: string, message: string, guess: Guess | null = null): Finding => ({ path, message, kind, guess })

/** Create findings by their kind. */
export const wrong: ReturnType<typeof finding> = finding('wrong')
export const careless: ReturnType<typeof finding> = finding('careless')
export const unlikely: ReturnType<typeof finding> = finding('unlikely')
export const unstartable: ReturnType<typeof finding> = finding('unstartable')

/** Bytes of a value that a message repeats. */
const longestShown = 200

/** A value of a schema as JSON, shortened. */
export const shown = (value: unknown): string => boundedText(JSON.stringify(value) ?? 'nothing', longestShown)
