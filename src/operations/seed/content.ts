// Inserts a seed's documents: first a row per version and locale, then, when all ids are known, relations and components (links.ts).

import * as z from 'zod'
import { fileType } from '../../model/schema/link.js'
import type { ContentType, Scalar } from '../../model/schema/types.js'
import { type Linking, type SeedContext, type SeedRow, type SeedValues, type State, scalars, stored, writeBelow } from './links.js'

const attributes = z.record(z.string(), z.unknown())
const time = z.string().optional()
const times = { createdAt: time, updatedAt: time, publishedAt: time }
const document = z.strictObject({
  key: z.string(),
  /** Generated if missing. */
  documentId: z.string().optional(),
  ...times,
  /** By locale; `-` for types that are not localized. */
  locales: z.record(z.string(), z.strictObject({ published: attributes.optional(), draft: attributes.optional() })),
})

/** The format of files in seed/content/. */
export const seedContentFile = z.strictObject({ uid: z.string(), documents: z.array(document) })
export type SeedContent = z.infer<typeof seedContentFile>

type SeedDocument = SeedContent['documents'][number]

const userType = 'plugin::users-permissions.user'

export function seedContent(contents: readonly SeedContent[], context: Omit<Linking, 'rows' | 'orders'>): void {
  const rows = new Map<string, readonly SeedRow[]>(
    [...context.users].map(([name, id]) => [`${userType}:${name}`, [{ id, state: 'only', locale: null }]]),
  )
  const writing: Linking = { ...context, rows, orders: new Map() }
  const written: { type: ContentType; row: SeedRow; values: SeedValues; where: string }[] = []
  for (const { uid, documents } of contents) {
    const type = context.model.types.get(uid)!
    for (const each of documents) {
      const address = `${uid}:${each.key}`
      if (rows.has(address)) throw new Error(`the seed has two documents of ${uid} with the key ${each.key}`)
      const documentId = each.documentId ?? context.newDocumentId()
      const versions = versionsOf(type, each).map((version) => {
        const { state, locale, values } = version
        const where = `seed of ${uid}, ${each.key} (${locale === null ? '' : `${locale}, `}${state})`
        const columns = {
          document_id: documentId,
          ...scalars(type, values, where),
          ...rowDates(type, each, version, context.now, where),
          locale,
        }
        const row = { id: context.insert(type.table, columns), state, locale }
        written.push({ type, row, values, where })
        return row
      })
      rows.set(address, versions)
    }
  }
  for (const { type, row, values, where } of written) writeBelow({ shape: type, id: row.id, row, where }, values, writing)
}

interface SeedVersion {
  readonly state: State
  readonly locale: string | null
  readonly values: SeedValues
  /** True for a published version with a modified draft. */
  readonly outdated: boolean
}

/** Returns the versions of a document in Strapi's order: per locale, draft before published version. */
function versionsOf(type: ContentType, { key, locales }: SeedDocument): readonly SeedVersion[] {
  const entries = Object.entries(locales)
  const [first] = entries
  return entries.flatMap(([code, { published, draft }]): readonly SeedVersion[] => {
    const locale = type.localized ? code : null
    if (type.localized === (code === '-'))
      throw new Error(`${type.uid} is ${type.localized ? '' : 'not '}localized, unlike "${key}" ("${code}")`)
    if (published === undefined && draft === undefined) return []
    const own = published ?? draft!
    const shared = first![1].published ?? first![1].draft ?? {}
    if (!type.draftAndPublish) return [{ state: 'only', locale, values: complete(type, own, shared), outdated: false }]
    const versions: SeedVersion[] = [
      { state: 'draft', locale, values: complete(type, draft ?? own, first![1].draft ?? shared), outdated: false },
    ]
    if (published !== undefined)
      versions.push({ state: 'published', locale, values: complete(type, published, shared), outdated: draft !== undefined })
    return versions
  })
}

/** Copies missing attributes that are not localized from the first locale. */
function complete(type: ContentType, own: SeedValues, first: SeedValues): SeedValues {
  const shared = Object.entries(first).filter(([name]) => own[name] === undefined && type.attributes.get(name)?.localized === false)
  return { ...own, ...Object.fromEntries(shared) }
}

/**
 * Dates of a row: from its attributes, else from the document, else now. An outdated version was last updated when it was published; the
 * document's `updatedAt` applies to its draft.
 */
function rowDates(type: ContentType, each: SeedDocument, { state, values, outdated }: SeedVersion, now: Date, where: string) {
  const time = (name: 'createdAt' | 'updatedAt' | 'publishedAt', otherwise: number): number => {
    const attribute = type.attributes.get(name) as Scalar
    return Number(stored(attribute, values[name] ?? each[name] ?? otherwise, `${where}, ${name}`))
  }
  const created_at = time('createdAt', now.getTime())
  const written = time('updatedAt', created_at)
  const updated_at = outdated && values.updatedAt === undefined ? Math.min(written, time('publishedAt', written)) : written
  return { created_at, updated_at, published_at: state === 'draft' ? null : time('publishedAt', updated_at) }
}

const format = z.looseObject({ url: z.string() })

/** The format of seed/files.json. */
export const seedFilesFile = z.array(
  z.looseObject({
    /** Key for references with `@file:`. */
    key: z.string(),
    /** Path of the file in the project. */
    file: z.string(),
    url: z.string(),
    formats: z.record(z.string(), format).nullish(),
  }),
)
export type SeedFile = z.infer<typeof seedFilesFile>[number]

/** Inserts the rows and returns their ids by key. */
export function seedFileRows(files: readonly SeedFile[], { model, insert, newDocumentId, now }: SeedContext): ReadonlyMap<string, number> {
  const type = model.types.get(fileType)!
  const ids = new Map<string, number>()
  for (const file of files) {
    const time = now.toISOString()
    const values: Readonly<Record<string, unknown>> = {
      documentId: newDocumentId(),
      provider: 'local',
      folderPath: '/',
      createdAt: time,
      updatedAt: time,
      publishedAt: time,
      ...file,
    }
    const row = Object.entries(values).flatMap(([name, value]) => {
      const attribute = type.attributes.get(name)
      if (attribute?.kind !== 'scalar' || name === 'id') return []
      return [[attribute.column, stored(attribute, value, `the seed's file ${file.key}, ${name}`)] as const]
    })
    if (ids.has(file.key)) throw new Error(`the seed has two files with the key ${file.key}`)
    ids.set(file.key, insert(type.table, Object.fromEntries(row)))
  }
  return ids
}
