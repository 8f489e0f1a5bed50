// What changes of the content model leave in a database on purpose: attributes with more links or entries than they may have, and tables that
// are kept aside.
import { sql } from 'kysely'
import { hasColumns, type RowReader } from '../../database/database.js'
import { isKept } from '../../model/diff/kept.js'
import type { Rename } from '../../model/diff/types.js'
import type { Tables } from './searches.js'

/** What changes of the content model leave. */
export interface LeftByChanges {
  /** Attributes of the model, `api::note.note.tags`, that a change left with more links or entries than they may have (model-plans.11). */
  readonly narrowed: ReadonlySet<string>
  /** Tables of entries that are kept aside (model-plans.2). */
  readonly keptEntries: readonly string[]
  /** Tables of rows of documents that are kept aside. Their ids are not given again, and links to files still name them. */
  readonly keptDocuments: readonly string[]
}

/** Reads what the changes of the model so far have left. */
export async function leftByChanges(database: RowReader, tables: Tables): Promise<LeftByChanges> {
  const [keptEntries, keptDocuments]: [string[], string[]] = [[], []]
  for (const name of tables.names.filter(isKept)) {
    if (await hasColumns(database, name, ['entity_id', 'cmp_id', 'component_type'])) keptEntries.push(name)
    else if (await hasColumns(database, name, ['id', 'document_id'])) keptDocuments.push(name)
  }
  const narrowed = tables.has('octavo_model_history') ? await narrowedAttributes(database) : new Set<string>()
  return { narrowed, keptEntries, keptDocuments }
}

/** The attributes that changes have narrowed, under the names that they have today. */
async function narrowedAttributes(database: RowReader): Promise<ReadonlySet<string>> {
  const changes = await database.rows<{ readonly renames: string; readonly narrowed: string }>(
    sql`select renames, narrowed from octavo_model_history where is_made = 1 order by id`,
  )
  let narrowed: readonly string[] = []
  for (const change of changes) {
    const renames = JSON.parse(change.renames) as readonly Rename[]
    narrowed = [...narrowed.map((path) => renamed(path, renames)), ...(JSON.parse(change.narrowed) as readonly string[])]
  }
  return new Set(narrowed)
}

/** The path of an attribute after renames. An attribute's rename names its schema as it was before. */
function renamed(path: string, renames: readonly Rename[]): string {
  const end = path.lastIndexOf('.')
  const [uid, name] = [path.slice(0, end), path.slice(end + 1)]
  const schema = renames.find((rename) => rename.kind !== 'attribute' && rename.from === uid)?.to ?? uid
  const attribute = renames.find((rename) => rename.kind === 'attribute' && rename.schema === uid && rename.from === name)?.to ?? name
  return `${schema}.${attribute}`
}
