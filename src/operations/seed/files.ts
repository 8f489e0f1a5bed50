// Loads the media library of a seed: seed/files.json, with rows in the format of the content API and the files to copy.
import * as z from 'zod'
import { fileType } from '../../model/schema/link.js'
import type { SeedContext } from './access.js'
import { stored } from './values.js'

const format = z.looseObject({ url: z.string() })

/** The shape of seed/files.json. */
export const seedFilesFile = z.array(
  z.looseObject({
    /** The key for references with `@file:`. */
    key: z.string(),
    /** The path of the file in the project. */
    file: z.string(),
    url: z.string(),
    formats: z.record(z.string(), format).nullish(),
  }),
)
/** One file in seed/files.json. */
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
