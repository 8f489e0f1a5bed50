// Schema files that are older than the model of the database: changes of it were made while this process was not there.
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../foundation/config/config.js'
import { allSchemas } from '../../model/schema/graph.js'
import type { FileChanges } from '../../model/schema/schema-files.js'
import type { Model, SchemaSource } from '../../model/schema/types.js'
import type { RecordedChange } from './change-log.js'
import { differencesOf, isSchema, type SchemaTexts } from './change-log.js'

/**
 * The files that are still as a change of the model found them, with their texts of today: the change was made while this process was not
 * there. Where the model may be changed in production, processes have separate folders, and the code that was written with the files is
 * among them. Where it is locked, such files are those of an older deployment. A service then serves the newer model if it only adds to
 * theirs (`onlyAddsTo`), because to take the additions back would take them from newer processes too.
 */
export function filesBehind(
  { production, modelChanges }: Config,
  isCommand: boolean,
  changes: readonly RecordedChange[],
  { texts, stored }: { readonly texts: SchemaTexts; readonly stored: SchemaTexts },
): FileChanges {
  if (!production || (isCommand && !modelChanges)) return new Map()
  const isBehind = (path: string): boolean =>
    changes.some(({ former }) => former.has(path) && former.get(path) === (texts.get(path) ?? null))
  const behind = new Map([...differencesOf(texts, stored)].filter(([path]) => isBehind(path)))
  if (!modelChanges) return behind
  const code = changes
    .filter(({ files }) => [...files.keys()].some((path) => behind.has(path)))
    .flatMap(({ files }) => [...files].filter(([path]) => !isSchema(path)))
  return new Map([...code, ...behind])
}

/**
 * Whether a model has everything of another one unchanged, plus further types, components and attributes. Steps do not
 * show that: who may read an attribute, and which values are valid, is no matter of tables.
 */
export function onlyAddsTo(older: Model, newer: Model): boolean {
  const sources = new Map(allSchemas(newer).map(({ uid, source }) => [uid, source]))
  return allSchemas(older).every(({ uid, source }) => {
    const now = sources.get(uid)
    return now !== undefined && isExtended(source, now)
  })
}

function isExtended({ attributes, ...options }: SchemaSource, { attributes: now, ...optionsNow }: SchemaSource): boolean {
  const isSame = ([name, attribute]: readonly [string, unknown]): boolean =>
    Object.hasOwn(now, name) && isDeepStrictEqual(attribute, now[name])
  return isDeepStrictEqual(options, optionsNow) && Object.entries(attributes).every(isSame)
}
