// The schema files of the model that the database has. A start compares them with those of the project.
import { sql } from 'kysely'
import { inBookkeeping, type RowReader, type WriteDatabase } from '../../database/database.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import { changesAfter } from './change-log.js'

/** Texts of schema files by their paths in the project. */
export type SchemaTexts = ReadonlyMap<string, string>

/** Reads them, with the changes that were made since they were stored; null if a database has none. */
export async function storedSchemas(database: RowReader): Promise<SchemaTexts | null> {
  const rows = await database.rows<{ readonly path: string; readonly text: string; readonly change: number }>(
    sql`select path, text, ${sql.id('change')} from octavo_schemas`,
  )
  if (rows.length === 0) return null
  const texts = new Map(rows.map(({ path, text }) => [path, text]))
  const last = Math.max(...rows.map(({ change }) => Number(change)))
  for (const { files } of await changesAfter(database, last)) {
    for (const [path, text] of files) {
      if (text === null) texts.delete(path)
      else if (isSchema(path)) texts.set(path, text)
    }
  }
  return texts
}

/** Changes also write code. */
export const isSchema = (path: string): boolean => path.endsWith('.json')

/** What has to be written so that files with the first texts have the second ones. */
export function differencesOf(from: SchemaTexts, to: SchemaTexts): FileChanges {
  const written = [...to].filter(([path, text]) => from.get(path) !== text)
  const deleted = [...from.keys()].filter((path) => !to.has(path)).map((path) => [path, null] as const)
  return new Map<string, string | null>([...written, ...deleted])
}

/** Stores them; `change`: the last change that they contain. */
export async function storeSchemas(writer: WriteDatabase, before: SchemaTexts, now: SchemaTexts, change: number): Promise<void> {
  const changed = differencesOf(before, now)
  await inBookkeeping(writer, async (transaction) => {
    for (const [path, text] of changed) {
      transaction.follow(sql`delete from octavo_schemas where path = ${path}`)
      if (text !== null)
        transaction.follow(sql`insert into octavo_schemas (path, text, ${sql.id('change')}) values (${path}, ${text}, ${change})`)
    }
  })
}
