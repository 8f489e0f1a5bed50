// One operation of the API as data: what a path does with a method, what it needs, takes and returns. All operations of a description are
// a list of these; whoever adds routes to the API adds their operations to it.
import type { Schema } from './schema.js'

export type Method = 'get' | 'post' | 'put' | 'delete'

/** A parameter, or a reference to one. */
export type Parameter = Schema

/** The body of a request. */
export interface RequestBody {
  readonly required: boolean
  /** By media type. */
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>
}

/** An operation. */
export interface Operation {
  readonly method: Method
  /** Below the prefix of the API, with parameters in braces: `/articles/{id}`. */
  readonly path: string
  /** The action that the caller must be granted. */
  readonly action: string
  /** The group that it belongs to: the singular name of a content-type, or the name of a plugin. */
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly body?: RequestBody
  /** The successful response: its status, and the schema of its body if it has one. */
  readonly success: { readonly status: number; readonly description: string; readonly schema?: Schema }
  /** Further statuses that it may return besides those of every operation. */
  readonly errors?: readonly number[]
}

/** The id of an operation in Strapi's style: `article/get/articles_by_id`. */
export function operationId({ tag, method, path }: Operation): string {
  const words = path.slice(1).replaceAll('/{', '_by_').replaceAll('}', '').replaceAll(/[/-]/g, '_')
  return `${tag}/${method}/${words}`
}

/** A JSON body with this schema. */
export const jsonBody = (schema: Schema, required = true): RequestBody => ({ required, content: { 'application/json': { schema } } })

/** A parameter in the path. */
export const inPath = (name: string, description: string, schema: Schema = { type: 'string' }): Parameter => ({
  ...{ name, in: 'path', required: true, description },
  schema,
})

/** A parameter in the query string. */
export const inQuery = (name: string, description: string, schema: Schema, more: Schema = {}): Parameter => ({
  ...{ name, in: 'query', required: false, description },
  schema,
  ...more,
})
