// Validates responses against the API description: finds the operation of a request, and checks the body against its schema, in which
// undescribed members are errors.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

type Json = Readonly<Record<string, unknown>>

/** An OpenAPI document. */
export interface Document extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>
}

/** An operation of a document. */
export interface Operation extends Json {
  readonly operationId: string
  readonly responses: Readonly<Record<string, Json>>
}

/** Checks responses against one document. */
export interface Checker {
  /** True if the document has an operation for a request. */
  has(method: string, path: string): boolean
  /** Returns the error of a response to a request; null: it is as described. */
  problem(method: string, path: string, status: number, body: unknown): string | null
}

/** Forbids members that are not described. Schemas that others add to stay open themselves. */
function closed(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one, isPart))
  if (typeof value !== 'object' || value === null) return value
  const isWhole = !isPart && ('$ref' in value || 'allOf' in value || 'properties' in value) && !('additionalProperties' in value)
  const inner = Object.entries(value).map(([key, one]) => [key, key === 'mapping' ? one : closed(one, key === 'allOf')] as const)
  return { ...Object.fromEntries(inner), ...(isWhole ? { unevaluatedProperties: false } : {}) }
}

/** The schemas of components, which are closed where they are referenced instead of in themselves. */
function closedDocument({ paths, components }: Document): Json {
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) => {
    const { unevaluatedProperties: _, ...open } = closed(schema) as Json
    return [name, open]
  })
  return { paths: closed(paths) as Json, components: { schemas: Object.fromEntries(schemas), responses: closed(components.responses) } }
}

/** Opens a checker. `prefix`: where the paths of the document begin. */
export function openChecker(document: Document, prefix = '/api'): Checker {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  // Times may be outside of the four-digit years of RFC 3339.
  ajv.addFormat('date-time', /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  ajv.addSchema(closedDocument(document), 'api')
  const compiled = new Map<string, ValidateFunction>()
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`, 'i'),
    isFixed: !path.includes('{'),
  }))
  // Paths without parameters come first: /users/me is not /users/{id}.
  templates.sort((a, b) => Number(b.isFixed) - Number(a.isFixed))

  function validator(pointer: string): ValidateFunction {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` })
    compiled.set(pointer, known)
    return known
  }

  const pathOf = (url: string): string => decodeURI(url.slice(prefix.length).split('?')[0]!).replace(/\/$/, '')
  function find(method: string, path: string) {
    const template = templates.find(({ pattern }) => pattern.test(path))
    return { template, operation: template === undefined ? undefined : document.paths[template.path]![method.toLowerCase()] }
  }

  return {
    has: (method, url) => find(method, pathOf(url)).operation !== undefined,
    problem(method, url, status, body) {
      const path = pathOf(url)
      const { template, operation } = find(method, path)
      if (operation === undefined) return `${method} ${path} is not described`
      const response = operation.responses[status]
      if (response === undefined) return `${operation.operationId} has no response ${status}`
      const isEmpty = !('content' in response) && !('$ref' in response)
      if (isEmpty) return body === null || body === '' ? null : `${operation.operationId} ${status} has a body`
      const encoded = template!.path.replaceAll('~', '~0').replaceAll('/', '~1')
      const own = `/paths/${encoded}/${method.toLowerCase()}/responses/${status}`
      const pointer = '$ref' in response ? String(response.$ref).slice(1) : own
      const validate = validator(`${pointer}/content/application~1json/schema`)
      if (validate(body)) return null
      const [error] = validate.errors ?? []
      return `${operation.operationId} ${status}: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`
    },
  }
}
