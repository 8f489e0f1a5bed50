// The headers of a request that a resource looks at: which state a write means, that it is done once, and what a change of the model may hide.
// A resource declares them; they are read and described by that.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Once } from '../../content/documents/operation.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { readIdempotencyKey } from '../headers-and-cors.js'
import { readAgreement } from '../model-responses.js'

/** The state that a write means, by its revision in `If-Match`. */
export interface MeantState {
  /** Of what it is the state, in words. */
  readonly of: string
  /** What `If-None-Match: *` makes; absent: nothing. */
  readonly orNew?: string
}

/** The headers that a resource looks at, besides the `Idempotency-Key` of what can be answered `again`. */
export interface HeaderInput {
  readonly state?: MeantState
  /** `octavo-agree` names the content that it may hide. */
  readonly agrees?: true
}

/** What the headers of a request say, as far as its resource looks at them. */
export interface GivenHeaders {
  /** The key of what can be answered `again`; null: it may be done again. */
  readonly once: Once | null
  /** The revisions that a write expects; none where what it writes to is not there. */
  readonly expected: readonly string[]
  readonly agreed: ReadonlySet<string>
}

/** Reads the headers of a request; `isOnce`: also its key. @throws ApiError 400, 428 */
export function readHeaders(request: IncomingMessage, { state, agrees }: HeaderInput, isOnce: boolean): GivenHeaders {
  return {
    once: isOnce ? readIdempotencyKey(request, 'administration') : null,
    expected: state === undefined ? [] : expectedOf(request.headers, state),
    agreed: agrees === true ? readAgreement(request) : new Set(),
  }
}

/** Revisions that one request names at most. */
const mostRevisions = 100

/**
 * A tag: the revision, and behind a point what tells the whole response from others with the same revision. Compressed responses have its
 * weak form, which names the same revision.
 */
const tag = /^(?:W\/)?"([\w-]{1,64})(?:\.[\w-]{1,64})?"$/

/** The revisions that a write expects. @throws ApiError 428 for a request that says neither them nor that it makes something */
function expectedOf(headers: IncomingHttpHeaders, state: MeantState): readonly string[] {
  const given = headers['if-match']
  if (given === undefined) {
    if (state.orNew !== undefined && headers['if-none-match'] === '*') return []
    throw new ApiError('PreconditionRequiredError', `Say which state you mean: ${saying(state)}`)
  }
  const tags = given.split(',').slice(0, mostRevisions)
  const revisions = tags.flatMap((one) => tag.exec(one.trim())?.[1] ?? [])
  if (revisions.length > 0) return revisions
  if (given.trim() === '*')
    throw new ApiError(
      'PreconditionRequiredError',
      `If-Match: * does not say which state you mean: a revision is required, ${saying(state)}`,
    )
  // What is no tag of ours can be that of nothing.
  return ['none']
}

const saying = ({ of, orNew }: MeantState): string =>
  `If-Match with the ETag of ${of}${orNew === undefined ? '' : `, or If-None-Match: * for ${orNew}`}`
