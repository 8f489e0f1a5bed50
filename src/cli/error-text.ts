// The text of an error on standard error.
import { boundedDetails } from '../errors/bounded-values.js'
import { ApiError, type InputMistake } from '../errors/errors.js'

/** Most mistakes that are printed. */
const mostMistakes = 20

/** The message of an error; where it only counts mistakes, each of them follows on a line of its own, behind its path. */
export function errorText(error: Error): string {
  const mistakes = mistakesOf(error)
  if (mistakes.length < 2) return error.message
  const left = mistakes.length - mostMistakes
  const lines = mistakes
    .slice(0, mostMistakes)
    .map(({ path = [], message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  return [error.message, ...lines, ...(left > 0 ? [`… and ${left} more`] : [])].join('\n  ')
}

/** A mistake as details have it; those of a project's own code may have no path. */
type Reported = Pick<InputMistake, 'message'> & Partial<InputMistake>

const isMistake = (entry: unknown): entry is Reported =>
  typeof entry === 'object' && entry !== null && 'message' in entry && typeof entry.message === 'string'

/** The mistakes in the details of an error, as far as a response would show them. */
function mistakesOf(error: Error): readonly Reported[] {
  if (!(error instanceof ApiError) || error.details === null) return []
  const { errors } = boundedDetails(error.details)
  return Array.isArray(errors) ? errors.filter(isMistake) : []
}
