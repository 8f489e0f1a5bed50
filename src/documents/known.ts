// What a write needs to know of the database before it begins, asked with one statement: the rows that relations and media name,
// and the last ids of the tables that get new rows. Afterwards its inserts follow each other without waiting.
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import { lastId } from '../database/sequences.js'
import type { ContentType, Model } from '../model/types.js'
import type { ComponentInput, Input, Reference, RelationInput } from './input.js'
import type { TargetRow } from './references.js'
import { namedRows } from './references.js'
import { reserveIds } from './rows.js'

interface Row extends TargetRow {
  readonly kind: string
}

/**
 * Looks up the targets of everything that `input` names, by uid, and lets the transaction give ids to new rows of the type, if there
 * are any, and of the input's components. Asks nothing where there is nothing to know.
 */
export async function lookAhead(
  transaction: Transaction,
  model: Model,
  input: Input,
  newRowsOf: ContentType | null,
): Promise<ReadonlyMap<string, readonly TargetRow[]>> {
  const named = referencesOf(input)
  const tables = [...new Set([...(newRowsOf === null ? [] : [newRowsOf.table]), ...newComponents(input)])]
  const targets = [...named].flatMap(([uid, references]) => {
    const target = model.types.get(uid)
    return target === undefined || references.length === 0 ? [] : [{ target, references }]
  })
  const selects = [
    ...targets.map(({ target, references }) => sql`select ${target.uid} as kind, ${namedRows(target, references)}`),
    ...tables.map((table) => sql`select ${`#${table}`} as kind, ${lastId(table)} as id, null, null, null`),
  ]
  const found = selects.length === 0 ? [] : await transaction.rows<Row>(sql`${sql.join(selects, sql` union all `)}`)
  for (const table of tables) reserveIds(transaction, table, found.find(({ kind }) => kind === `#${table}`)!.id)
  return new Map(targets.map(({ target }) => [target.uid, found.filter(({ kind }) => kind === target.uid)]))
}

/** What relations and media name, by the uid of the type they lead to; the siblings that positions name are named too. */
function referencesOf(input: Input): ReadonlyMap<string, Reference[]> {
  const found = new Map<string, Reference[]>()
  const add = (uid: string, references: readonly Reference[]) => found.set(uid, [...(found.get(uid) ?? []), ...references])
  for (const [attribute, change] of input.relations) {
    for (const reference of namedBy(change)) {
      const uid = attribute.kind === 'relation' ? attribute.target : (reference.type ?? '')
      add(uid, [reference, ...siblingsOf(reference)])
    }
  }
  for (const change of input.media.values()) add('plugin::upload.file', namedBy(change))
  for (const { input: below } of entriesOf(input)) for (const [uid, references] of referencesOf(below)) add(uid, references)
  return found
}

const namedBy = ({ set, connect, disconnect }: RelationInput): readonly Reference[] => [...(set ?? []), ...connect, ...disconnect]

const siblingsOf = ({ position }: Reference): readonly Reference[] =>
  [position?.before, position?.after].flatMap((name) => (typeof name === 'string' ? [{ documentId: name }] : []))

const entriesOf = ({ components, zones }: Input): readonly ComponentInput[] => [...components.values(), ...zones.values()].flat()

/** The tables of the components that an input makes anew. */
const newComponents = (input: Input): readonly string[] =>
  entriesOf(input).flatMap(({ component, id, input: below }) => [...(id === null ? [component.table] : []), ...newComponents(below)])
