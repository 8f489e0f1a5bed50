// Merges the schemas of extensions (src/extensions) over built-in types key by key, as Strapi does. A file may have only some keys.
import { ConfigError } from '../../foundation/errors/errors.js'
import { builtinSchemas } from './builtin.js'
import type { AttributeSource, SchemaSource } from './types.js'

/** The content of the file, with the uid of the extended type. */
interface ExtensionSource {
  readonly uid: string
  readonly info?: SchemaSource['info'] | undefined
  readonly attributes?: SchemaSource['attributes'] | undefined
  readonly [key: string]: unknown
}

export interface ExtensionFile {
  readonly file: string
  readonly schema: ExtensionSource
}

/** A built-in type merged with an extension. */
interface Extended {
  readonly schema: SchemaSource
  readonly file: string
  /** Warnings about missing attributes. */
  readonly warnings: readonly string[]
}

/** Attributes of users that the project omits are hidden. */
const users = 'plugin::users-permissions.user'

/** Built-in types that Octavo itself uses; their relations must keep their targets. */
const ownUse = /^plugin::(?:users-permissions|upload|i18n)\./

/**
 * Merges extensions over the built-in types; those of other plugins are ignored. `attributes` is replaced as a whole, including the order.
 * Missing attributes of the plugin are added, since Octavo uses them; in users they are private. The table keeps its name. `wereInForce`:
 * skips the check of attributes that Octavo uses.
 * @throws ConfigError that names the file if an attribute that Octavo uses has another type
 */
export const extendBuiltin = (extensions: readonly ExtensionFile[], wereInForce: boolean): readonly Extended[] =>
  extensions.flatMap(({ file, schema }) => {
    const builtin = builtinSchemas.find(({ uid }) => uid === schema.uid)
    if (builtin === undefined) return []
    if (!wereInForce) refuseOthers(builtin, schema.attributes ?? {}, file)
    return [mergeExtension(builtin, schema, file)]
  })

function mergeExtension(builtin: SchemaSource, { uid, ...given }: ExtensionSource, file: string): Extended {
  const own = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const { attributes = builtin.attributes } = given
  const lacking = Object.entries(builtin.attributes).filter(([name]) => attributes[name] === undefined)
  const isHidden = uid === users
  const kept = lacking.map(([name, source]) => [name, isHidden ? { ...source, private: true, searchable: false } : source] as const)
  const versions = splitVersions(own)
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
      ...(lacking.length === 0 ? [] : [missingAttributesWarning(uid, file, lacking)]),
      ...versions.named.map((name) => `${file}: ${name} has no effect: a row of ${uid} has no drafts and no versions in other locales`),
    ],
  }
}

/** Drafts and locales that the plugin's type does not have. Strapi shows the rows of all versions there, and links only some. */
function splitVersions({ options, pluginOptions }: Pick<SchemaSource, 'options' | 'pluginOptions'>) {
  const { i18n, ...others } = pluginOptions ?? {}
  return {
    without: { ...(options && { options: { ...options, draftAndPublish: false } }), ...(pluginOptions && { pluginOptions: others }) },
    named: [
      ...(options?.draftAndPublish === true ? ['options.draftAndPublish'] : []),
      ...(i18n?.localized === true ? ['pluginOptions.i18n.localized'] : []),
    ],
  }
}

function missingAttributesWarning(uid: string, file: string, lacking: readonly (readonly [string, AttributeSource])[]): string {
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
