// What follows from the declaration of a resource besides its schemas: the headers of a request, and the statuses by which it refuses.
import { readsBody } from './input.js'
import type { RefusalStatus } from './refusals.js'
import type { Resource } from './resource.js'

/** The statuses by which a resource refuses, in their order. */
export function refusalsOf(resource: Resource): readonly RefusalStatus[] {
  const { who, isStrong, path, query, form, headers, attempts, again } = resource
  const isIdentified = who !== 'anybody' && who !== 'page'
  const hasBody = readsBody(resource) || form !== undefined
  const isOnce = again !== undefined
  const isNamed = path.includes(':')
  const follow: readonly (readonly [boolean, ...RefusalStatus[]])[] = [
    [query !== null || hasBody || isNamed || isOnce, 400],
    [isIdentified, 401],
    [(isIdentified && who !== 'administrator') || who === 'page' || isStrong === true, 403],
    [isNamed, 404],
    [hasBody, 408, 413],
    [isOnce, 409, 422],
    [headers.agrees === true, 409],
    [headers.state !== undefined, 412, 428],
    [attempts !== undefined, 429],
  ]
  const statuses = new Set([...follow.flatMap(([holds, ...which]) => (holds ? which : [])), ...(resource.refusals ?? [])])
  return [...statuses].sort((one, other) => one - other)
}

/** A header in a description. */
export interface DescribedHeader {
  readonly name: string
  readonly required: boolean
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const text = { type: 'string' }

/** The headers of a resource besides `Authorization` and those of its body, as a description has them. */
export function describedHeaders({ method, answer, who, again, headers: { state, agrees } }: Resource): readonly DescribedHeader[] {
  const isNew = state?.orNew
  return [
    ...(who === 'page'
      ? [
          { name: 'Origin', required: true, description: 'That of the service; browsers send it', schema: text },
          { name: 'Octavo-Admin', required: true, description: 'Shows that a page of this origin asks', schema: { const: '1' } },
        ]
      : []),
    ...(method === 'GET' && answer !== null
      ? [
          {
            name: 'If-None-Match',
            required: false,
            description: 'The ETag of a response that the client has: 304 if it is the same',
            schema: text,
          },
        ]
      : []),
    ...(state === undefined
      ? []
      : [{ name: 'If-Match', required: isNew === undefined, description: `The ETag of ${state.of}, as it was read`, schema: text }]),
    ...(isNew === undefined
      ? []
      : [{ name: 'If-None-Match', required: false, description: `In place of If-Match, for ${isNew}`, schema: { const: '*' } }]),
    ...(again !== undefined
      ? [
          {
            name: 'Idempotency-Key',
            required: false,
            description: 'Sent again with the same key, the same request has the same response, and nothing is done again.',
            schema: { ...text, minLength: 1, maxLength: 255 },
          },
        ]
      : []),
    ...(agrees === true
      ? [
          {
            name: 'octavo-agree',
            required: false,
            description: 'The names in `losses` that may be hidden, separated by commas',
            schema: text,
          },
        ]
      : []),
  ]
}
