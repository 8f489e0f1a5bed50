// The part of a model in a description: the content-types, components and attributes that its reader may know.
import { isReadOnly, isWritable } from '../../content/documents/input/keys.js'
import { isAlwaysRequired } from '../../model/schema/conditions.js'
import { getComponents } from '../../model/schema/graph.js'
import { fileType, isClosedType, isPolymorphicTarget } from '../../model/schema/link.js'
import { type Attribute, assertNever, type Component, type ContentType, type Model } from '../../model/schema/types.js'
import type { Contract } from '../../query/contract.js'

export type DescribedShape = ContentType | Component

/** An attribute that leads to other rows. */
export type DescribedLink = Exclude<Attribute, { kind: 'scalar' }>

export interface View {
  readonly model: Model
  readonly contract: Contract
  /** Names of content-types and components by uid. */
  readonly names: ReadonlyMap<string, string>
  /** Possible types of a relation to any type. */
  readonly anyTypes: readonly ContentType[]
  /** True if the reader may follow relations to this type. */
  leadsTo(uid: string): boolean
}

/** `mayFind`: true if the reader may find documents of a type. */
export function viewOf(model: Model, contract: Contract, mayFind: (uid: string) => boolean): View {
  return {
    model,
    contract,
    names: namesOf(model),
    anyTypes: [...model.types.values()].filter((type) => isPolymorphicTarget(type) && mayFind(type.uid)),
    leadsTo: (uid) => !isClosedType(uid) && mayFind(uid),
  }
}

/** Attributes that `populate` can show. */
export const linksOf = (view: View, { attributes }: DescribedShape): readonly DescribedLink[] =>
  [...attributes.values()].filter(
    (attribute): attribute is DescribedLink => attribute.kind !== 'scalar' && !attribute.private && isOpen(view, attribute),
  )

function isOpen({ leadsTo, anyTypes }: View, attribute: DescribedLink): boolean {
  switch (attribute.kind) {
    case 'relation':
      return isOwn(attribute.name) || leadsTo(attribute.target)
    case 'morphFrom':
      return leadsTo(attribute.target)
    case 'morphTo':
      return anyTypes.length > 0
    case 'media':
    case 'component':
    case 'dynamiczone':
      return true
    default:
      return assertNever(attribute)
  }
}

/** Relations that need no separate permission. */
const isOwn = (name: string): boolean => name === 'localizations' || name === 'createdBy' || name === 'updatedBy'

/** The types and components that an attribute leads to. */
export function targetsOf({ model, anyTypes }: View, attribute: DescribedLink): readonly DescribedShape[] {
  switch (attribute.kind) {
    case 'relation':
    case 'morphFrom':
      return [model.types.get(attribute.target)!]
    case 'media':
      return [model.types.get(fileType)!]
    case 'morphTo':
      return anyTypes
    case 'component':
    case 'dynamiczone':
      return getComponents(model, attribute)
    default:
      return assertNever(attribute)
  }
}

/** True if conditions or sort keys may traverse a link. */
export function isPath(view: View, attribute: DescribedLink, use: 'condition' | 'order'): boolean {
  if (attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo') return false
  return attribute.kind !== 'media' || use === 'order' || view.contract.mediaFilters
}

/** Everything reachable from `roots`, including these, in a stable order. */
export function reachableFrom(view: View, roots: readonly DescribedShape[]): readonly DescribedShape[] {
  const found = new Map(roots.map((root) => [root.uid, root]))
  for (const shape of found.values()) {
    for (const link of linksOf(view, shape)) for (const target of targetsOf(view, link)) found.set(target.uid, target)
    // Components may be writable where they are not readable.
    for (const attribute of writableOf(shape))
      for (const component of getComponents(view.model, attribute)) found.set(component.uid, component)
  }
  return [...found.values()].sort((a, b) => rank(a) - rank(b) || (a.uid < b.uid ? -1 : 1))
}

const rank = (shape: DescribedShape): number => (shape.kind === 'component' ? 2 : shape.exposed ? 0 : 1)

/** Attributes that data of a write may contain, including private ones and passwords. */
export const writableOf = (shape: DescribedShape): readonly Attribute[] =>
  [...shape.attributes.values()].filter(
    (attribute) => isWritable(shape, attribute) && !isReadOnly(attribute) && !(attribute.kind === 'morphTo' && !attribute.many),
  )

/** True if an attribute of a complete version may be null in a response. Attributes with a condition may be absent. */
export function isNullable(attribute: Attribute): boolean {
  if (attribute.kind === 'scalar' && attribute.system) return false
  return !isAlwaysRequired(attribute)
}

/** True if a new document cannot be published without the attribute. Relations and media are never required. */
export function mustBeGiven({ contract }: View, shape: DescribedShape, attribute: Attribute): boolean {
  if (!isAlwaysRequired(attribute)) return false
  if (attribute.kind === 'component' || attribute.kind === 'dynamiczone') return true
  if (attribute.kind !== 'scalar' || attribute.source.default !== undefined) return false
  const isGenerated = attribute.type === 'uid' && attribute.source.targetField !== undefined && contract.generateUids
  return !isGenerated || shape.kind === 'component'
}

/** Suffixes of derived names; a name is available only if all derived ones are. */
const suffixes = ['', 'Type', 'Filters', 'Input', 'DraftInput', 'HookData', 'Entry', 'Populate', 'Level']

/** A unique name per uid. The project's types get the shortest ones; conflicting names include more of the uid. */
function namesOf({ types, components }: Model): ReadonlyMap<string, string> {
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

/** Nouns for the documents of a type: `a blog post` and `blog posts`. */
export function nounsOf({ singularName, pluralName }: ContentType): { readonly one: string; readonly many: string } {
  const [singular, plural] = [singularName.replaceAll('-', ' '), pluralName.replaceAll('-', ' ')]
  return { one: `${soundsLikeVowel.test(singular) ? 'an' : 'a'} ${singular}`, many: plural }
}

/** Excludes `user`, `unit` and `one`, which are pronounced with a leading consonant. */
const soundsLikeVowel = /^(?!uni|us[aeiou]|ut[aeiou]|eu|one\b|once)[aeiou]/i

/** Names reserved for generated files. */
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
