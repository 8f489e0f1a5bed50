// Which parts of a project an archive has, or an import replaces: Strapi's options --only, --exclude and those for content-types.

import { didYouMean } from '../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { fileType } from '../../model/schema/link.js'

/** The options as they are given: names separated by commas. */
export interface PartOptions {
  readonly only?: string
  readonly exclude?: string
  readonly onlyContentTypes?: string
  readonly excludeContentTypes?: string
}

/** What belongs to an export or an import. */
export interface ArchiveScope {
  /** Entities and links. */
  readonly content: boolean
  /** The bytes of uploads. */
  readonly files: boolean
  /** Settings and webhooks. */
  readonly configuration: boolean
  /** Whether the entities of a content-type belong to it. */
  hasType(uid: string): boolean
  /** Whether this is all content. */
  readonly isWhole: boolean
}

const parts = ['content', 'files', 'config'] as const
const excludable = [...parts, 'media-library'] as const

const isMediaLibrary = (uid: string): boolean => uid.startsWith('plugin::upload.')

/** Whether an archive may have entities of a type: those of the admin panel and its releases stay where they are. */
export const isExportable = (uid: string): boolean => !uid.startsWith('admin::') && !uid.startsWith('plugin::content-releases.')

/** Reads the options. `types`: the content-types that may be named. @throws ConfigError for a name that does not exist */
export function scopeOf(options: PartOptions, types: Iterable<string>): ArchiveScope {
  const known = [...types].filter(isExportable)
  const only = namesOf('--only', options.only, parts)
  const exclude = namesOf('--exclude', options.exclude, excludable)
  const onlyTypes = namesOf('--only-content-types', options.onlyContentTypes, known)
  const excludedTypes = namesOf('--exclude-content-types', options.excludeContentTypes, known)
  const has = (part: (typeof parts)[number]): boolean => (only === null || only.has(part)) && exclude?.has(part) !== true
  const hasMedia = exclude?.has('media-library') !== true
  const hasType = (uid: string): boolean =>
    isExportable(uid) &&
    (onlyTypes === null || onlyTypes.has(uid)) &&
    excludedTypes?.has(uid) !== true &&
    (hasMedia || !isMediaLibrary(uid))
  return {
    content: has('content'),
    files: has('files') && hasMedia && (!has('content') || hasType(fileType)),
    configuration: has('config'),
    hasType,
    isWhole: has('content') && known.every(hasType),
  }
}

function namesOf(option: string, text: string | undefined, known: readonly string[]): ReadonlySet<string> | null {
  if (text === undefined) return null
  const names = text.split(',').map((name) => name.trim())
  for (const name of names) {
    if (known.includes(name)) continue
    throw new ConfigError(`${option} names "${name}", which does not exist${didYouMean(name, known)}`)
  }
  return new Set(names)
}
