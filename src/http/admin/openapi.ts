// Describes the administration API as OpenAPI 3.1, from its table of resources.

import * as z from 'zod'
import type { AllowedCaller } from '../../admin/manage/operation.js'
import { issueCodes } from '../../foundation/errors/issues.js'
import { inputErrorCode, inputErrorSchema, isOptionalBody, readsBody } from './input.js'
import { describePreferences } from './preferences.js'
import { type RefusalStatus, type Resource, refusals } from './resource.js'
import { isTagged } from './revisions.js'

interface DescribedService {
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
    paths[path] = { ...paths[path], [resource.method.toLowerCase()]: describeOperation(resource) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Octavo administration API', version },
    servers: [{ url: `${url}/admin/api` }],
    paths,
    components: {
      securitySchemes: { administrator: { type: 'http', scheme: 'bearer', description: 'The access token of an administrator.' } },
      schemas: {
        ...inputErrors,
        Error: errorSchema(['status', 'name', 'message', 'details']),
        Failure: errorSchema(['status', 'name', 'message']),
      },
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
      properties: {
        status: { type: 'integer' },
        name: { type: 'string' },
        message: { type: 'string' },
        details: { $ref: '#/components/schemas/ErrorDetails' },
      },
    },
  },
})

const codeSchema = {
  ...jsonSchema(inputErrorCode, 'output'),
  description: Object.entries(issueCodes)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n'),
}

/** Errors about input, as in the details of an error. */
const inputErrors = {
  InputErrorCode: codeSchema,
  InputError: jsonSchema(inputErrorSchema.extend({ code: z.any().meta({ $ref: '#/components/schemas/InputErrorCode' }) }), 'output'),
  ErrorDetails: {
    type: 'object',
    properties: {
      errors: { type: 'array', items: { $ref: '#/components/schemas/InputError' }, description: 'All errors about input' },
      locale: { type: 'string', description: 'The locale of the errors, if the request names several' },
    },
  },
}

const headers = {
  ETag: { description: 'Identifies this version of the response', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds after which the request may be sent again', schema: { type: 'integer' } },
  'Preference-Applied': { description: 'The preferences in `Prefer` that the response follows', schema: { type: 'string' } },
}

const withHeader = (...names: readonly (keyof typeof headers)[]) => ({
  headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
})

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

function describeOperation(resource: Resource) {
  const { method, path, summary, who, body, form, status, response: answer, events, isStrong } = resource
  const content = {
    ...(isTagged(resource) ? withHeader('ETag', ...(resource.headers.prefers === undefined ? [] : (['Preference-Applied'] as const))) : {}),
    // OpenAPI 3.1 describes the data of one event.
    ...(events === undefined ? {} : { content: { 'text/event-stream': { schema: jsonSchema(events, 'output') } } }),
    ...(answer === null ? {} : { content: json(jsonSchema(answer, 'output')) }),
  }
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^\w]+(\w?)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: [path.split('/')[1]],
    description: describeCaller(who, isStrong === true),
    security: who === 'anybody' || who === 'page' ? [] : [{ administrator: [] }],
    parameters: [
      ...parametersIn('path', resource.params, namesIn(path)),
      ...parametersIn('query', resource.query, null),
      ...describeHeaders(resource).map((header) => ({ ...header, in: 'header' })),
    ],
    ...(body === null ? {} : { requestBody: { required: !isOptionalBody(method, body), content: json(jsonSchema(body, 'input')) } }),
    ...(form === undefined
      ? {}
      : { requestBody: { required: true, content: { 'multipart/form-data': { schema: jsonSchema(form, 'input') } } } }),
    responses: {
      [status]: { description: answer === null && events === undefined ? 'Done' : 'The result', ...content },
      ...(method === 'GET' && answer !== null ? { 304: response('NotModified') } : {}),
      ...Object.fromEntries(refusalStatuses(resource).map((refusal) => [refusal, response(refusals[refusal].name)])),
      default: response('Failure'),
    },
  }
}

const namesIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)

/** The allowed caller as sentences. */
function describeCaller(who: AllowedCaller, isStrong: boolean): string {
  const strong = isStrong ? ' Asks for the password again if it was given more than ten minutes ago.' : ''
  if (who === 'anybody') return `Anybody may ask.${strong}`
  if (who === 'page') return `Only a page of this origin may ask, with the header Octavo-Admin: 1.${strong}`
  if (who === 'byRoles') return `Administrators may ask, within the rights of their roles.${strong}`
  if (who === 'superAdministrator') return `Super administrators may ask.${strong}`
  if (who === 'administrator') return `Every administrator may ask.${strong}`
  if (who.onFiles) return `Administrators may ask whose roles allow ${who.action}, for the files for which its conditions hold.${strong}`
  return `Administrators may ask whose roles allow ${who.action}${who.on === undefined ? '' : ` on ${who.on.uid}`}.${strong}`
}

const hasObjects = ({ type, anyOf }: Readonly<Record<string, unknown>>): boolean =>
  type === 'object' || (Array.isArray(anyOf) && anyOf.some(hasObjects))

/** The parameters of a schema; `names`: those of the path, which a schema of strings does not list. */
function parametersIn(place: 'path' | 'query', schema: z.ZodType | null, names: readonly string[] | null) {
  if (schema === null) return []
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly required?: readonly string[]
  }
  return (names ?? Object.keys(properties)).map((name) => {
    const { description, ...schema } = properties[name] ?? { type: 'string' }
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      schema,
      ...(description === undefined ? {} : { description }),
      // In the notation of the content API: `filters[title][$eq]=Tea`.
      ...(hasObjects(schema) ? { style: 'deepObject', explode: true } : {}),
    }
  })
}

/** The error statuses of a resource, sorted. */
export function refusalStatuses(resource: Resource): readonly RefusalStatus[] {
  const { who, isStrong, path, query, form, headers, attempts, respondAgain: again } = resource
  const isIdentified = who !== 'anybody' && who !== 'page'
  const hasBody = readsBody(resource) || form !== undefined
  const isOnce = again !== undefined
  const isNamed = path.includes(':')
  const follow: readonly (readonly [boolean, ...RefusalStatus[]])[] = [
    [query !== null || hasBody || isNamed || isOnce, 400],
    [isIdentified, 401],
    [(isIdentified && who !== 'administrator') || who === 'page' || isStrong === true, 403],
    [isNamed, 404],
    [hasBody, 408, 413],
    [isOnce, 409, 422],
    [headers.agrees === true, 409],
    [headers.state !== undefined, 412, 428],
    [attempts !== undefined, 429],
  ]
  const statuses = new Set([...follow.flatMap(([holds, ...which]) => (holds ? which : [])), ...(resource.refusals ?? [])])
  return [...statuses].sort((one, other) => one - other)
}

/** A header in a description. */
interface DescribedHeader {
  readonly name: string
  readonly required: boolean
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const textSchema = { type: 'string' }

/** Request headers of a resource, except `Authorization` and those of its body. */
function describeHeaders({
  method,
  response: answer,
  who,
  respondAgain: again,
  events,
  headers: { state, agrees, prefers },
}: Resource): readonly DescribedHeader[] {
  const isNew = state?.orNew
  return [
    ...(who === 'page'
      ? [
          { name: 'Origin', required: true, description: 'That of the service; browsers send it', schema: textSchema },
          { name: 'Octavo-Admin', required: true, description: 'Shows that a page of this origin asks', schema: { const: '1' } },
        ]
      : []),
    ...(method === 'GET' && answer !== null
      ? [
          {
            name: 'If-None-Match',
            required: false,
            description: 'The ETag of a response that the client has: 304 if it is the same',
            schema: textSchema,
          },
        ]
      : []),
    ...(events === undefined
      ? []
      : [{ name: 'Last-Event-ID', required: false, description: 'The id of the last event: those after it follow', schema: textSchema }]),
    ...(state === undefined
      ? []
      : [{ name: 'If-Match', required: isNew === undefined, description: `The ETag of ${state.of}, as it was read`, schema: textSchema }]),
    ...(isNew === undefined
      ? []
      : [{ name: 'If-None-Match', required: false, description: `In place of If-Match, for ${isNew}`, schema: { const: '*' } }]),
    ...(again !== undefined
      ? [
          {
            name: 'Idempotency-Key',
            required: false,
            description: 'Sent again with the same key, the same request has the same response, and nothing is done again.',
            schema: { ...textSchema, minLength: 1, maxLength: 255 },
          },
        ]
      : []),
    ...(prefers === undefined ? [] : [{ name: 'Prefer', required: false, description: describePreferences(prefers), schema: textSchema }]),
    ...(agrees === true
      ? [
          {
            name: 'octavo-agree',
            required: false,
            description: 'The names in `losses` that may be hidden, separated by commas',
            schema: textSchema,
          },
        ]
      : []),
  ]
}
