// Keeps the file that `octavo types` wrote in step with the schemas that `octavo dev` serves.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientPackages, fileHeader } from '../../../project/description/typescript/print.js'
import { typesFile, typesOf } from '../types.js'

/**
 * Writes the types of the project in `folder` again, if the usual file is there, was written by `octavo types`, and is out of date. Returns
 * the path of a file that was written, or null.
 */
export async function refreshTypes(folder: string): Promise<string | null> {
  const file = join(folder, typesFile)
  const present = textOf(file)
  if (present === null || !present.startsWith(fileHeader)) return null
  const client = clientPackages.find((name) => present.includes(`from '${name}'`))
  const text = await typesOf(folder, { standalone: client === undefined, ...(client && { client }) })
  if (present.replaceAll('\r\n', '\n') === text) return null
  writeFileSync(file, text)
  return typesFile
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
