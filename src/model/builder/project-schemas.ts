// Types of the content-type builder: the schemas of a project, and the result of a request.
import { builtinSchemas } from '../schema/builtin.js'
import type { AttributeSource } from '../schema/types.js'
import { schemaPath } from './names.js'

/** Attributes by name, in the order of the file. */
export type BuilderAttributes = Readonly<Record<string, AttributeSource>>

/** The parsed content of a schema file. Keys that Strapi does not write are lost when the file is written. */
export interface SchemaContent {
  /** Absent in components. */
  readonly kind?: string
  readonly collectionName?: string
  readonly info: Readonly<Record<string, unknown>> & {
    readonly singularName?: string
    readonly pluralName?: string
    readonly displayName?: string
  }
  readonly options?: Readonly<Record<string, unknown>>
  readonly pluginOptions?: Readonly<Record<string, unknown>>
  readonly attributes: BuilderAttributes
  readonly config?: unknown
  readonly indexes?: unknown
  readonly foreignKeys?: unknown
}

/** A content-type or component of a project. */
export interface ProjectSchema {
  readonly uid: string
  /** The file, relative to the project, with `/`. Null if there is none: a type of a plugin or of the admin panel. */
  readonly path: string | null
  readonly content: SchemaContent
  /** The uid that a component had before the request moved it to another category. */
  readonly movedFrom?: string
}

/** The schemas of a project, and the context of a change. */
export interface ProjectSchemas {
  /**
   * Types of src/api and src/extensions, components, and the types that Strapi brings along, by uid. The content of the latter is what a
   * file in src/extensions would replace (builtin-types.ts).
   */
  readonly schemas: ReadonlyMap<string, ProjectSchema>
  readonly isTypeScript: boolean
  /** True if Strapi also runs this project, and must be able to start. */
  readonly isStrapis: boolean
  /** Every file below src/, relative to the project, with `/`. */
  readonly files: readonly string[]
  /** The uids of known custom fields (`plugin::color-picker.color`). */
  readonly customFields: ReadonlySet<string>
}

/** The changes of a request, and its response. */
export interface SchemaChange {
  readonly kind: 'change'
  readonly status: number
  readonly body: unknown
  /** The files to write, path → text. */
  readonly files: ReadonlyMap<string, string>
  /** Files to delete, and folders that this empties (with a trailing `/`), parents first. */
  readonly deleted: readonly string[]
  /** The new uids of components that moved to another category, by their former ones. */
  readonly moved: ReadonlyMap<string, string>
  /** All schemas after the change, by uid. */
  readonly schemas: ReadonlyMap<string, ProjectSchema>
}

/** A refused request. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly status: number
  readonly body: unknown
}

/** An error in a request. */
export interface SchemaError {
  readonly path: readonly string[]
  readonly message: string
  readonly value?: unknown
}

/** The schemas while a request is applied. */
export type Draft = Map<string, ProjectSchema>

/** True for `category.name`; uids of types contain `::`. */
export const isComponentUid = (uid: string): boolean => !uid.includes('::')

const builtin = new Map(builtinSchemas.map(({ uid, attributes }) => [uid, Object.keys(attributes)]))

/** True for types that Strapi brings along: they cannot be deleted, with or without a file in src/extensions. */
export const isBuiltin = (uid: string): boolean => builtin.has(uid)

/** The attributes that Strapi brings along for a type. */
export const builtinAttributes = (uid: string): readonly string[] => builtin.get(uid) ?? []

/** Replaces parts of a schema's content. A type of a plugin gets a file in src/extensions. */
export function edit(draft: Draft, uid: string, changed: Partial<SchemaContent>): void {
  const schema = draft.get(uid)!
  draft.set(uid, { ...schema, path: schema.path ?? schemaPath(uid), content: { ...schema.content, ...changed } })
}

/** The attributes of a schema in `draft`; none if there is no such schema. */
export const getAttributes = (draft: ReadonlyMap<string, ProjectSchema>, uid: string): BuilderAttributes =>
  draft.get(uid)?.content.attributes ?? {}

/** An attribute of a schema in `draft`. */
export function getAttribute(draft: ReadonlyMap<string, ProjectSchema>, uid: string, name: string): AttributeSource | undefined {
  const attributes = getAttributes(draft, uid)
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

/** `record` without `names`. */
export const without = <Value>(record: Readonly<Record<string, Value>>, ...names: readonly string[]): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
