// Prefetches everything that a write needs, in one statement: the rows that relations and media name,
// and the last ids of the tables that get new rows. Afterwards its inserts follow each other without waiting.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { fileType } from '../../../model/schema/link.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import { type FindHidden, withoutHidden } from '../guard/hidden-rows.js'
import type { ComponentInput, Input, Reference } from '../input/types.js'
import { reserveIds } from './rows.js'
import { requireRows, type TargetRow, targetRows } from './targets.js'

interface Row extends TargetRow {
  readonly kind: string
}

/**
 * Looks up the targets of everything that `input` names, by uid, and lets the transaction give ids to new rows of the type, if there
 * are any, and of the input's components, and to their published copies with `isPublished`. Asks nothing where there is nothing to know.
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

/** The references to one type; disconnected rows need not exist. */
interface Named {
  readonly references: Reference[]
  readonly required: Reference[]
}

/** Collects what relations and media name, by the uid of the type they lead to; the siblings that positions name are named too. */
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

/** The tables of the components that an input creates. */
const newComponents = (input: Input): readonly string[] =>
  getEntries(input).flatMap(({ component, id, input: below }) => [...(id === null ? [component.table] : []), ...newComponents(below)])
