// One operation of the API as data: path, method, permission, input and output. All operations of a description are
// a list of these; new routes of the API add their operations to it.
import type { DescriptionObject } from './schema.js'

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A parameter, or a reference to one. */
export type DescribedParameter = DescriptionObject

/** The body of a request. */
interface RequestBody {
  readonly required: boolean
  /** By media type. */
  readonly content: Readonly<Record<string, { readonly schema: DescriptionObject }>>
}

export interface DescriptionReader {
  /** True if the reader may perform an action. */
  may(action: string): boolean
  /** True if an action needs no credentials. */
  isOpen(action: string): boolean
}

/** A response: its status, and the schema of its body if it has one. */
export interface OperationResponse {
  readonly status: number
  readonly description: string
  readonly schema?: DescriptionObject
  /** Default: JSON. */
  readonly mediaType?: string
}

/** An operation. */
export interface ApiOperation {
  readonly method: HttpMethod
  /** Below the prefix of the API, with parameters in braces: `/articles/{id}`. */
  readonly path: string
  /** True: the path is below nothing, not below the prefix. */
  readonly isAtRoot?: boolean
  /** The action that the caller must be granted; null: everybody may call it. */
  readonly action: string | null
  /** The group that it belongs to: the singular name of a content-type, or the name of a plugin. */
  readonly tag: string
  /** The groups that it is shown in, if not in that of `tag`. */
  readonly tags?: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly DescribedParameter[]
  readonly body?: RequestBody
  /** The successful response. */
  readonly success: OperationResponse
  /** Further responses; they take the place of errors with the same status. */
  readonly others?: readonly OperationResponse[]
  /** Statuses of errors in addition to those of every operation. */
  readonly errors?: readonly number[]
}

/** The id of an operation in Strapi's style: `article/get/articles_by_id`. */
export function operationId({ tag, method, path, isAtRoot }: ApiOperation): string {
  const words = path.slice(1).replaceAll('/{', '_by_').replaceAll('}', '').replaceAll(/[/-]/g, '_')
  return `${isAtRoot === true ? 'root-' : ''}${tag}/${method}/${words}`
}

/** A JSON body with this schema. */
export const jsonBody = (schema: DescriptionObject, required = true): RequestBody => ({
  required,
  content: { 'application/json': { schema } },
})

/** A parameter in the path. */
export const inPath = (name: string, description: string, schema: DescriptionObject = { type: 'string' }): DescribedParameter => ({
  ...{ name, in: 'path', required: true, description },
  schema,
})

/** A parameter in the query string. */
export const inQuery = (
  name: string,
  description: string,
  schema: DescriptionObject,
  more: DescriptionObject = {},
): DescribedParameter => ({
  ...{ name, in: 'query', required: false, description },
  schema,
  ...more,
})

/** Paths that differ in names of parameters alone are the same. */
const shapeOf = (path: string): string => path.toLowerCase().replaceAll(/\{\w+\}/g, '{}')

/**
 * Returns the path items. `root`: the server of routes below nothing. Such a route may have the path of another one that is below the
 * prefix; it is then described with a slash at its end, which has no meaning to the service.
 */
export function pathItems(
  operations: readonly ApiOperation[],
  root: string,
  print: (operation: ApiOperation) => DescriptionObject,
): Readonly<Record<string, DescriptionObject>> {
  const items: Record<string, Record<string, unknown>> = {}
  const taken = new Set(operations.filter(({ isAtRoot }) => isAtRoot !== true).map(({ path }) => shapeOf(path)))
  for (const operation of operations) {
    const { isAtRoot, path, method } = operation
    const key = isAtRoot === true && taken.has(shapeOf(path)) ? `${path}/` : path
    items[key] ??= isAtRoot === true ? { servers: [{ url: root }] } : {}
    items[key][method] = print(operation)
  }
  return items
}
