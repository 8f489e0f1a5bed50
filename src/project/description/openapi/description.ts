// The OpenAPI description of the API for one caller: permitted operations and the schemas that they reference, nothing else.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Config } from '../../../foundation/config/config.js'
import type { Grants } from '../../../foundation/grants.js'
import type { CustomRoute } from '../../../foundation/public/routes.js'
import type { ApiAction } from '../../../foundation/public/type-settings.js'
import { createExcludedRoutes, type ExcludedRoutes, publicationActions, typeWithRoute } from '../../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import { type Contract, contracts } from '../../../query/contract.js'
import { viewOf } from '../view.js'
import { contentOperations } from './content.js'
import type { SchemaContext } from './documents.js'
import { type ApiOperation, type DescriptionReader, type OperationResponse, operationId, pathItems } from './operation.js'
import type { Pages } from './parameters.js'
import { accountOperations, userOperations } from './plugins/accounts.js'
import {
  customOperations,
  eventOperations,
  fileOperations,
  localeOperations,
  modelChangeOperations,
  modelOperations,
} from './plugins/others.js'
import { type Components, type DescriptionObject, object, openComponents, text } from './schema.js'

/** The input of a description, apart from its reader. */
interface DescriptionSource {
  readonly model: Model
  readonly contract: Contract
  readonly pages: Pages
  /** Base of paths: a path on the same server, or a URL. */
  readonly server: string
  /** Base of routes at the root path. */
  readonly root: string
  /** Reading drafts requires a separate action. */
  readonly draftGrant: boolean
  /** Users have sessions (`auth.jwtManagement: 'refresh'`). */
  readonly hasSessions: boolean
  /** The model may change while serving. */
  readonly modelChanges: boolean
  /** Path of the event stream; null: disabled. */
  readonly eventStream: string | null
  /** Disabled routes of content-types; null: none. */
  readonly leftOut: ExcludedRoutes | null
  readonly routes: readonly CustomRoute[]
}

/** Describes the API to a reader as an OpenAPI 3.1 document, which is the same for the same model and actions. */
export function describe(described: DescriptionSource, reader: DescriptionReader): DescriptionObject {
  const components = openComponents()
  const operations = operationsOf(described, reader, components)
  const paths = pathItems(operations, described.root, (operation) => printed(components, operation, reader))
  const securitySchemes = { bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API token, or the JWT of a user.' } }
  const whole = {
    servers: [{ url: described.server }],
    tags: tagsOf(described.model, operations),
    paths,
    components: { ...components.usedBy(paths), securitySchemes },
  }
  // Computed from the visible part only, so that it reveals nothing about the rest of the model.
  const version = createHash('sha256').update(JSON.stringify(whole)).digest('hex').slice(0, 12)
  return { openapi: '3.1.0', info: { title: 'Content API', version, description: about }, ...whole }
}

const about =
  'Operations available to you. Query strings use brackets: `filters[title][$containsi]=tea`, `populate[author][fields][0]=name`.'

/** Operations that the reader may call. */
function operationsOf(
  { model, contract, pages, ...described }: DescriptionSource,
  reader: DescriptionReader,
  components: Components,
): readonly ApiOperation[] {
  const { may } = reader
  const context: SchemaContext = {
    view: viewOf(model, contract, (uid) => may(`${uid}.find`)),
    components,
    showsDrafts: (uid) => !described.draftGrant || may(`${uid}.findDraft`),
  }
  const types = [...model.types.values()].filter(({ exposed }) => exposed).sort((a, b) => (a.singularName < b.singularName ? -1 : 1))
  const content = types.flatMap((type) =>
    contentOperations(context, type, pages).filter(({ action }) => hasRoute(described.leftOut, type, action!)),
  )
  const own = [
    ...userOperations(context),
    ...accountOperations(context, described.hasSessions),
    ...fileOperations(context, pages),
    ...localeOperations(),
    ...modelOperations(),
    ...(described.modelChanges ? modelChangeOperations() : []),
  ]
  const all = [
    ...content,
    // If a custom route and a content-type have the same path, the content-type takes precedence.
    ...own.filter(({ method, path }) => typeWithRoute(model, method.toUpperCase(), path) === null),
    ...customOperations(components, described.routes),
    ...eventOperations(context, described.eventStream, reader),
  ]
  return all.filter(({ action }) => action === null || may(action))
}

/** True if the configuration enables the route of an operation. `whole`: the action with its uid. */
function hasRoute(leftOut: ExcludedRoutes | null, { uid }: ContentType, whole: string): boolean {
  const action = whole.slice(uid.length + 1)
  return leftOut?.(uid, publicationActions[action] ?? (action as ApiAction)) !== true
}

function tagsOf({ types }: Model, operations: readonly ApiOperation[]): readonly DescriptionObject[] {
  const names = new Map([...types.values()].filter(({ exposed }) => exposed).map((type) => [type.singularName, type.displayName]))
  const used = [...new Set(operations.flatMap(({ tag, tags = [tag] }) => tags))]
  return used.map((name) => ({ name, description: names.get(name) ?? plugins[name] ?? name }))
}

const plugins: Readonly<Record<string, string>> = {
  'users-permissions': 'Users, sign-in and roles',
  email: 'E-mails',
  upload: 'Media library',
  i18n: 'Locales',
  'content-type-builder': 'The model',
  events: 'The event stream',
  routes: 'Routes of the project',
}

/** Statuses of errors that every operation may return. */
const usual = [400, 401, 403]

function printed(components: Components, operation: ApiOperation, { isOpen }: DescriptionReader): DescriptionObject {
  const { tag, tags = [tag], summary, description, parameters, body, success, others = [], errors = [], action } = operation
  const failures = [...new Set([...usual, ...errors])].sort((a, b) => a - b)
  return {
    operationId: operationId(operation),
    tags,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined || parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...Object.fromEntries(failures.map((status) => [status, failure(components, status)])),
      ...Object.fromEntries([success, ...others].map((response) => [response.status, printedResponse(response)])),
    },
    security: action === null || isOpen(action) ? [{}, { bearerAuth: [] }] : [{ bearerAuth: [] }],
  }
}

const printedResponse = ({ description, schema, mediaType = 'application/json' }: OperationResponse): DescriptionObject => ({
  description,
  ...(schema === undefined ? {} : { content: { [mediaType]: { schema } } }),
})

const reasons: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'A parameter or the data is invalid; `details` says where.'],
  401: ['Unauthorized', 'The credentials are missing, invalid or expired.'],
  403: ['Forbidden', 'The caller may not do this.'],
  404: ['NotFound', 'There is no such entry.'],
  409: ['Conflict', 'A request with the same Idempotency-Key is under way.'],
  412: ['PreconditionFailed', 'It was asked for another version.'],
  413: ['PayloadTooLarge', 'The body is too large.'],
  422: ['Unprocessable', 'The Idempotency-Key belongs to another request.'],
  429: ['TooManyRequests', 'Too many attempts; `Retry-After` says when to try again.'],
  503: ['Unavailable', 'The service is busy; try again later.'],
}

function failure(components: Components, status: number): DescriptionObject {
  const [name, description] = reasons[status]!
  return components.ref('responses', name, () => {
    const schema = components.ref('schemas', 'error', errorSchema)
    return { description, content: { 'application/json': { schema } } }
  })
}

const errorSchema = (): DescriptionObject =>
  object(
    {
      data: { type: 'null' },
      error: object({ status: { type: 'integer' }, name: text, message: text, details: { type: ['object', 'array'] } }, [
        'status',
        'name',
        'message',
      ]),
    },
    ['data', 'error'],
  )

/** A description as sent. */
interface ServedDescription {
  readonly bytes: Buffer
  /** Strong ETag, with quotes. */
  readonly tag: string
}

export interface Descriptions {
  /** The description for a caller with these grants; `open`: the grants of callers without credentials. */
  of(grants: Grants, open: Grants): ServedDescription
}

/** Maximum number of cached descriptions, one per set of permissions. */
const maxCachedDescriptions = 20

/** `read` is called on first use. */
export function openDescriptions(read: () => DescriptionSource): Descriptions {
  let described: DescriptionSource | undefined
  const kept = new LRUCache<string, ServedDescription>({ maxSize: maxCachedDescriptions, sizeCalculation: () => 1 })
  return {
    of(grants, open) {
      const key = `${grants.key} ${open.key}`
      const known = kept.get(key)
      if (known !== undefined) return known
      described ??= read()
      const bytes = Buffer.from(JSON.stringify(describe(described, { may: grants.may, isOpen: open.may })))
      const served = { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` }
      kept.set(key, served)
      return served
    },
  }
}

/** The parts of the configuration that a description depends on. */
type DescribedConfig = Pick<Config, 'contract' | 'rest' | 'auth' | 'events' | 'routes' | 'types' | 'modelChanges'>

/** `origin`: that of the service's address; empty for paths on the same server. */
export const describedOf = (
  { contract, rest, auth, events, routes, types, modelChanges }: DescribedConfig,
  model: Model,
  origin: string,
): DescriptionSource => ({
  model,
  server: origin + rest.prefix,
  root: origin || '/',
  leftOut: createExcludedRoutes(types),
  contract: contracts[contract],
  pages: rest,
  draftGrant: rest.draftGrant,
  hasSessions: auth.jwtManagement === 'refresh',
  modelChanges,
  eventStream: events.stream?.path ?? null,
  routes,
})
