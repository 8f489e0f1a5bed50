// The operations of the routes that a project adds, as far as their schemas and `response` describe what they take and return.
import { isByStatus } from '../../../../foundation/config/routes.js'
import type { CustomRoute } from '../../../../foundation/public/routes.js'
import type { JsonSchema, StandardSchema } from '../../../../foundation/public/standard-schema.js'
import { type DescribedValue, describedValue } from '../json-schema.js'
import { type ApiOperation, type DescribedParameter, type HttpMethod, inPath, jsonBody, type OperationResponse } from '../operation.js'
import type { Components, DescriptionObject } from '../schema.js'

/** The routes of a project. */
export const customOperations = (components: Components, routes: readonly CustomRoute[]): readonly ApiOperation[] =>
  routes.map((route) => operationOf(components, route))

function operationOf(components: Components, route: CustomRoute): ApiOperation {
  const { method, path, base, action, summary, description, tags } = route
  const words = [...(base === 'root' ? ['root'] : []), method.toLowerCase(), ...(path.match(/\w+/g) ?? [])].join('-')
  const describe = (part: string, schema: JsonSchema | StandardSchema, side: 'input' | 'output') =>
    describedValue(components, `${words}-${part}`, schema, side)
  const [success, ...others] = responsesOf(route, describe)
  return {
    ...{ method: method.toLowerCase() as HttpMethod, path: path.replaceAll(/:(\w+)/g, '{$1}') },
    ...{ action: action ?? null, tag: 'routes', summary: summary ?? `${method} ${path}` },
    ...(base === 'root' ? { isAtRoot: true } : {}),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(description === undefined ? {} : { description }),
    parameters: [...pathParameters(route, describe), ...queryParameters(route, describe)],
    ...bodyOf(route, describe),
    ...{ success: success!, others, errors: [404, 503] },
  }
}

/** Describes a part of a route. */
type Describe = (part: string, schema: JsonSchema | StandardSchema, side: 'input' | 'output') => DescribedValue

/** The members of an object, by name. */
function membersOf({ properties }: DescriptionObject): Readonly<Record<string, DescriptionObject>> {
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, DescriptionObject>) : {}
}

function pathParameters({ path, params }: CustomRoute, describe: Describe): readonly DescribedParameter[] {
  const members = params === undefined ? {} : membersOf(describe('params', params, 'input').whole)
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const { description = 'A part of the path.', ...schema } = members[name!] ?? { type: 'string' }
    return inPath(name!, String(description), schema)
  })
}

function queryParameters({ query }: CustomRoute, describe: Describe): readonly DescribedParameter[] {
  if (query === undefined) return []
  const { whole } = describe('query', query, 'input')
  const required: readonly unknown[] = Array.isArray(whole.required) ? whole.required : []
  return Object.entries(membersOf(whole)).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: required.includes(name) },
    ...(description === undefined ? {} : { description }),
    schema,
    ...(schema.type === 'object' ? { style: 'deepObject', explode: true } : {}),
  }))
}

function bodyOf({ body }: CustomRoute, describe: Describe): Pick<ApiOperation, 'body'> {
  switch (body) {
    case undefined:
      return {}
    case 'json':
      return { body: jsonBody({}, false) }
    case 'raw':
    case 'stream':
      return { body: { required: true, content: { 'application/octet-stream': { schema: {} } } } }
    default:
      return { body: jsonBody(describe('body', body, 'input').schema) }
  }
}

/** The responses that a route declares, successful ones first. */
function responsesOf({ response }: CustomRoute, describe: Describe): readonly OperationResponse[] {
  if (response === undefined)
    return [{ status: 200, description: 'What the function of the project returns.', schema: {}, mediaType: '*/*' }]
  const declared = isByStatus(response) ? Object.entries(response) : [['200', response] as const]
  return declared.map(([status, schema]) => {
    if (schema === null) return { status: Number(status), description: 'No body.' }
    return { status: Number(status), ...bodyOfResponse(describe(`response-${status}`, schema, 'output')) }
  })
}

/** `contentMediaType` of a text or of bytes is the type of the response. */
function bodyOfResponse({ schema: given, whole }: DescribedValue): Omit<OperationResponse, 'status'> {
  const description = typeof whole.description === 'string' ? whole.description : 'The response.'
  if (typeof whole.contentMediaType !== 'string' || whole.contentEncoding !== undefined) return { description, schema: given }
  const { contentMediaType: _type, ...schema } = given
  return { description, schema, mediaType: whole.contentMediaType }
}
