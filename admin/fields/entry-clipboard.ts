// Entries on the clipboard, as JSON with a marker: they can be pasted into other documents.
import { type Entry, isObject, unfinishedText } from '../form/values.js'

const marker = 'octavo/entries'

/** Longest text that is read from the clipboard. */
const maxLength = 2_000_000

/** An entry of a component. */
export interface CopiedEntry {
  readonly component: string
  readonly values: Entry
}

/** Entries as a text, without unfinished values. */
export const writeEntries = (entries: readonly CopiedEntry[]): string =>
  JSON.stringify({ [marker]: entries }, (_, value: unknown) => (unfinishedText(value) === undefined ? value : undefined))

/** The entries in a text; null: it has none. */
export function readEntries(text: string): readonly CopiedEntry[] | null {
  if (text.length > maxLength || !text.includes(marker)) return null
  try {
    const { [marker]: entries }: Readonly<Record<string, unknown>> = JSON.parse(text)
    if (!Array.isArray(entries)) return null
    return entries.flatMap((entry) =>
      isObject(entry) && typeof entry.component === 'string' && isObject(entry.values)
        ? [{ component: entry.component, values: entry.values }]
        : [],
    )
  } catch {
    return null
  }
}
