// A random model that changes: types with attributes and links between them, the result of one change, and its schemas.
import type { chances } from '../documents/chances.js'

export type Chances = ReturnType<typeof chances>
type Options = Readonly<Record<string, unknown>>

/** A content-type by its singular name, without its links. */
export interface RandomType {
  readonly table: string
  readonly drafts: boolean
  readonly localized: boolean
  /** Scalars, components and dynamic zones, in addition to `number`, which every type has. */
  readonly attributes: Readonly<Record<string, Options>>
}

export type Kind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany'

/** A relation between two types, by their names. */
export interface RandomLink {
  readonly from: string
  readonly name: string
  readonly to: string
  /** The attribute of the other side; null: it has none. */
  readonly inverse: string | null
  readonly kind: Kind
  /** Those that are checked while the model changes stay, with their names. */
  readonly isFixed: boolean
}

export interface RandomModel {
  readonly types: Readonly<Record<string, RandomType>>
  readonly links: readonly RandomLink[]
}

/** A change of a model. */
export interface RandomChange {
  readonly what: string
  readonly model: RandomModel
  readonly renames: readonly Readonly<Record<string, string>>[]
  /** Attributes whose values may change, as `type.attribute`, by their names in the new model. */
  readonly touched: readonly string[]
}

export const uidOf = (name: string): string => `api::${name}.${name}`
export const pluralOf = (name: string): string => `${name}s`

const other: Readonly<Record<Kind, Kind>> = {
  ...{ oneToOne: 'oneToOne', oneToMany: 'manyToOne', manyToOne: 'oneToMany', manyToMany: 'manyToMany' },
}
export const kinds = Object.keys(other) as readonly Kind[]

/** The sides of links that a type has: attribute, kind as seen from there, target. */
export const sidesOf = ({ links }: RandomModel, name: string) =>
  links.flatMap((link) => [
    ...(link.from === name ? [{ name: link.name, kind: link.kind, target: link.to, link }] : []),
    ...(link.to === name && link.inverse !== null ? [{ name: link.inverse, kind: other[link.kind], target: link.from, link }] : []),
  ])

const string = { type: 'string' }
const components = {
  'part.note': { info: { displayName: 'Note' }, attributes: { text: string } },
  'part.mark': { info: { displayName: 'Mark' }, attributes: { text: string, size: { type: 'integer' } } },
}

/** The schemas of a model, by uid. */
export function schemasOf(model: RandomModel): Readonly<Record<string, object>> {
  const types = Object.entries(model.types).map(([name, { table, drafts, localized, attributes }]) => {
    const relations = model.links.flatMap(({ from, name: own, to, inverse, kind }) => {
      const owns = kind !== 'oneToMany'
      const side = (isOwner: boolean, named: string | null) => (named === null ? {} : { [isOwner ? 'inversedBy' : 'mappedBy']: named })
      const one = { type: 'relation', relation: kind, target: uidOf(to), ...side(owns, inverse) }
      const reverse = { type: 'relation', relation: other[kind], target: uidOf(from), ...side(!owns, own) }
      return [...(from === name ? [[own, one]] : []), ...(to === name && inverse !== null ? [[inverse, reverse]] : [])]
    })
    const schema = {
      kind: 'collectionType',
      collectionName: table,
      info: { singularName: name, pluralName: pluralOf(name), displayName: name },
      options: { draftAndPublish: drafts },
      ...(localized ? { pluginOptions: { i18n: { localized: true } } } : {}),
      attributes: { number: { type: 'integer' }, ...attributes, ...Object.fromEntries(relations) },
    }
    return [uidOf(name), schema] as const
  })
  return { ...components, ...Object.fromEntries(types) }
}

/** The body of the request that leads from one model to another. */
export function requestOf(from: RandomModel, { model, renames }: RandomChange) {
  const [before, after] = [schemasOf(from), schemasOf(model)]
  const changed = Object.entries(after).filter(([uid, schema]) => JSON.stringify(schema) !== JSON.stringify(before[uid]))
  const gone = Object.keys(before).filter((uid) => !Object.hasOwn(after, uid))
  return { data: { ...Object.fromEntries(gone.map((uid) => [uid, null])), ...Object.fromEntries(changed) }, renames }
}
