// The body of a request about accounts, whatever was sent.

/** The body's members; none for what is no object. */
export const bodyMembers = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {}
