// The text of an error on standard error.
import { ApiError } from '../../foundation/errors/errors.js'

/** Most mistakes that are printed, and characters of each. */
const [mostMistakes, longest] = [20, 500]

/** The message of an error; where it only counts mistakes, each of them follows on a line of its own, behind its path. */
export function errorText(error: Error): string {
  const mistakes = mistakesOf(error)
  if (mistakes.length < 2) return error.message
  const left = mistakes.length - mostMistakes
  const lines = mistakes.slice(0, mostMistakes).map(lineOf)
  return [error.message, ...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n  ')
}

/** A mistake as details have it; those of a project's own code may have any path, or none. */
interface Reported {
  readonly message: string
  readonly path?: unknown
}

function lineOf({ path, message }: Reported): string {
  const line = Array.isArray(path) && path.length > 0 ? `${path.join('.')}: ${message}` : message
  return line.length > longest ? `${line.slice(0, longest)}…` : line
}

const isMistake = (entry: unknown): entry is Reported =>
  typeof entry === 'object' && entry !== null && 'message' in entry && typeof entry.message === 'string'

function mistakesOf(error: Error): readonly Reported[] {
  const errors = error instanceof ApiError ? error.details?.errors : undefined
  return Array.isArray(errors) ? errors.filter(isMistake) : []
}
