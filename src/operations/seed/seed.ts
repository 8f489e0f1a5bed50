// Loads a project's seed/ folder into an empty database, in one transaction: locales, roles, users, files and documents. Inserts rows
// directly, in Strapi's layout (decision 001).
import { access, chmod, constants, copyFile, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Database } from 'better-sqlite3'
import * as z from 'zod'
import { bulkInsert } from '../../database/sqlite/initial-rows.js'
import { makeUploadsFolder, onUploadsFolder } from '../../foundation/config/storage.js'
import { withoutMark } from '../../foundation/runtime/file-operations.js'
import type { Model } from '../../model/schema/types.js'
import { quoted } from '../../model/tables/table.js'
import { type SeedContent, type SeedFile, seedContent, seedContentFile, seedFileRows, seedFilesFile } from './content.js'
import { type SeedAccess, type SeedContext, seedAccess, seedAccessFile } from './links.js'

interface SeedOptions extends Omit<SeedContext, 'model' | 'insert'> {
  /** The uploads folder of the service. */
  readonly uploadsFolder: string
}

interface Seed {
  readonly access: SeedAccess
  readonly files: readonly SeedFile[]
  readonly contents: readonly SeedContent[]
}

/**
 * Loads `seed/` of the project in `folder` and returns the number of documents; 0 without such a folder.
 * @throws Error with a sentence if a file is invalid or references something missing, or if the database has content
 */
export async function seedProject(folder: string, database: Database, model: Model, options: SeedOptions): Promise<number> {
  const seed = await readSeed(join(folder, 'seed'))
  if (seed === null) return 0
  for (const { uid } of seed.contents) {
    const type = model.types.get(uid)
    if (type === undefined) throw new Error(`the seed has documents of ${uid}, which is not a type of this project`)
    const taken = database.prepare(`SELECT 1 FROM ${quoted(type.table)} LIMIT 1`).get()
    if (taken !== undefined) throw new Error(`${uid} already has documents; a seed can only be loaded into an empty project`)
  }
  await copyUploads(folder, seed.files, options.uploadsFolder)
  const context = { model, insert: bulkInsert(database), ...options }
  database.transaction(() => {
    const { users, defaultLocale } = seedAccess(seed.access, database, context)
    const files = seedFileRows(seed.files, context)
    seedContent(seed.contents, { ...context, database, users, files, defaultLocale })
  })()
  const documents = seed.contents.reduce((sum, content) => sum + content.documents.length, 0)
  options.report(
    `seed: ${documents} documents of ${seed.contents.length} types, ${seed.files.length} files, ${seed.access.users.length} users`,
  )
  return documents
}

async function readSeed(folder: string): Promise<Seed | null> {
  const names = await listed(folder)
  if (names === null) return null
  const contentNames = ((await listed(join(folder, 'content'))) ?? []).filter((name) => name.endsWith('.json')).sort()
  const [access, files, contents] = await Promise.all([
    names.includes('access.json') ? readJson(join(folder, 'access.json'), seedAccessFile) : seedAccessFile.parse({}),
    names.includes('files.json') ? readJson(join(folder, 'files.json'), seedFilesFile) : [],
    Promise.all(contentNames.map((name) => readJson(join(folder, 'content', name), seedContentFile))),
  ])
  return { access, files, contents }
}

async function listed(folder: string): Promise<string[] | null> {
  try {
    return await readdir(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function readJson<Shape>(file: string, shape: z.ZodType<Shape>): Promise<Shape> {
  const text = await readFile(file, 'utf8')
  let json: unknown
  try {
    json = JSON.parse(withoutMark(text))
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${(error as Error).message}`)
  }
  const parsed = shape.safeParse(json)
  if (!parsed.success) throw new Error(`${file} is not a seed file: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** Copies all files and their formats under the names in their URLs, with the permissions of the uploads folder. */
async function copyUploads(folder: string, files: readonly SeedFile[], uploadsFolder: string): Promise<void> {
  await makeUploadsFolder(uploadsFolder)
  await onUploadsFolder(uploadsFolder, () => access(uploadsFolder, constants.W_OK))
  const mode = (await stat(uploadsFolder)).mode & 0o666
  const copy = async (from: string, name: string): Promise<void> => {
    const to = join(uploadsFolder, basename(name))
    await copyFile(from, to)
    await chmod(to, mode)
  }
  for (const { file, url, formats } of files) {
    const source = join(folder, file)
    if (relative(folder, source).startsWith('..')) throw new Error(`the seed's file ${file} is outside the project`)
    await copy(source, url)
    for (const format of Object.values(formats ?? {})) await copy(join(dirname(source), basename(format.url)), format.url)
  }
}
