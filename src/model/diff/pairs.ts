// Which schemas and attributes of the newer model are those of the older one: by their names, unless a rename is declared.
import { columnName } from '../schema/names.js'
import { schemasOf } from '../schema/owners.js'
import type { Attribute, Model, Schema } from '../schema/types.js'
import type { Rename } from './types.js'

/** A schema that both models have. */
export interface SchemaPair {
  readonly from: Schema
  readonly to: Schema
}

/** An attribute that both models have. */
export interface AttributePair {
  readonly from: Attribute
  readonly to: Attribute
}

/** What of two models belongs together. */
export interface Pairs {
  readonly from: Model
  readonly to: Model
  readonly schemas: readonly SchemaPair[]
  readonly created: readonly Schema[]
  readonly removed: readonly Schema[]
  /** The uid that a schema of the older model has in the newer one; undefined: it is removed. */
  uidIn(from: string): string | undefined
  /** The attributes that both have, in the order of the older one. */
  attributes(pair: SchemaPair): readonly AttributePair[]
  createdAttributes(pair: SchemaPair): readonly Attribute[]
  removedAttributes(pair: SchemaPair): readonly Attribute[]
  /** The name that an attribute of the older model has in the newer one. */
  nameIn(from: string, attribute: string): string | undefined
}

const systemNames = new Set(['createdBy', 'updatedBy', 'localizations'])

/** The attributes of a schema that stand in its file. */
export const ownAttributes = (schema: Schema): readonly Attribute[] =>
  [...schema.attributes.values()].filter(
    (attribute) => !systemNames.has(attribute.name) && !(attribute.kind === 'scalar' && attribute.system),
  )

export const schemaOf = (model: Model, uid: string): Schema | undefined => model.types.get(uid) ?? model.components.get(uid)

/** Names of the newer side by those of the older one. */
function matched(from: readonly string[], to: readonly string[], renamed: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const taken = new Set(renamed.values())
  const there = new Set(to)
  return new Map(
    from.flatMap((name): [string, string][] => {
      const target = renamed.get(name) ?? (taken.has(name) ? undefined : name)
      return target !== undefined && there.has(target) ? [[name, target]] : []
    }),
  )
}

/**
 * Pairs two models.
 * @throws Error with a sentence if a rename names what is not there, or if two renames contradict each other
 */
export function pairModels(from: Model, to: Model, renames: readonly Rename[]): Pairs {
  const uids = matchedSchemas(from, to, renames)
  const schemas = schemasOf(from).flatMap((schema): SchemaPair[] => {
    const uid = uids.get(schema.uid)
    return uid === undefined ? [] : [{ from: schema, to: schemaOf(to, uid)! }]
  })
  const names = new Map(schemas.map((pair) => [pair.from.uid, matchedAttributes(pair, renames)]))
  for (const rename of renames) if (rename.kind === 'attribute') checkAttributeRename(rename, from, names)
  const kept = new Set(uids.values())
  const namesOf = (pair: SchemaPair) => names.get(pair.from.uid)!
  return {
    from,
    to,
    schemas,
    created: schemasOf(to).filter(({ uid }) => !kept.has(uid)),
    removed: schemasOf(from).filter(({ uid }) => !uids.has(uid)),
    uidIn: (uid) => uids.get(uid),
    attributes: (pair) =>
      [...namesOf(pair)].map(([name, target]) => ({ from: pair.from.attributes.get(name)!, to: pair.to.attributes.get(target)! })),
    createdAttributes: (pair) => {
      const targets = new Set(namesOf(pair).values())
      return ownAttributes(pair.to).filter(({ name }) => !targets.has(name))
    },
    removedAttributes: (pair) => ownAttributes(pair.from).filter(({ name }) => !namesOf(pair).has(name)),
    nameIn: (uid, attribute) => names.get(uid)?.get(attribute),
  }
}

function matchedSchemas(from: Model, to: Model, renames: readonly Rename[]): ReadonlyMap<string, string> {
  const of = (kind: 'type' | 'component') => {
    const declared = new Map<string, string>()
    for (const rename of renames) if (rename.kind === kind) note(declared, rename.from, rename.to, `the ${kind}`)
    const [older, newer] = kind === 'type' ? [from.types, to.types] : [from.components, to.components]
    for (const [before, after] of declared) {
      if (!older.has(before)) throw new Error(`The ${kind} ${before} cannot be renamed: the present model does not have it`)
      if (!newer.has(after)) throw new Error(`The ${kind} ${before} cannot be renamed: the new model has no ${kind} ${after}`)
    }
    return matched([...older.keys()], [...newer.keys()], declared)
  }
  return new Map([...of('type'), ...of('component')])
}

function note(declared: Map<string, string>, from: string, to: string, what: string): void {
  if (declared.has(from) || [...declared.values()].includes(to))
    throw new Error(`Two renames contradict each other: ${what} ${declared.has(from) ? from : to} is in both`)
  declared.set(from, to)
}

function matchedAttributes({ from, to }: SchemaPair, renames: readonly Rename[]): ReadonlyMap<string, string> {
  const declared = new Map<string, string>()
  for (const rename of renames)
    if (rename.kind === 'attribute' && rename.schema === from.uid) note(declared, rename.from, rename.to, `the attribute ${from.uid}:`)
  const names = (schema: Schema) => ownAttributes(schema).map(({ name }) => name)
  const found = matched(names(from), names(to), declared)
  return new Map([...found, ...sameColumn(names(from), names(to), found)])
}

/** Attributes that are written otherwise, and have the same column: `secretCode`, `secret_code`. */
function sameColumn(from: readonly string[], to: readonly string[], found: ReadonlyMap<string, string>): readonly [string, string][] {
  const taken = new Set(found.values())
  const free = new Map(to.filter((name) => !taken.has(name)).map((name) => [columnName(name), name]))
  return from.flatMap((name): [string, string][] => {
    const other = found.has(name) ? undefined : free.get(columnName(name))
    return other === undefined ? [] : [[name, other]]
  })
}

function checkAttributeRename(
  { schema, from, to }: Extract<Rename, { readonly kind: 'attribute' }>,
  model: Model,
  names: ReadonlyMap<string, ReadonlyMap<string, string>>,
): void {
  const older = schemaOf(model, schema)
  const what = `The attribute ${from} of ${schema} cannot be renamed`
  if (older === undefined || !names.has(schema)) throw new Error(`${what}: only one of the models has ${schema}`)
  if (!ownAttributes(older).some(({ name }) => name === from)) throw new Error(`${what}: the present model does not have it`)
  if (names.get(schema)!.get(from) !== to) throw new Error(`${what}: the new model has no attribute ${to} there`)
}

/** A rename of a name that rows, columns or tables have. */
export interface NameChange {
  readonly from: string
  readonly to: string
}

/**
 * Puts renames in an order in which none meets a name that another has not left yet, over names of their own if there is no such order.
 * `sameAs`: by what names are told apart.
 */
export function inOrder(renames: readonly NameChange[], sameAs: (name: string) => string = (name) => name): readonly NameChange[] {
  const real = renames.filter(({ from, to }) => from !== to)
  const leaving = new Set(real.map(({ from }) => sameAs(from)))
  const crossing = real.filter(({ to }) => leaving.has(sameAs(to)))
  const between = (name: string) => `octavo_moving_${real.findIndex(({ from }) => from === name)}`
  return [
    ...crossing.map(({ from }) => ({ from, to: between(from) })),
    ...real.filter(({ to }) => !leaving.has(sameAs(to))),
    ...crossing.map(({ from, to }) => ({ from: between(from), to })),
  ]
}
