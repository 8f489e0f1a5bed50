// Two models side by side: pairs of schemas and attributes, both layouts, and the names of archived content. Schemas and attributes are
// paired by name unless a rename is declared.
import { allSchemas } from '../schema/graph.js'
import { columnName, joinName } from '../schema/names.js'
import type { Attribute, Model, Schema } from '../schema/types.js'
import { fullName, type Table } from '../tables/table.js'
import { describeTables } from '../tables/tables.js'
import type { ColumnSpans } from './conversions.js'
import type { PlanStep, Risk, StepAction } from './steps.js'
import type { ArchivedContent, ModelChange, PlanChoices, PlanCondition, PlanLoss, Rename } from './types.js'

/** Two models side by side. */
export interface ModelComparison {
  readonly pairs: ModelPairs
  readonly kept: ArchiveNames
  readonly neverPublished: 'keepAside' | 'publish'
  readonly spans: ColumnSpans
  /** A table of the older layout, and one of the newer. */
  tableBefore(name: string): Table
  tableAfter(name: string): Table
}

/** Puts two models side by side. Errors are those of `pairModels`. */
export function compareModels(from: Model, to: Model, renames: readonly Rename[], choices: PlanChoices): ModelComparison {
  const [before, after] = [from, to].map((model) => new Map(describeTables(model).map((table) => [table.name, table])))
  return {
    pairs: pairModels(from, to, renames),
    kept: archiveNames(choices.number ?? 1),
    neverPublished: choices.neverPublished ?? 'keepAside',
    spans: choices.spans ?? {},
    tableBefore: (name) => before!.get(name)!,
    tableAfter: (name) => after!.get(name)!,
  }
}

/** The name of an attribute in losses and conditions: `api::note.note.body`. */
export const attributePath = ({ uid }: Schema, attribute: string): string => `${uid}.${attribute}`

/** Order of steps. Drops are last, since they cannot be undone. Steps before `renameTables` use the table names of the older model. */
export const phases = [
  'keepRows',
  'heirs',
  'deleteRows',
  'aside',
  'renameTables',
  'renameColumns',
  'create',
  'move',
  'indexes',
  'rows',
  'stale',
  'drafts',
  'bookkeeping',
  'drop',
] as const

/** One of `phases`. */
type Phase = (typeof phases)[number]

export interface PlanFindings {
  readonly changes: readonly ModelChange[]
  readonly steps: readonly { readonly phase: Phase; readonly step: PlanStep }[]
  readonly losses: readonly PlanLoss[]
  readonly conditions: readonly PlanCondition[]
}

/** Nothing has changed. */
export const nothing: PlanFindings = { changes: [], steps: [], losses: [], conditions: [] }

/** Several findings as one. */
export const mergeFindings = (all: readonly PlanFindings[]): PlanFindings => ({
  changes: all.flatMap(({ changes }) => changes),
  steps: all.flatMap(({ steps }) => steps),
  losses: all.flatMap(({ losses }) => losses),
  conditions: all.flatMap(({ conditions }) => conditions),
})

/** A step in its phase. */
export const planned = (phase: Phase, risk: Risk, action: StepAction): { readonly phase: Phase; readonly step: PlanStep } => ({
  phase,
  step: { ...action, risk },
})

export interface SchemaPair {
  readonly from: Schema
  readonly to: Schema
}

export interface AttributePair {
  readonly from: Attribute
  readonly to: Attribute
}

/** Pairs of two models. */
export interface ModelPairs {
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

/** Excludes system attributes. */
const ownAttributes = (schema: Schema): readonly Attribute[] =>
  [...schema.attributes.values()].filter(
    (attribute) => !systemNames.has(attribute.name) && !(attribute.kind === 'scalar' && attribute.system),
  )

export const getSchema = (model: Model, uid: string): Schema | undefined => model.types.get(uid) ?? model.components.get(uid)

/** Names of the newer side by those of the older one. */
function matchNames(from: readonly string[], to: readonly string[], renamed: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const taken = new Set(renamed.values())
  const there = new Set(to)
  return new Map(
    from.flatMap((name): [string, string][] => {
      const target = renamed.get(name) ?? (taken.has(name) ? undefined : name)
      return target !== undefined && there.has(target) ? [[name, target]] : []
    }),
  )
}

/** Pairs two models. @throws Error if a rename names something unknown, or if two renames contradict each other */
export function pairModels(from: Model, to: Model, renames: readonly Rename[]): ModelPairs {
  const uids = matchSchemas(from, to, renames)
  const schemas = allSchemas(from).flatMap((schema): SchemaPair[] => {
    const uid = uids.get(schema.uid)
    return uid === undefined ? [] : [{ from: schema, to: getSchema(to, uid)! }]
  })
  const names = new Map(schemas.map((pair) => [pair.from.uid, matchAttributes(pair, renames)]))
  for (const rename of renames) if (rename.kind === 'attribute') checkAttributeRename(rename, from, names)
  const kept = new Set(uids.values())
  const namesOf = (pair: SchemaPair) => names.get(pair.from.uid)!
  return {
    from,
    to,
    schemas,
    created: allSchemas(to).filter(({ uid }) => !kept.has(uid)),
    removed: allSchemas(from).filter(({ uid }) => !uids.has(uid)),
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

function matchSchemas(from: Model, to: Model, renames: readonly Rename[]): ReadonlyMap<string, string> {
  const of = (kind: 'type' | 'component') => {
    const declared = new Map<string, string>()
    for (const rename of renames) if (rename.kind === kind) declareRename(declared, rename.from, rename.to, `the ${kind}`)
    const [older, newer] = kind === 'type' ? [from.types, to.types] : [from.components, to.components]
    for (const [before, after] of declared) {
      if (!older.has(before)) throw new Error(`The ${kind} ${before} cannot be renamed: the present model does not have it`)
      if (!newer.has(after)) throw new Error(`The ${kind} ${before} cannot be renamed: the new model has no ${kind} ${after}`)
    }
    return matchNames([...older.keys()], [...newer.keys()], declared)
  }
  return new Map([...of('type'), ...of('component')])
}

function declareRename(declared: Map<string, string>, from: string, to: string, what: string): void {
  if (declared.has(from) || [...declared.values()].includes(to))
    throw new Error(`Two renames contradict each other: ${what} ${declared.has(from) ? from : to} is in both`)
  declared.set(from, to)
}

function matchAttributes({ from, to }: SchemaPair, renames: readonly Rename[]): ReadonlyMap<string, string> {
  const declared = new Map<string, string>()
  for (const rename of renames)
    if (rename.kind === 'attribute' && rename.schema === from.uid)
      declareRename(declared, rename.from, rename.to, `the attribute ${from.uid}:`)
  const names = (schema: Schema) => ownAttributes(schema).map(({ name }) => name)
  const found = matchNames(names(from), names(to), declared)
  return new Map([...found, ...matchColumns(names(from), names(to), found)])
}

/** Attributes that are written otherwise, and have the same column: `secretCode`, `secret_code`. */
function matchColumns(from: readonly string[], to: readonly string[], found: ReadonlyMap<string, string>): readonly [string, string][] {
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
  const older = getSchema(model, schema)
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

/** Orders renames so that none uses a name that is still taken, with temporary names for cycles. `sameAs` normalizes names. */
export function orderRenames(renames: readonly NameChange[], sameAs: (name: string) => string = (name) => name): readonly NameChange[] {
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

/** Names for the archived content of one change. */
export interface ArchiveNames {
  /** `octavo_kept_3_notes` for a table, column or value of `field` */
  of(name: string): string
  /** `octavo_kept_3_rows_notes` for rows of a table that stays */
  rowsOf(table: string): string
}

/** An archived table. */
export const archivedTable = (kept: ArchiveNames, table: string): ArchivedContent => ({
  kind: 'table',
  table,
  name: table,
  as: kept.of(table),
})

/** Archived rows of a table that stays. */
export const archivedRows = (kept: ArchiveNames, table: string): ArchivedContent => ({
  kind: 'rows',
  table,
  name: table,
  as: kept.rowsOf(table),
})

/** An archived column, or entries of an attribute, within their table. */
export const archivedWithin = (kept: ArchiveNames, kind: 'column' | 'field', table: string, name: string): ArchivedContent => ({
  kind,
  table,
  name,
  as: kept.of(name),
})

/** Strapi drops no table or column with this prefix, and no schema can use it. */
export const archivePrefix = 'octavo_kept_'

/** True if a table, column or value of `field` is archived. */
export const isArchived = (name: string): boolean => name.startsWith(archivePrefix)

/** The names that change `number` gives. */
export function archiveNames(number: number): ArchiveNames {
  const name = (prefix: string, text: string) => fullName(joinName([{ text: prefix, keep: true }, { text }]))
  return { of: (text) => name(`${archivePrefix}${number}`, text), rowsOf: (table) => name(`${archivePrefix}${number}_rows`, table) }
}
