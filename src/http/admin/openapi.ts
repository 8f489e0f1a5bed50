// Describes the administration API as OpenAPI 3.1, from its table of resources.
import * as z from 'zod'
import { describedHeaders, refusalsOf } from './declarations.js'
import { isOptionalBody } from './input.js'
import { refusals } from './refusals.js'
import type { Resource, Who } from './resource.js'
import { isTagged } from './revisions.js'

/** What of the service a description names. */
export interface DescribedService {
  /** The public URL. */
  readonly url: string
  readonly version: string
}

const json = (schema: unknown) => ({ 'application/json': { schema } })

/** A schema as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Record<string, unknown>
  return rest
}

/** Returns the OpenAPI document of these resources. */
export function describeResources(resources: readonly Resource[], { url, version }: DescribedService) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const resource of resources) {
    const path = resource.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [resource.method.toLowerCase()]: operationOf(resource) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Octavo administration API', version },
    servers: [{ url: `${url}/admin/api` }],
    paths,
    components: {
      securitySchemes: { administrator: { type: 'http', scheme: 'bearer', description: 'The access token of an administrator.' } },
      schemas: { Error: errorSchema(['status', 'name', 'message', 'details']), Failure: errorSchema(['status', 'name', 'message']) },
      responses: describedRefusals,
      headers,
    },
  }
}

const errorSchema = (required: readonly string[]) => ({
  type: 'object',
  required: ['data', 'error'],
  properties: {
    data: { type: 'null' },
    error: {
      type: 'object',
      required,
      properties: { status: { type: 'integer' }, name: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
    },
  },
})

const headers = {
  ETag: { description: 'What tells this response from others of the same resource', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which the request may be sent again', schema: { type: 'integer' } },
}

const withHeader = (name: keyof typeof headers) => ({ headers: { [name]: { $ref: `#/components/headers/${name}` } } })

/** What a refusal has. */
const errorContent = { content: json({ $ref: '#/components/schemas/Error' }) }
const describedRefusals = {
  ...Object.fromEntries(
    Object.values(refusals).map(({ name, description, ...more }) => [
      name,
      { description, ...('header' in more ? withHeader(more.header) : {}), ...errorContent },
    ]),
  ),
  NotModified: { description: 'The client has the response already', ...withHeader('ETag') },
  Failure: { description: 'Any other error', content: json({ $ref: '#/components/schemas/Failure' }) },
}

const response = (name: string) => ({ $ref: `#/components/responses/${name}` })

function operationOf(resource: Resource) {
  const { method, path, summary, who, body, form, status, answer, isStrong } = resource
  const content = {
    ...(isTagged(resource) ? withHeader('ETag') : {}),
    ...(answer === null ? {} : { content: json(jsonSchema(answer, 'output')) }),
  }
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [path.split('/')[1]],
    description: conditionOf(who, isStrong === true),
    security: who === 'anybody' || who === 'page' ? [] : [{ administrator: [] }],
    parameters: [
      ...parametersIn('path', resource.params, namesIn(path)),
      ...parametersIn('query', resource.query, null),
      ...describedHeaders(resource).map((header) => ({ ...header, in: 'header' })),
    ],
    ...(body === null ? {} : { requestBody: { required: !isOptionalBody(method, body), content: json(jsonSchema(body, 'input')) } }),
    ...(form === undefined
      ? {}
      : { requestBody: { required: true, content: { 'multipart/form-data': { schema: jsonSchema(form, 'input') } } } }),
    responses: {
      [status]: { description: answer === null ? 'Done' : 'The result', ...content },
      ...(method === 'GET' && answer !== null ? { 304: response('NotModified') } : {}),
      ...Object.fromEntries(refusalsOf(resource).map((refusal) => [refusal, response(refusals[refusal].name)])),
      default: response('Failure'),
    },
  }
}

const namesIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)

/** Who may ask, as sentences. */
function conditionOf(who: Who, isStrong: boolean): string {
  const strong = isStrong ? ' Asks for the password again if it was given more than ten minutes ago.' : ''
  if (who === 'anybody') return `Anybody may ask.${strong}`
  if (who === 'page') return `Only a page of this origin may ask, with the header Octavo-Admin: 1.${strong}`
  if (who === 'byRoles') return `Administrators may ask, as far as their roles allow it.${strong}`
  if (who === 'superAdministrator') return `Super administrators may ask.${strong}`
  if (who === 'administrator') return `Every administrator may ask.${strong}`
  if (who.onFiles) return `Administrators may ask whose roles allow ${who.action}, for the files for which its conditions hold.${strong}`
  return `Administrators may ask whose roles allow ${who.action}${who.on === undefined ? '' : ` on ${who.on.uid}`}.${strong}`
}

const hasObjects = ({ type, anyOf }: Readonly<Record<string, unknown>>): boolean =>
  type === 'object' || (Array.isArray(anyOf) && anyOf.some(hasObjects))

/** The parameters of a schema; `names`: those of a path, which a schema of texts does not list. */
function parametersIn(place: 'path' | 'query', schema: z.ZodType | null, names: readonly string[] | null) {
  if (schema === null) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required?: readonly string[]
  }
  return (names ?? Object.keys(properties)).map((name) => {
    const { description, ...schema } = properties[name] ?? { type: 'string' }
    return {
      ...{ name, in: place, required: place === 'path' || required.includes(name), schema },
      ...(description === undefined ? {} : { description }),
      // As the content API takes it: `filters[title][$eq]=Tea`.
      ...(hasObjects(schema) ? { style: 'deepObject', explode: true } : {}),
    }
  })
}
