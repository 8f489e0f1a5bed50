// The files of the media library that are not where their rows say.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import type { CheckResult } from './checks.js'

interface LocalFileRow {
  readonly id: number
  readonly name: string
  readonly url: string | null
  readonly formats: string | null
}

/** Files of the local provider whose bytes, or those of one of their formats, are not in the uploads folder. */
export async function missingFiles(database: MainConnection, folder: string): Promise<CheckResult> {
  const name = 'every local file is in the uploads folder'
  let rows: readonly LocalFileRow[]
  try {
    rows = await database.rows<LocalFileRow>(sql`select id, name, url, formats from files where provider = 'local' order by id`)
  } catch (error) {
    return { name, warning: false, count: 1, examples: [(error as Error).message] }
  }
  const missing = rows.flatMap((row) =>
    urlsOf(row)
      .filter((url) => !existsSync(join(folder, basename(decoded(url)))))
      .map((url) => `file ${row.id} ${row.name}: ${url}`),
  )
  return { name, warning: false, count: missing.length, examples: missing.slice(0, 5) }
}

function urlsOf({ url, formats }: LocalFileRow): readonly string[] {
  let parsed: unknown = null
  try {
    parsed = formats === null ? null : JSON.parse(formats)
  } catch {
    // Formats that are not valid JSON refer to no files.
  }
  const named =
    typeof parsed === 'object' && parsed !== null
      ? (Object.values(parsed) as ({ url?: unknown } | null)[]).map((format) => format?.url)
      : []
  return [url, ...named].filter((each): each is string => typeof each === 'string' && each !== '')
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
