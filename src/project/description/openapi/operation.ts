// An operation of the API as data: path, method, permission, input and output. A description is a list of these.
import type { DescriptionObject } from './schema.js'

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** A parameter, or a reference to one. */
export type DescribedParameter = DescriptionObject

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

export interface OperationResponse {
  readonly status: number
  readonly description: string
  readonly schema?: DescriptionObject
  /** Default: JSON. */
  readonly mediaType?: string
}

export interface ApiOperation {
  readonly method: HttpMethod
  /** Relative to the prefix of the API, with parameters in braces: `/articles/{id}`. */
  readonly path: string
  /** True: the path is absolute, not relative to the prefix. */
  readonly isAtRoot?: boolean
  /** The required action; null: public. */
  readonly action: string | null
  /** Group: singular name of a content-type, or name of a plugin. */
  readonly tag: string
  /** Groups for display; default: `tag`. */
  readonly tags?: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly DescribedParameter[]
  readonly body?: RequestBody
  readonly success: OperationResponse
  /** Further responses; these replace errors with the same status. */
  readonly others?: readonly OperationResponse[]
  /** Statuses of errors in addition to the common ones. */
  readonly errors?: readonly number[]
}

/** Everything of an operation but what identifies it. */
export type OperationDetails = Omit<ApiOperation, 'method' | 'path' | 'action' | 'tag' | 'summary'>

/** An operation at a route, such as `get /users`. */
export function operationAt(
  route: `${HttpMethod} ${string}`,
  action: string,
  tag: string,
  summary: string,
  details: OperationDetails,
): ApiOperation {
  const [method, path] = route.split(' ') as [HttpMethod, string]
  return { method, path, action, tag, summary, ...details }
}

/** Operation id in Strapi's style: `article/get/articles_by_id`. */
export function operationId({ tag, method, path, isAtRoot }: ApiOperation): string {
  const words = path.slice(1).replaceAll('/{', '_by_').replaceAll('}', '').replaceAll(/[/-]/g, '_')
  return `${isAtRoot === true ? 'root-' : ''}${tag}/${method}/${words}`
}

export const jsonBody = (schema: DescriptionObject, required = true): RequestBody => ({
  required,
  content: { 'application/json': { schema } },
})

export const inPath = (name: string, description: string, schema: DescriptionObject = { type: 'string' }): DescribedParameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
})

export const inQuery = (
  name: string,
  description: string,
  schema: DescriptionObject,
  more: DescriptionObject = {},
): DescribedParameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  ...more,
})

/** Normalizes a path: names of parameters do not distinguish paths. */
const shapeOf = (path: string): string => path.toLowerCase().replaceAll(/\{\w+\}/g, '{}')

/**
 * Returns the path items. `root`: server of absolute routes. If such a route has the same path as one relative to the prefix, it is
 * described with a trailing slash, which the service ignores.
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
