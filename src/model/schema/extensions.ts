// Lays the schema of an extension (src/extensions) over that of a built-in type, key by key, as Strapi does. A file may have only some keys.
import { ConfigError } from '../../foundation/errors/errors.js'
import { builtinSchemas } from './builtin.js'
import type { AttributeSource, SchemaSource } from './types.js'

/** The schema of an extension: what its file has, under the uid of the type that it extends. */
export interface ExtensionSource {
  readonly uid: string
  readonly info?: SchemaSource['info'] | undefined
  readonly attributes?: SchemaSource['attributes'] | undefined
  readonly [key: string]: unknown
}

/** An extension with its file. */
export interface ExtensionFile {
  readonly file: string
  readonly schema: ExtensionSource
}

/** A built-in type with the extension of a project laid over it. */
export interface Extended {
  readonly schema: SchemaSource
  readonly file: string
  /** Warnings about what the file leaves out, as sentences. */
  readonly warnings: readonly string[]
}

/** The type whose attributes are about people: what the project leaves out is not shown. */
const users = 'plugin::users-permissions.user'

/** Built-in types that Octavo itself reads and writes; a relation of theirs has to lead where it does. */
const ownUse = /^plugin::(?:users-permissions|upload|i18n)\./

/**
 * Lays extensions over the built-in types; those of other plugins are left out. `attributes` is replaced as a whole, including the order. What
 * the file lacks of the plugin's attributes stays, since Octavo uses it; in users it is private. The table keeps its name. `wereInForce`: an
 * attribute that Octavo uses may be something else.
 * @throws ConfigError with a sentence that names the file if an attribute that Octavo uses is something else
 */
export const extendBuiltin = (extensions: readonly ExtensionFile[], wereInForce: boolean): readonly Extended[] =>
  extensions.flatMap(({ file, schema }) => {
    const builtin = builtinSchemas.find(({ uid }) => uid === schema.uid)
    if (builtin === undefined) return []
    if (!wereInForce) refuseOthers(builtin, schema.attributes ?? {}, file)
    return [extended(builtin, schema, file)]
  })

function extended(builtin: SchemaSource, { uid, ...given }: ExtensionSource, file: string): Extended {
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const { attributes = builtin.attributes } = given
  const lacking = Object.entries(builtin.attributes).filter(([name]) => attributes[name] === undefined)
  const isHidden = uid === users
  const kept = lacking.map(([name, source]) => [name, isHidden ? { ...source, private: true, searchable: false } : source] as const)
  const versions = versionsOf(own)
  return {
    file,
    schema: {
      ...builtin,
      ...own,
      ...versions.without,
      info: { ...builtin.info, ...given.info },
      collectionName: builtin.collectionName!,
      attributes: { ...attributes, ...Object.fromEntries(kept) },
    },
    warnings: [
      ...(lacking.length === 0 ? [] : [sentenceOf(uid, file, lacking)]),
      ...versions.named.map((name) => `${file}: ${name} has no effect: a row of ${uid} has no drafts and no versions in other locales`),
    ],
  }
}

/** Drafts and locales of a type that the plugin has without them. Strapi shows rows of all versions there, and links only some. */
function versionsOf({ options, pluginOptions }: Pick<SchemaSource, 'options' | 'pluginOptions'>) {
  const { i18n, ...others } = pluginOptions ?? {}
  return {
    without: { ...(options && { options: { ...options, draftAndPublish: false } }), ...(pluginOptions && { pluginOptions: others }) },
    named: [
      ...(options?.draftAndPublish === true ? ['options.draftAndPublish'] : []),
      ...(i18n?.localized === true ? ['pluginOptions.i18n.localized'] : []),
    ],
  }
}

function sentenceOf(uid: string, file: string, lacking: readonly (readonly [string, AttributeSource])[]): string {
  const names = lacking.map(([name]) => name).join(', ')
  const shown = uid === users ? ', and shows them in no response' : ''
  return `${file}: attributes takes the place of all attributes of ${uid}, and lacks ${names}. Octavo keeps them for its own use${shown}; Strapi serves the type without them`
}

function refuseOthers({ uid, attributes: needed }: SchemaSource, given: Readonly<Record<string, AttributeSource>>, file: string): void {
  if (!ownUse.test(uid)) return
  for (const [name, { type, target }] of Object.entries(needed)) {
    const source = given[name]
    if (source === undefined) continue
    const isSame = (source.type === 'relation') === (type === 'relation') && source.target === target
    if (isSame && !['component', 'dynamiczone', 'media'].includes(source.type)) continue
    const words = type === 'relation' ? `a relation to ${String(target ?? 'any type')}` : `of the type ${type}`
    throw new ConfigError(`${file}: attributes.${name} has to be ${words}, as in ${uid} of Strapi, which Octavo uses`)
  }
}
