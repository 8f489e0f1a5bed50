// Operations of the media library, of locales and of the model. Files and locales have no envelope, and files have numeric ids.
import { isByStatus } from '../../../../foundation/config/code-settings.js'
import { entryEvents } from '../../../../foundation/public/events.js'
import type { CustomRoute, JsonSchema, StandardSchema } from '../../../../foundation/public/routes.js'
import { listSchema } from '../content.js'
import { type SchemaContext, shapeRef } from '../documents.js'
import {
  type ApiOperation,
  type DescribedParameter,
  type DescriptionReader,
  type HttpMethod,
  inPath,
  inQuery,
  jsonBody,
  type OperationResponse,
  operationAt,
} from '../operation.js'
import {
  fieldsParameter,
  filtersParameter,
  type Pages,
  paginationParameter,
  populateParameter,
  rangeParameters,
  sortParameter,
} from '../parameters.js'
import { type Components, type DescribedValue, type DescriptionObject, describedValue, integer, list, object, text } from '../schema.js'

const fileType = 'plugin::upload.file'
const fileAction = (name: string): string => `plugin::upload.content-api.${name}`

export function fileOperations(context: SchemaContext, pages: Pages): readonly ApiOperation[] {
  const type = context.view.model.types.get(fileType)!
  const file = shapeRef(context, type)
  const populate = populateParameter(context, type)
  const shown = [fieldsParameter(context, type), ...(populate === null ? [] : [populate])]
  const criteria = [...shown, filtersParameter(context, type), sortParameter(context, type)]
  const id = inPath('id', 'The numeric id.', integer)
  const one = { status: 200, description: 'The file.', schema: file }
  const tag = 'upload'
  return [
    operationAt('get /upload/files', fileAction('find'), tag, 'List files', {
      parameters: [...criteria, ...rangeParameters(context)],
      success: { status: 200, description: 'The files.', schema: list(file) },
    }),
    operationAt('get /upload/files/page', fileAction('findPage'), tag, 'List a page of files', {
      parameters: [...criteria, paginationParameter(context, pages)],
      success: { status: 200, description: 'A page of files.', schema: listSchema(context, file) },
    }),
    operationAt('get /upload/files/{id}', fileAction('findOne'), tag, 'Return a file', {
      parameters: [id, ...(populate === null ? [] : [populate])],
      success: one,
      errors: [404],
    }),
    operationAt('delete /upload/files/{id}', fileAction('destroy'), tag, 'Delete a file', {
      parameters: [id],
      success: { ...one, description: 'The former file.' },
      errors: [404],
    }),
    operationAt('post /upload', fileAction('upload'), tag, 'Upload files, or change one', {
      description: "With `id`, changes the file's information or content; the response then is the file, with status 200.",
      parameters: [inQuery('id', 'The file to change.', integer)],
      body: {
        required: true,
        content: { 'multipart/form-data': { schema: uploadForm() }, 'application/json': { schema: object({ fileInfo: fileInfo() }) } },
      },
      success: { status: 201, description: 'The new files.', schema: list(file) },
      errors: [404, 413],
    }),
  ]
}

const fileInfo = (): DescriptionObject =>
  object({ name: text, alternativeText: { type: ['string', 'null'] }, caption: { type: ['string', 'null'] } }, [], {
    description: 'Information about a file, as JSON; once for each file.',
  })

const uploadForm = (): DescriptionObject =>
  object(
    {
      files: list({ type: 'string', format: 'binary' }),
      fileInfo: list(fileInfo()),
      ref: { ...text, description: 'The uid of a type whose media attribute takes the files.' },
      refId: { ...text, description: 'The documentId of a document, or the numeric id of a row.' },
      field: { ...text, description: 'The name of the attribute.' },
    },
    ['files'],
  )

export const localeOperations = (): readonly ApiOperation[] => [
  operationAt('get /i18n/locales', 'plugin::i18n.locales.listLocales', 'i18n', 'List the locales', {
    success: {
      status: 200,
      description: 'The locales.',
      schema: list(
        object(
          {
            id: integer,
            documentId: text,
            name: { type: ['string', 'null'] },
            code: text,
            isDefault: { type: 'boolean' },
            createdAt: text,
            updatedAt: text,
            publishedAt: { type: ['string', 'null'] },
          },
          ['id', 'documentId', 'code', 'isDefault'],
        ),
      ),
    },
  }),
]

/** The model in the form of schema.json. */
export function modelOperations(): readonly ApiOperation[] {
  const tag = 'content-type-builder'
  const entry = object({ uid: text, schema: object({ displayName: text, attributes: { type: 'object' } }, ['attributes']) }, [
    'uid',
    'schema',
  ])
  const uid = inPath('uid', 'The uid, such as `api::article.article`.')
  const pairs = [
    ['content-types', 'content-types', 'getContentTypes', 'getContentType', 'content-types', 'a content-type'],
    ['components', 'components', 'getComponents', 'getComponent', 'components', 'a component'],
  ] as const
  return pairs.flatMap(([segment, controller, all, single, many, one]): ApiOperation[] => [
    operationAt(
      `get /content-type-builder/${segment}`,
      `plugin::content-type-builder.${controller}.${all}`,
      tag,
      `List the ${many} of the project`,
      { success: { status: 200, description: `The ${many}.`, schema: object({ data: list(entry) }, ['data']) } },
    ),
    operationAt(
      `get /content-type-builder/${segment}/{uid}`,
      `plugin::content-type-builder.${controller}.${single}`,
      tag,
      `Return ${one} of the project`,
      {
        parameters: [uid],
        success: { status: 200, description: `It is ${one}.`.replace('It is a', 'The'), schema: object({ data: entry }, ['data']) },
        errors: [404],
      },
    ),
  ])
}

/** Changes of the model while serving (docs/spec/live-model.md). */
export function modelChangeOperations(): readonly ApiOperation[] {
  const action = 'plugin::content-type-builder.schemas.update'
  const tag = 'content-type-builder'
  const schemas = { type: 'object', additionalProperties: { type: ['object', 'null'] }, description: 'Schemas by uid; null deletes one.' }
  const change = object(
    { id: integer, version: text, summary: text, undoes: integer, madeAt: { ...text, format: 'date-time' }, isFiled: { type: 'boolean' } },
    ['id', 'version', 'summary', 'undoes', 'madeAt', 'isFiled'],
  )
  const counts = list(object({ name: text, about: text, count: integer, exact: { type: 'boolean' } }, ['name', 'about', 'count', 'exact']))
  const planned = { version: text, changes: list({ type: 'object' }), answers: list(text), steps: list({ type: 'object' }) }
  const plan = { ...planned, losses: counts, conditions: counts, kept: list({ type: 'object' }) }
  const rename = object({ kind: { enum: ['type', 'component', 'attribute'] }, schema: text, from: text, to: text }, ['kind', 'from', 'to'])
  const neverPublished = { enum: ['keepAside', 'publish'] }
  const asked = object({ data: schemas, renames: list(rename), neverPublished, version: text }, ['data'])
  const agree = { name: 'octavo-agree', in: 'header', required: false, description: 'Names of `details.losses`.', schema: text } as const
  return [
    operationAt('put /content-type-builder/schemas', action, tag, 'Create, replace and delete schemas', {
      description: 'All schemas are one change, which is in force with the response. Content is only hidden if `octavo-agree` names it.',
      parameters: [agree],
      body: jsonBody(asked),
      success: {
        status: 200,
        description: 'The change is in force.',
        schema: object({ data: object({ ...plan, schemas: list(text) }, ['version', 'schemas']) }, ['data']),
      },
      errors: [409, 412],
    }),
    operationAt('post /content-type-builder/plan', action, tag, 'Plan a change of the model without making it', {
      body: jsonBody(asked),
      success: { status: 200, description: 'What the change would do.', schema: object({ data: object(plan, ['version']) }, ['data']) },
      errors: [409, 412],
    }),
    operationAt('post /content-type-builder/undo', action, tag, 'Undo the last change of the model', {
      parameters: [agree],
      body: jsonBody(object({ data: object({ change: integer }, []) }, [])),
      success: { status: 200, description: 'The change is undone.', schema: object({ data: object(plan, ['version']) }, ['data']) },
      errors: [404, 409],
    }),
    operationAt('get /content-type-builder/changes', action, tag, 'List the changes of the model', {
      success: { status: 200, description: 'The changes, oldest first.', schema: object({ data: list(change) }, ['data']) },
    }),
  ]
}

/** The event stream at `path`; omitted if the reader cannot follow any content-type. */
export function eventOperations(context: SchemaContext, path: string | null, { may, isOpen }: DescriptionReader): readonly ApiOperation[] {
  if (path === null) return []
  const uids = [...context.view.model.types.values()].filter(({ exposed, uid }) => exposed && may(`${uid}.find`)).map(({ uid }) => uid)
  if (uids.length === 0) return []
  const commaList = { style: 'form', explode: false }
  const states = uids.some(context.showsDrafts) ? ['published', 'draft'] : ['published']
  return [
    operationAt(
      `get ${path}`, // One public type is enough to follow events without credentials.
      `${uids.find((uid) => isOpen(`${uid}.find`)) ?? uids[0]}.find`,
      'events',
      'Stream events about documents',
      {
        description:
          'Server-sent events, until the client disconnects. The data of each is JSON with `event`, `createdAt`, `model`, `uid` and `entry`: the document as a GET of the caller returns it. `reset` says that some events were missed.',
        parameters: [
          inQuery('types', 'The content-types to follow; default: all that the caller may find.', list({ enum: uids.sort() }), commaList),
          inQuery('events', 'The events to follow; default: all.', list({ enum: entryEvents }), commaList),
          inQuery('status', 'Which versions to follow.', { enum: states, default: 'published' }),
          inQuery('lastEventId', 'The id of the last event that was received, for clients that cannot send `Last-Event-ID`.', text),
        ],
        success: { status: 200, description: 'The events.', schema: text, mediaType: 'text/event-stream' },
        errors: [429, 503],
      },
    ),
  ]
}

export const customOperations = (components: Components, routes: readonly CustomRoute[]): readonly ApiOperation[] =>
  routes.map((route) => operationOf(components, route))

function operationOf(components: Components, route: CustomRoute): ApiOperation {
  const { method, path, base, action, summary, description, tags } = route
  const words = [...(base === 'root' ? ['root'] : []), method.toLowerCase(), ...(path.match(/\w+/g) ?? [])].join('-')
  const describe = (part: string, schema: JsonSchema | StandardSchema, side: 'input' | 'output') =>
    describedValue(components, `${words}-${part}`, schema, side)
  const [success, ...others] = responsesOf(route, describe)
  return {
    method: method.toLowerCase() as HttpMethod,
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    action: action ?? null,
    tag: 'routes',
    summary: summary ?? `${method} ${path}`,
    ...(base === 'root' ? { isAtRoot: true } : {}),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
    ...(description === undefined ? {} : { description }),
    parameters: [...pathParameters(route, describe), ...queryParameters(route, describe)],
    ...bodyOf(route, describe),
    success: success!,
    others,
    errors: [404, 503],
  }
}

type Describe = (part: string, schema: JsonSchema | StandardSchema, side: 'input' | 'output') => DescribedValue

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
    name,
    in: 'query',
    required: required.includes(name),
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
