// The schemas of an archive, and in what they differ from those of a project.
import { isDeepStrictEqual } from 'node:util'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { type ArchiveLineFile, linesOf } from './lines.js'
import { loadedSchemas } from './loaded-schemas.js'

/** What is needed of a schema. */
export interface ArchivedSchema {
  readonly uid: string
  readonly kind: unknown
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly attributes: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads a schema. Null: the value is none. */
function schemaIn(value: unknown): ArchivedSchema | null {
  if (!isObject(value) || typeof value.uid !== 'string' || !isObject(value.attributes)) return null
  const { uid, kind, options, pluginOptions } = value
  const i18n = isObject(pluginOptions) ? pluginOptions.i18n : undefined
  return {
    uid,
    kind,
    draftAndPublish: isObject(options) && options.draftAndPublish === true,
    localized: isObject(i18n) && i18n.localized === true,
    attributes: Object.fromEntries(
      Object.entries(value.attributes).map(([name, attribute]) => [name, isObject(attribute) ? attribute : {}]),
    ),
  }
}

/** Reads the schemas of an archive, by their uids. @throws ConfigError for a line that is none */
export async function archivedSchemas(files: readonly ArchiveLineFile[], longest: number): Promise<ReadonlyMap<string, ArchivedSchema>> {
  const found = new Map<string, ArchivedSchema>()
  for await (const { text, where } of linesOf(files, longest)) {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      value = null
    }
    const schema = schemaIn(value)
    if (schema === null) throw new ConfigError(`${where} is not a schema. Nothing was changed`)
    found.set(schema.uid, schema)
  }
  if (found.size === 0) throw new ConfigError('The archive has no schemas: it is incomplete, or none of Strapi. Nothing was changed')
  return found
}

/** Words of an attribute that say how it is written, not what it is. */
const harmless: ReadonlySet<string> = new Set(['private', 'required', 'configurable', 'default'])

const compared = (attribute: object): object => Object.fromEntries(Object.entries(attribute).filter(([key]) => !harmless.has(key)))

/**
 * In what the schemas differ, as sentences: attributes that one side lacks, or that are something else there. Types are compared where
 * `isWanted`.
 */
export function schemaDifferences(
  archived: ReadonlyMap<string, ArchivedSchema>,
  model: Model,
  isWanted: (uid: string) => boolean,
): readonly string[] {
  const own = new Map(loadedSchemas(model).map((schema) => [schema.uid, schemaIn(schema)!]))
  return [...archived.values()].flatMap((theirs) => {
    if (!isWanted(theirs.uid)) return []
    const ours = own.get(theirs.uid)
    if (ours === undefined) return [`${theirs.uid}: the project has no such ${theirs.uid.includes('::') ? 'content-type' : 'component'}`]
    const names = new Set([...Object.keys(theirs.attributes), ...Object.keys(ours.attributes)])
    return [...names].flatMap((name) => {
      const [there, here] = [theirs.attributes[name], ours.attributes[name]]
      if (here === undefined) return [`${theirs.uid}.${name}: only the archive has it`]
      if (there === undefined) return [`${theirs.uid}.${name}: only the project has it`]
      const keys = new Set([...Object.keys(compared(there)), ...Object.keys(compared(here))])
      const changed = [...keys].filter((key) => !isDeepStrictEqual(there[key], here[key]))
      return changed.length === 0
        ? []
        : [`${theirs.uid}.${name}: ${changed.map((key) => differenceOf(key, there[key], here[key])).join(', ')}`]
    })
  })
}

/** Characters of an option's value that are shown. */
const shownText = 80

function differenceOf(key: string, there: unknown, here: unknown): string {
  const shown = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value).slice(0, shownText))
  return `${key} is ${shown(there)} in the archive, ${shown(here)} in the project`
}

/**
 * Refuses entities of a type that exist in other versions in the archive than the project has of them.
 * @throws ConfigError with a sentence
 */
export function checkVersions(schema: ArchivedSchema | undefined, model: Model): void {
  const type = schema === undefined ? undefined : model.types.get(schema.uid)
  if (schema === undefined || type === undefined) return
  const differing = [
    ...(schema.draftAndPublish === type.draftAndPublish ? [] : [['Draft & Publish', schema.draftAndPublish] as const]),
    ...(schema.localized === type.localized ? [] : [['Internationalization', schema.localized] as const]),
  ]
  for (const [feature, isOn] of differing)
    throw new ConfigError(
      `${schema.uid} ${isOn ? 'has' : 'does not have'} ${feature} in the archive, but ${isOn ? 'not ' : ''}in the project. Make its schema as it is in the archive, import, and change it back afterwards. Nothing was changed`,
    )
}
