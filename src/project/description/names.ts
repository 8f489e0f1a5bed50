// The names that descriptions give to content-types and components: `Article`, `SharedSeo`, `UploadFile`. The same in every description.
import type { Component, ContentType, Model } from '../../model/schema/types.js'

/** What is derived from a name; a name is free only if all of these are. */
const suffixes = ['', 'Type', 'Filters', 'Input', 'DraftInput', 'HookData', 'Entry', 'Populate', 'Level']

/** Returns a unique name for each uid. Types of the project have the shortest one; on a conflict the name says more of the uid. */
export function namesOf({ types, components }: Model): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>(reserved)
  const byUid = (a: { readonly uid: string }, b: { readonly uid: string }) => (a.uid < b.uid ? -1 : 1)
  const own = [...types.values()].sort((a, b) => Number(b.exposed) - Number(a.exposed) || byUid(a, b))
  for (const shape of [...own, ...[...components.values()].sort(byUid)]) {
    const candidates = [
      shortName(shape),
      inWords(shape.uid),
      ...Array.from({ length: 1000 }, (_, index) => `${inWords(shape.uid)}${index + 2}`),
    ]
    const free = candidates.find((name) => suffixes.every((suffix) => !taken.has(name + suffix)))!
    for (const suffix of suffixes) taken.add(free + suffix)
    names.set(shape.uid, free)
  }
  return names
}

/** How a sentence names the documents of a type: `a blog post` and `blog posts`. */
export function nounsOf({ singularName, pluralName }: ContentType): { readonly one: string; readonly many: string } {
  const [singular, plural] = [singularName.replaceAll('-', ' '), pluralName.replaceAll('-', ' ')]
  return { one: `${soundsLikeVowel.test(singular) ? 'an' : 'a'} ${singular}`, many: plural }
}

/** `user`, `unit` and `one` begin with a consonant when they are spoken. */
const soundsLikeVowel = /^(?!uni|us[aeiou]|ut[aeiou]|eu|one\b|once)[aeiou]/i

/** Names that generated files use themselves. */
const reserved = ['Types', 'Octavo']

function shortName(shape: ContentType | Component): string {
  if (shape.kind === 'component') return inWords(`${shape.category}.${shape.name}`)
  if (shape.exposed) return inWords(shape.singularName)
  return inWords(shape.uid.replace('plugin::', '').replace('::', '.'))
}

/** `fact-box` → `FactBox`. */
function inWords(text: string): string {
  const name = (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[A-Za-z]/.test(name) ? name : `T${name}`
}
