// Looks up everything that a write references in one statement, and resolves references to row ids. A documentId selects the appropriate
// versions, a numeric id exactly its row.

import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { type ApiError, inputError } from '../../../foundation/errors/errors.js'
import { fileType } from '../../../model/schema/link.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import { type FindHidden, withoutHidden } from '../guard/hidden-rows.js'
import { attributeErrors } from '../input/input.js'
import type { ComponentInput, Input, Reference, RelationInput } from '../input/types.js'
import type { RowContext, TargetResolution, TargetRow } from './row-context.js'
import { reserveIds } from './rows.js'

/** A reference with its rows, draft before published. */
export interface ResolvedReference {
  readonly reference: Reference
  readonly rows: readonly number[]
}

/** The context for looking up references. */
type TargetReading = Pick<RowContext, 'transaction' | 'resolving'>

/**
 * Resolves references to rows of `target`, in order. The first `optional` ones may be missing: as in Strapi, these can be disconnected.
 * @throws ApiError 400 for missing documents and rows, with the recorded messages
 */
export async function resolveReferences(
  { transaction, resolving }: TargetReading,
  target: ContentType,
  references: readonly Reference[],
  optional = 0,
): Promise<readonly ResolvedReference[]> {
  if (references.length === 0) return []
  const rows = resolving.known?.get(target.uid) ?? (await findRows(transaction, target, references, resolving.hidden))
  requireRows(target.uid, references.slice(optional), rows, resolving.shown)
  const found = groupRows(rows)
  return references.map((reference, index) => {
    const versions = findFitting(target, reference, found, resolving)
    // A disconnected document loses all its rows.
    return { reference, rows: (index < optional ? versions : toFirstVersions(target, versions)).map(({ id }) => id) }
  })
}

/** Candidate rows of references, in any version and locale. */
export const findTargets = (transaction: Transaction, target: ContentType, references: readonly Reference[]) =>
  transaction.rows<TargetRow>(sql`select ${targetRows(transaction.dialect, target, references)}`)

async function findRows(transaction: Transaction, target: ContentType, references: readonly Reference[], hidden: FindHidden | null) {
  const rows = await findTargets(transaction, target, references)
  return hidden === null ? rows : withoutHidden(hidden, target, rows)
}

/**
 * Resolves what a relation is set to.
 * @throws ApiError 400 also for missing references in `besideSet`
 */
export async function resolveSet(
  reading: TargetReading,
  target: ContentType,
  set: readonly Reference[],
  besideSet: readonly Reference[],
): Promise<readonly ResolvedReference[]> {
  return (await resolveReferences(reading, target, [...besideSet, ...set])).slice(besideSet.length)
}

/** The targets that a relation is connected to, and the rows that it is disconnected from. @throws ApiError 400 for missing targets */
export async function resolveChange(
  reading: TargetReading,
  target: ContentType,
  { connect, disconnect }: RelationInput,
): Promise<{ readonly connected: readonly ResolvedReference[]; readonly disconnected: ReadonlySet<number> }> {
  const resolved = await resolveReferences(reading, target, [...disconnect, ...connect], disconnect.length)
  return {
    connected: resolved.slice(disconnect.length),
    disconnected: new Set(resolved.slice(0, disconnect.length).flatMap(({ rows }) => rows)),
  }
}

/** @throws ApiError 400 for referenced row ids that are not in `rows`; `shown`: the written body */
function requireRows(uid: string, references: readonly Reference[], rows: readonly TargetRow[], shown: unknown): void {
  const known = groupRows(rows).rows
  const missing = new Set(references.flatMap(({ id, documentId }) => (documentId !== undefined || known.has(id!) ? [] : [id])))
  if (missing.size === 0) return
  const message = `${missing.size} relation(s) of type ${uid} associated with this entity do not exist`
  throw attributeErrors([{ path: [], message, issue: { code: 'notFound' }, value: shown }]).about({
    kind: 'targets',
    uid,
    named: [...missing].map(Number),
  })
}

/** The tail of a select of `TargetRow`s, after its first columns. */
function targetRows({ list }: Dialect, target: ContentType, references: readonly Reference[]): RawBuilder<unknown> {
  const documentIds = references.flatMap(({ documentId }) => (documentId === undefined ? [] : [documentId]))
  const ids = references.flatMap(({ id, documentId }) => (documentId === undefined && id !== undefined ? [id] : []))
  const conditions = [
    ...(documentIds.length === 0 ? [] : [sql`document_id in (${list(documentIds)})`]),
    ...(ids.length === 0 ? [] : [sql`id in (${list(ids)})`]),
  ]
  return sql`id, document_id, locale, published_at from ${sql.table(target.table)} where ${sql.join(conditions, sql` or `)}`
}

/** The first row of each version: a document with duplicate rows is one target. */
function toFirstVersions({ draftAndPublish }: ContentType, rows: readonly TargetRow[]): readonly TargetRow[] {
  if (rows.length < 2) return rows
  const first = new Map<boolean, TargetRow>()
  for (const row of rows) {
    const isPublished = !draftAndPublish || row.published_at !== null
    const known = first.get(isPublished)
    if (known === undefined || row.id < known.id) first.set(isPublished, row)
  }
  return [...first.values()]
}

interface Grouped {
  readonly rows: ReadonlyMap<number, TargetRow>
  readonly documents: ReadonlyMap<string, readonly TargetRow[]>
}

/** Cached, because all relations of a write use its looked-up rows, thousands in a long list of components. */
const groups = new WeakMap<readonly TargetRow[], Grouped>()

/** Groups rows by id, and by document. */
function groupRows(rows: readonly TargetRow[]): Grouped {
  const known = groups.get(rows)
  if (known !== undefined) return known
  const documents = new Map<string, TargetRow[]>()
  for (const row of rows) {
    const group = documents.get(row.document_id)
    if (group === undefined) documents.set(row.document_id, [row])
    else group.push(row)
  }
  const made = { rows: new Map(rows.map((row) => [row.id, row])), documents }
  groups.set(rows, made)
  return made
}

/** All rows of a reference, draft before published. */
function findFitting(target: ContentType, reference: Reference, found: Grouped, resolving: TargetResolution): readonly TargetRow[] {
  const { documentId } = reference
  // A disconnected row need not exist.
  if (documentId === undefined) return found.rows.has(reference.id!) ? [found.rows.get(reference.id!)!] : []
  const locale = target.localized ? (resolving.locale ?? reference.locale ?? resolving.defaultLocale) : null
  const versions = (found.documents.get(documentId) ?? []).filter((row) => !target.localized || row.locale === locale)
  const drafts = versions.filter((row) => row.published_at === null)
  const published = versions.filter((row) => row.published_at !== null)
  const fitting = !target.draftAndPublish
    ? versions
    : resolving.side === 'draft'
      ? drafts
      : filterByStatus(reference.status, drafts, published)
  if (fitting.length === 0) throw missingDocument(target, documentId, locale)
  return fitting
}

function missingDocument({ uid }: ContentType, documentId: string, locale: string | null): ApiError {
  const error = inputError(`Document with id "${documentId}", locale "${locale}" not found`, [], 'notFound')
  return error.about({ kind: 'targets', uid, named: [documentId] })
}

function filterByStatus(status: string | undefined, drafts: readonly TargetRow[], published: readonly TargetRow[]): readonly TargetRow[] {
  if (status === 'published') return published
  return status === 'draft' ? drafts : [...drafts, ...published]
}

interface Row extends TargetRow {
  readonly kind: string
}

/**
 * Looks up the targets of everything that `input` references, by uid, and reserves ids for new rows of the type and of the input's
 * components, and for their published copies if `isPublished`. Runs no statement if nothing is needed.
 */
export async function prefetchTargets(
  transaction: Transaction,
  model: Model,
  input: Input,
  newRowsOf: ContentType | null,
  isPublished: boolean,
  hidden: FindHidden | null,
): Promise<ReadonlyMap<string, readonly TargetRow[]>> {
  const named = new Map<string, Named>()
  collect(input, named)
  const { dialect } = transaction
  const news = countEach([...(newRowsOf === null ? [] : [newRowsOf.table]), ...newComponents(input)], isPublished ? 2 : 1)
  const targets = [...named].flatMap(([uid, { references, required }]) => {
    const target = model.types.get(uid)
    return target === undefined || references.length === 0 ? [] : [{ target, references, required }]
  })
  const selects = [
    ...targets.map(({ target, references }) => sql`select ${target.uid} as kind, ${targetRows(dialect, target, references)}`),
    ...[...news].map(
      ([table, count]) => sql`select ${`#${table}`} as kind, n.id, null, null, null from (select ${dialect.newIds(table, count)}) as n`,
    ),
  ]
  const found = selects.length === 0 ? [] : await transaction.rows<Row>(sql`${sql.join(selects, sql` union all `)}`)
  for (const table of news.keys()) {
    const ids = found.filter(({ kind }) => kind === `#${table}`)
    reserveIds(
      transaction,
      table,
      ids.map(({ id }) => id),
    )
  }
  const known = new Map<string, readonly Row[]>()
  for (const { target } of targets) {
    const rows = found.filter(({ kind }) => kind === target.uid)
    known.set(target.uid, hidden === null ? rows : await withoutHidden(hidden, target, rows))
  }
  // As in Strapi, all missing rows of one type are reported together, before anything is written.
  for (const { target, required } of targets) requireRows(target.uid, required, known.get(target.uid)!, input.checked)
  return known
}

const countEach = (names: readonly string[], ofEach: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + ofEach)
  return counts
}

/** References to one type; disconnected rows need not exist. */
interface Named {
  readonly references: Reference[]
  readonly required: Reference[]
}

/** Collects the references of relations and media by target uid, including siblings in positions. */
function collect(input: Input, named: Map<string, Named>): void {
  const add = (uid: string, reference: Reference, isRequired: boolean): void => {
    const known = named.get(uid) ?? { references: [], required: [] }
    named.set(uid, known)
    known.references.push(reference)
    if (isRequired) known.required.push(reference)
    for (const sibling of getSiblings(reference)) add(reference.position?.type ?? uid, sibling, false)
  }
  for (const { input: below } of getEntries(input)) collect(below, named)
  for (const [attribute, change] of [...input.relations, ...input.media]) {
    const uidOf = ({ type }: Reference): string =>
      attribute.kind === 'media' ? fileType : attribute.kind === 'morphTo' ? (type ?? '') : attribute.target
    for (const reference of [...(change.set ?? []), ...change.besideSet, ...change.connect]) add(uidOf(reference), reference, true)
    for (const reference of change.disconnect) add(uidOf(reference), reference, false)
  }
}

const getSiblings = ({ position }: Reference): readonly Reference[] =>
  [position?.before, position?.after].flatMap((name) => (typeof name === 'string' ? [{ documentId: name }] : []))

const getEntries = ({ components, zones }: Input): readonly ComponentInput[] => [...components.values(), ...zones.values()].flat()

/** Tables of the components that an input creates. */
const newComponents = (input: Input): readonly string[] =>
  getEntries(input).flatMap(({ component, id, input: below }) => [...(id === null ? [component.table] : []), ...newComponents(below)])
