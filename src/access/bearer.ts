// The token of the Authorization header.

/** Returns the token of `Bearer <token>`; null for other schemes, no token, or several. */
export function bearer(authorization: string | undefined): string | null {
  if (authorization === undefined) return null
  const parts = authorization.trim().split(/\s+/)
  return parts.length === 2 && parts[0]!.toLowerCase() === 'bearer' ? parts[1]! : null
}
