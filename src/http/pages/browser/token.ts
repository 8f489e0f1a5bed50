// The token that a visitor gave one of the pages, for all of them. It lasts as long as the tab.

const key = 'octavo-token'

/** The token; empty: none. */
export const readToken = (): string => sessionStorage.getItem(key) ?? ''

/** Keeps a token; the empty text forgets it. */
export function storeToken(token: string): void {
  if (token === '') sessionStorage.removeItem(key)
  else sessionStorage.setItem(key, token)
}

/** A token as people paste it, without the word before it. */
export const stripBearer = (text: string): string => text.trim().replace(/^Bearer\s+/i, '')
