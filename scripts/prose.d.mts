/** Lines, titles or words, and those with one of the constructions. */
export interface Count {
  readonly total: number
  readonly found: readonly string[]
}
export function proseOfComments(): Record<string, Count>
export function proseOfTitles(): Count
export function proseOfPages(): Record<string, Count>
