// Names of linked documents.
import type { Entry } from '../form/values.js'
import { isColor } from '../parts/color-text.js'

/** Names of members that name a document, best first. */
const naming = ['name', 'title', 'label', 'displayName', 'username', 'slug', 'heading'] as const

/** The name of a link, or another text if it has none. */
export function linkName(link: Entry, otherwise: string): string {
  const found = naming.map((member) => link[member]).find((name) => typeof name === 'string' && name.trim() !== '')
  return typeof found === 'string' ? found : otherwise
}

/** Further members of a link: texts and numbers in one line, and a colour, which says little as a text. */
export function linkLine({ fields }: Entry): { readonly line: string; readonly color: string | undefined } {
  const values = Object.values((fields ?? {}) as Entry)
  const line = values
    .filter((value) => (typeof value === 'string' && value !== '' && !isColor(value)) || typeof value === 'number')
    .map(String)
    .join(' · ')
  return { line, color: values.find(isColor) }
}

/** State of a link; undefined on types without drafts. */
export function linkState({ state }: Entry): 'draft' | 'changed' | 'published' | undefined {
  return state === 'draft' || state === 'changed' || state === 'published' ? state : undefined
}
