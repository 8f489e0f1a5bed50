// The operations of content-types: reads, writes and publication, for collection types and single types.
import type { ContentType } from '../../../model/schema/types.js'
import { linksOf, nounsOf } from '../view.js'
import { inputRef, type SchemaContext, shapeRef } from './documents.js'
import { type ApiOperation, type DescribedParameter, inPath, jsonBody, operationAt } from './operation.js'
import {
  fieldsParameter,
  filtersParameter,
  idempotencyKey,
  localeParameter,
  localesParameter,
  type Pages,
  paginationParameter,
  populateParameter,
  publicationParameters,
  searchParameter,
  sortParameter,
  statusParameter,
} from './parameters.js'
import { type DescriptionObject, integer, list, object } from './schema.js'

/** All operations of a content-type, for any caller. `lists`: page sizes. */
export function contentOperations(context: SchemaContext, type: ContentType, pages: Pages): readonly ApiOperation[] {
  return type.singleType ? ofSingleType(context, type) : ofCollectionType(context, type, pages)
}

/** The schemas and parameters of a type that its operations share. */
function partsOf(context: SchemaContext, type: ContentType) {
  const populate = populateParameter(context, type)
  const shown = [fieldsParameter(context, type), ...(populate === null ? [] : [populate])]
  const localeOf = (parameter: DescribedParameter) => (type.localized ? [parameter] : [])
  // Relations follow the status too, so it applies to every type with relations.
  const status = type.draftAndPublish || linksOf(context.view, type).length > 0 ? [statusParameter(context)] : []
  const document = shapeRef(context, type)
  const data = object({ data: document, meta: { type: 'object' } }, ['data', 'meta'])
  const body = () => jsonBody(object({ data: inputRef(context, type) }, ['data']))
  const common = { tag: type.singularName, name: type.displayName }
  return { shown, version: [...shown, ...localeOf(localeParameter(context)), ...status], localeOf, status, document, data, body, ...common }
}

function ofCollectionType(context: SchemaContext, type: ContentType, pages: Pages): readonly ApiOperation[] {
  const { tag, shown, version, localeOf, status, document, data, body } = partsOf(context, type)
  const { one: noun, many } = nounsOf(type)
  const path = `/${type.pluralName}`
  const one = `${path}/{id}`
  const id = inPath('id', 'The documentId.')
  const found = { status: 200, description: 'The document.', schema: data }
  const publication = type.draftAndPublish ? publicationParameters(context) : []
  return [
    operationAt(`get ${path}`, `${type.uid}.find`, tag, `List ${many}`, {
      parameters: [
        ...shown,
        filtersParameter(context, type),
        sortParameter(context, type),
        paginationParameter(context, pages),
        searchParameter(context),
        ...localeOf(localesParameter(context)),
        ...status,
        ...publication,
      ],
      success: { status: 200, description: 'A page of documents.', schema: listSchema(context, document) },
    }),
    operationAt(`post ${path}`, `${type.uid}.create`, tag, `Create ${noun}`, {
      parameters: [...version, idempotencyKey(context)],
      body: body(),
      success: { status: 201, description: 'The new document.', schema: data },
      errors: [409, 413, 422],
    }),
    operationAt(`get ${one}`, `${type.uid}.findOne`, tag, `Return ${noun}`, {
      parameters: [id, ...version, filtersParameter(context, type)],
      success: found,
      errors: [404],
    }),
    operationAt(`put ${one}`, `${type.uid}.update`, tag, `Change ${noun}`, {
      description: 'Attributes that are absent stay as they are; null clears them.',
      parameters: [id, ...version],
      body: body(),
      success: { status: 200, description: 'The changed document.', schema: data },
      errors: [404, 413],
    }),
    operationAt(`delete ${one}`, `${type.uid}.delete`, tag, `Delete ${noun}`, {
      parameters: [id, ...localeOf(localesParameter(context)), filtersParameter(context, type)],
      success: { status: 204, description: 'The document no longer exists.' },
    }),
    ...publicationOperations(context, type, { path: one, noun, named: [id] }),
  ]
}

function ofSingleType(context: SchemaContext, type: ContentType): readonly ApiOperation[] {
  const { tag, name, version, localeOf, data, body } = partsOf(context, type)
  const path = `/${type.singularName}`
  return [
    operationAt(`get ${path}`, `${type.uid}.find`, tag, `Return ${name}`, {
      parameters: [...version, filtersParameter(context, type)],
      success: { status: 200, description: 'The document.', schema: data },
      errors: [404],
    }),
    operationAt(`put ${path}`, `${type.uid}.update`, tag, `Change or create ${name}`, {
      description: 'Attributes that are absent stay as they are; null clears them.',
      parameters: version,
      body: body(),
      success: { status: 200, description: 'The changed document.', schema: data },
      errors: [413],
    }),
    operationAt(`delete ${path}`, `${type.uid}.delete`, tag, `Delete ${name}`, {
      parameters: localeOf(localesParameter(context)),
      success: { status: 204, description: 'The document no longer exists.' },
    }),
    ...publicationOperations(context, type, { path, noun: name, named: [] }),
  ]
}

const acts = [
  { act: 'publish', summary: (noun: string) => `Publish the draft of ${noun}`, returns: 'The published version.' },
  { act: 'unpublish', summary: (noun: string) => `Remove the published version of ${noun}`, returns: 'The draft.' },
  { act: 'discard', summary: (noun: string) => `Replace the draft of ${noun} by its published version`, returns: 'The draft.' },
] as const

/** Path of a document, its noun, and the path parameters. */
interface DocumentPlace {
  readonly path: string
  readonly noun: string
  readonly named: readonly DescribedParameter[]
}

/** An extension of Strapi's Content API. */
function publicationOperations(context: SchemaContext, type: ContentType, { path, noun, named }: DocumentPlace): readonly ApiOperation[] {
  if (!type.draftAndPublish) return []
  const { tag, shown, localeOf, data } = partsOf(context, type)
  return acts.map(({ act, summary, returns }) =>
    operationAt(`post ${path}/actions/${act}`, `${type.uid}.${act}`, tag, summary(noun), {
      parameters: [...named, ...shown, ...localeOf(localeParameter(context)), idempotencyKey(context)],
      success: { status: 200, description: returns, schema: data },
      errors: [404, 409, 422],
    }),
  )
}

/** A list in its envelope. */
export function listSchema({ components }: Pick<SchemaContext, 'components'>, entry: DescriptionObject): DescriptionObject {
  const pagination = components.ref('schemas', 'page-of-list', () => ({
    anyOf: [
      object({ page: integer, pageSize: integer, pageCount: integer, total: integer }, ['page', 'pageSize']),
      object({ start: integer, limit: integer, total: integer }, ['start', 'limit']),
    ],
  }))
  return object({ data: list(entry), meta: object({ pagination }, ['pagination']) }, ['data', 'meta'])
}
