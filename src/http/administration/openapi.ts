// Describes the administration API as OpenAPI 3.1, from its table of resources.
import * as z from 'zod'
import { isOptionalBody } from './input.js'
import type { Resource, Who } from './resource.js'

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
      schemas: { Error: errorSchema },
      responses: { Error: { description: 'An error', content: json({ $ref: '#/components/schemas/Error' }) } },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['data', 'error'],
  properties: {
    data: { type: 'null' },
    error: {
      type: 'object',
      required: ['status', 'name', 'message'],
      properties: { status: { type: 'integer' }, name: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
    },
  },
}

const keyParameter = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1, maxLength: 255 } },
  description: 'Sent again with the same key, the same request has the same response, and nothing is done again.',
}

function operationOf(resource: Resource) {
  const { method, path, summary, who, body, form, status, answer, isStrong, goesOn, again } = resource
  const content = answer === null ? {} : { content: json(jsonSchema(answer, 'output')) }
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [path.split('/')[1]],
    description: conditionOf(who, isStrong === true),
    security: who === 'anybody' || who === 'page' ? [] : [{ administrator: [] }],
    parameters: [
      ...parametersIn('path', resource.params, namesIn(path)),
      ...parametersIn('query', resource.query, null),
      ...(again === undefined ? [] : [keyParameter]),
    ],
    ...(body === null ? {} : { requestBody: { required: !isOptionalBody(method, body), content: json(jsonSchema(body, 'input')) } }),
    ...(form === undefined
      ? {}
      : { requestBody: { required: true, content: { 'multipart/form-data': { schema: jsonSchema(form, 'input') } } } }),
    responses: {
      [status]: { description: answer === null ? 'Done' : 'The result', ...content },
      ...(goesOn ? { 202: { description: 'It goes on', ...content } } : {}),
      '4XX': { $ref: '#/components/responses/Error' },
      default: { $ref: '#/components/responses/Error' },
    },
  }
}

const namesIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)

/** Who may ask, as sentences. */
function conditionOf(who: Who, isStrong: boolean): string {
  const strong = isStrong ? ' Asks for the password again if it was given more than ten minutes ago.' : ''
  if (who === 'anybody') return `Anybody may ask.${strong}`
  if (who === 'page') return `Only a page of this origin may ask, with the header Octavo-Admin: 1.${strong}`
  if (who === 'superAdministrator') return `Super administrators may ask.${strong}`
  if (who === 'administrator') return `Every administrator may ask.${strong}`
  if (who.onFiles) return `Administrators may ask whose roles allow ${who.action}, for the files for which its conditions hold.${strong}`
  return `Administrators may ask whose roles allow ${who.action}${who.on === undefined ? '' : ` on ${who.on.uid}`}.${strong}`
}

/** The parameters of a schema; `names`: those of a path, which a schema of texts does not list. */
function parametersIn(place: 'path' | 'query', schema: z.ZodType | null, names: readonly string[] | null) {
  if (schema === null) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
  return (names ?? Object.keys(properties)).map((name) => ({
    ...{ name, in: place, required: place === 'path' || required.includes(name) },
    schema: properties[name] ?? { type: 'string' },
  }))
}
