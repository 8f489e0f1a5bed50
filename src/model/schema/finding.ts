// Findings of schema checks and their severity.
import { boundedText } from '../../foundation/errors/errors.js'

/** An unknown name and the possible names. */
interface Guess {
  readonly given: string
  /** Lazy, because only the first findings get a guess. */
  known(): Iterable<string>
}

/**
 * A finding at one path of a schema. `wrong` fails the start. `careless` does too, unless Strapi serves the project as well: Strapi starts
 * with it. `unlikely` is a warning. `unstartable`: Strapi does not start with it.
 */
export interface Finding {
  /** For example `attributes.slug.targetField`. */
  readonly path: string
  readonly message: string
  readonly kind: 'wrong' | 'careless' | 'unlikely' | 'unstartable'
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

const maxShownBytes = 200

/** A value of a schema as JSON, shortened. */
export const shown = (value: unknown): string => boundedText(JSON.stringify(value) ?? 'nothing', maxShownBytes)
