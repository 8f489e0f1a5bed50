// Safe access to the members of a request body.

/** Returns the members of a body, or an empty object if the body is not an object. */
export const bodyMembers = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {}
