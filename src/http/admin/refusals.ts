// The statuses by which resources refuse, as a description has them.
/** A status of a refusal, as a description has it. */
interface DescribedRefusal {
  /** The name of the response in a description. */
  readonly name: string
  readonly description: string
  /** The header that comes with it. */
  readonly header?: 'ETag' | 'Retry-After'
}

/** All statuses of refusals that resources declare. */
export const refusals = {
  400: { name: 'BadRequest', description: 'The input is wrong; `details.errors` has every error with its path, where there are several' },
  401: { name: 'Unauthorized', description: 'There is no valid access token, or no valid session' },
  403: { name: 'Forbidden', description: 'It is not allowed; with `details.reason` `password`, it is once the password was given again' },
  404: { name: 'NotFound', description: 'It does not exist, or not for the administrator' },
  408: { name: 'RequestTimeout', description: 'The body did not arrive in time' },
  409: { name: 'Conflict', description: 'It contradicts what is there, or another request under way' },
  412: { name: 'PreconditionFailed', description: 'It has changed since it was read; `details` has it as it is', header: 'ETag' },
  413: { name: 'PayloadTooLarge', description: 'The body is too large' },
  422: { name: 'UnprocessableEntity', description: 'The Idempotency-Key was sent with another request before' },
  428: { name: 'PreconditionRequired', description: 'The request does not say which state it means' },
  429: { name: 'TooManyRequests', description: 'There are too many attempts', header: 'Retry-After' },
  501: { name: 'NotImplemented', description: 'The database lacks tables that a current version of Strapi 5 creates' },
  503: { name: 'ServiceUnavailable', description: 'It is not possible now', header: 'Retry-After' },
} as const satisfies Readonly<Record<number, DescribedRefusal>>

/** A status of a refusal that a resource may declare. */
export type RefusalStatus = keyof typeof refusals
