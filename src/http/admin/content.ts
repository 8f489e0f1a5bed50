// Content for the resources of the administration API: schemas of documents and of lists, and documents as responses.

import * as z from 'zod'
import { type ContentAccess, type DocumentName, openContentAccess, parseLocale, readableType } from '../../admin/content/content-access.js'
import { type DocumentView, viewDocument } from '../../admin/content/document-view.js'
import { scheduledVerbs } from '../../admin/content/scheduled-view.js'
import { toWritten, type WriteReport, type WrittenDocument } from '../../admin/content/written-document.js'
import { toErrorView } from '../../admin/error-paths.js'
import type { FormerResult } from '../../admin/idempotency.js'
import { administratorName } from '../../admin/names.js'
import { pageInput, timestamp } from '../../admin/values.js'
import { ApiError, forbidden, notFound } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import { documentStates } from '../../query/request.js'
import { publicationFilters } from '../../query/rest/versions.js'
import { inputErrorSchema } from './input.js'
import { appliedHeader, type Preference } from './preferences.js'
import { type AdmittedRequest, type HeaderInput, type ResourceResponse, respond } from './resource.js'
import { documentTag } from './revisions.js'

/** The uid of a type, in a path. */
export const typeInput = z.string().max(200)
const documentInput = z.string().min(1).max(255)
/** The parameters of the path of a document. */
export const byDocument = z.strictObject({ type: typeInput, document: documentInput })
const localeInput = z.string().max(1_000).optional()
export const localeQuery = z.strictObject({ locale: localeInput.describe('The code of a locale; the default one unless it is given') })
/** One locale, several, or all. */
export const localesQuery = z.strictObject({
  locale: localeInput.describe('One locale, several separated by commas, or `*` for all; the default one unless it is given'),
})
/** Writes that require the state of a document. */
export const documentState: HeaderInput = { state: { of: 'the document' } }
/** Writes that require the state of a document, or create a locale. */
export const documentStateOrNew: HeaderInput = { state: { of: 'the document', orNew: 'a locale that the document does not have' } }
/** Attributes of a document. */
export const attributesInput = z.record(z.string().max(500), z.unknown())
/** A version of a document in a response. */
const versionSchema = z.looseObject({ id: z.int(), documentId: z.string() })
/** `meta` of a list with pages in both directions. */
export const cursorMeta = z.strictObject({ limit: z.int(), next: z.string().nullable(), previous: z.string().nullable() })
/** A total; `exact` false: there are more. */
export const boundedTotal = z.strictObject({ total: z.int(), exact: z.boolean() })
export const totalSchema = z.strictObject({ data: boundedTotal })

/** The state of a document in a locale. */
const state = z.enum(documentStates)
const text = z.string()
const size = z.number().nullable()

export const thumbnailSchema = z.strictObject({
  url: text,
  mime: text.nullable(),
  alternativeText: text.nullable(),
  width: size,
  height: size,
})

/** A linked document. */
export const linkSchema = z.strictObject({
  id: z.int(),
  type: text,
  documentId: text,
  locale: text.nullable(),
  state: state.optional().describe('Only of types with Draft & Publish'),
  name: text.nullable().describe('The value of the naming attribute'),
  fields: z.record(text, z.unknown()).describe('Up to three further attributes, by the list layout of the type'),
  thumbnail: thumbnailSchema.nullable(),
})

/** Documents that use another one, or a file, by attribute. */
export const usesSchema = z.array(z.strictObject({ type: text, path: text, documents: z.array(linkSchema), more: z.boolean() }))

/** The locales of a document in a list. */
export const rowLocales = z
  .array(z.strictObject({ locale: text, state: state.optional() }))
  .optional()
  .describe('Only of types with locales')

/** Why a document was left unchanged. */
export const documentErrorSchema = z.strictObject({
  status: z.int(),
  name: text,
  message: text,
  /** The locale of the errors; null on types without locales, and if it is unknown. */
  locale: text.nullable(),
  errors: z.array(inputErrorSchema),
})

/** A publication at a later time, or its withdrawal. */
export const scheduledSchema = z.strictObject({
  locale: text.nullable(),
  action: z.enum(scheduledVerbs),
  at: timestamp,
  administrator: administratorName.describe('Who scheduled it'),
  error: documentErrorSchema.nullable().describe('Why it was not carried out; null: it is due at its time'),
})

/** A document in a list. */
export const rowSchema = z.strictObject({
  id: z.int(),
  documentId: text,
  locale: text.nullable(),
  state: state.optional().describe('Only of types with Draft & Publish'),
  locales: rowLocales,
  scheduled: z
    .array(scheduledSchema.pick({ locale: true, action: true, at: true }))
    .optional()
    .describe('Only of types with Draft & Publish'),
  values: z.record(text, z.unknown()),
})

/** Totals of a list. */
export const listTotals = boundedTotal.extend({
  states: z.strictObject({ draft: boundedTotal, changed: boundedTotal, published: boundedTotal }).optional().describe('With `by=state`'),
})

/** A document in a response. */
export const documentSchema = z.strictObject({
  data: z.strictObject({
    documentId: z.string(),
    locale: z.string().nullable(),
    revision: z.string().nullable(),
    state: state.nullable(),
    draft: versionSchema.nullable(),
    published: versionSchema.nullable(),
    changed: z.array(z.string()),
    more: z.array(z.string()),
    locales: z.array(
      z.strictObject({ locale: z.string().nullable(), state, updatedAt: z.string().nullable(), publishedAt: z.string().nullable() }),
    ),
    scheduled: z.array(scheduledSchema),
    may: z.strictObject({
      update: z.array(z.string()),
      delete: z.boolean(),
      publish: z.boolean(),
      unpublish: z.boolean(),
      discardDraft: z.boolean(),
    }),
  }),
})

/** The result of a write for `Prefer: return=minimal`. */
const writtenSchema = z.strictObject({
  documentId: z.string(),
  locale: z.string().nullable(),
  revision: z.string().nullable(),
  state: state.nullable(),
  updatedAt: z.string().nullable(),
  publishedAt: z.string().nullable(),
  ids: z.record(z.string(), z.int()).describe('Ids of new entries of components, by their path in the request'),
  uids: z.record(z.string(), z.string()).describe('Generated uids, by attribute'),
})

/** A written document in a response, or the result of the write. */
export const writtenDocumentSchema = z.strictObject({ data: z.union([documentSchema.shape.data, writtenSchema]) })

/** A changed document in a response, or the result of the change. */
export const changedDocumentSchema = writtenDocumentSchema.extend({
  refused: z.array(inputErrorSchema).optional().describe('With `handling=lenient`: the errors of the values that were left out'),
})

/** Content for the administrator of a request. */
export const contentAccess = ({ administration, installation, administrator, actor, request }: AdmittedRequest): Promise<ContentAccess> =>
  openContentAccess(administration, installation, { administrator, actor, requestId: request.id })

/**
 * Checks that the administrator may read the type of the path, and has the right to the action on any of its documents.
 * @throws ApiError 404, 403
 */
export const admitTo =
  (action: 'create' | 'update' | 'publish' | 'unpublish' | 'discard') =>
  async (context: AdmittedRequest<{ readonly type: string }>): Promise<void> => {
    const access = await contentAccess(context)
    const needed = `${readableType(access, context.params.type).uid}.${action}`
    if (!access.grants.may(needed)) throw forbidden(needed)
  }

/** A request that names a document by its path, and a locale by its query. */
export type DocumentRequest = AdmittedRequest<z.output<typeof byDocument>, z.output<typeof localeQuery>>

/** The document of a request. @throws ApiError 404, 403, 400 */
export async function openDocument(context: DocumentRequest): Promise<{ readonly access: ContentAccess; readonly name: DocumentName }> {
  const { params, query } = context
  const access = await contentAccess(context)
  const type = readableType(access, params.type)
  return { access, name: { type, documentId: params.document, locale: await parseLocale(access, type, query.locale) } }
}

type DocumentResponse = ResourceResponse<z.input<typeof documentSchema>>

/** The document of a request as a response with ETag. @throws ApiError 404, 403, 400 */
export async function respondNamed(context: DocumentRequest): Promise<DocumentResponse> {
  const { access, name } = await openDocument(context)
  return respondDocument(access, name)
}

async function readDocument(access: ContentAccess, name: DocumentName): Promise<DocumentView> {
  const view = await viewDocument(access, name)
  if (view === null) throw notFound()
  return view
}

/** A document as a response with ETag. @throws ApiError 404 if it does not exist for the administrator */
export async function respondDocument(access: ContentAccess, name: DocumentName): Promise<DocumentResponse> {
  const view = await readDocument(access, name)
  return respond({ data: view as never }, { etag: documentTag(view) })
}

/** Runs a write and responds with the document; if it has another state than expected, the response is 412 with the current document. */
export async function respondWritten<Value = z.input<typeof documentSchema>>(
  access: ContentAccess,
  name: DocumentName,
  write: () => Promise<void>,
  present = (): Promise<ResourceResponse<Value>> => respondDocument(access, name) as never,
): Promise<ResourceResponse<Value>> {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error
    const view = await viewDocument(access, name)
    if (view === null) throw error
    const { status, name: kind, message } = error
    const value = { data: null, error: { status, name: kind, message, details: { document: view } } }
    return { status, value: value as never, headers: { etag: documentTag(view) } }
  }
  return present()
}

type WrittenResponse = ResourceResponse<z.input<typeof changedDocumentSchema>>

interface PreferredResponse {
  /** For the write; undefined: the response has the document. */
  readonly report: WriteReport | undefined
  /** Responds after the write. `refused`: what was left out; undefined: the write was not lenient. */
  present(access: ContentAccess, name: DocumentName, refused?: readonly InputMistake[]): Promise<WrittenResponse>
}

/** The response to a write as the client prefers it. `former`: the same request was carried out before. */
export function preferredResponse(
  preferred: ReadonlySet<Preference>,
  locale: string | null,
  former: FormerResult | null = null,
): PreferredResponse {
  const isMinimal = preferred.has('return=minimal')
  let written = (former?.responseData ?? null) as WrittenDocument | null
  const report: WriteReport = {
    locale,
    done: (result) => {
      written = result
    },
  }
  return {
    report: isMinimal ? report : undefined,
    present: async (access, name, refused) => {
      const view = isMinimal && written !== null ? null : await readDocument(access, name)
      const minimal = written ?? toWritten(view!)
      const etag = isMinimal ? `"${minimal.revision ?? 'none'}"` : documentTag(view!)
      const left = refused === undefined ? {} : { refused: refused.map(toErrorView) as never }
      return respond({ data: (isMinimal ? minimal : view) as never, ...left }, { etag, ...appliedHeader(preferred) })
    },
  }
}

const anyText = { type: 'string' } as const
const texts = { type: 'array', items: anyText } as const

/** Described only; checked by the content API. */
const nested = (described: Readonly<Record<string, unknown>>, description: string) =>
  z
    .unknown()
    .meta({ ...described, description })
    .optional()

/** Cursors contain sort values, which may be long. */
export const cursorInput = z.string().max(10_000).optional()

/** The query of a list of documents. */
export const listQuery = z.strictObject({
  filters: nested(
    { type: 'object', additionalProperties: true },
    'Conditions: `filters[title][$containsi]=tea`, `filters[$state]=changed`',
  ),
  sort: nested({ anyOf: [anyText, texts] }, 'Keys such as `title:asc`, or `author.name:desc` through a relation'),
  fields: nested(
    { anyOf: [anyText, texts] },
    'The attributes to return, also relations, files and components; those of the list layout unless it is given',
  ),
  populate: nested(
    { anyOf: [anyText, texts, { type: 'object', additionalProperties: true }] },
    'The relations, media, components and dynamic zones to return',
  ),
  q: z.string().max(10_000).optional().describe('A text to search in all text attributes'),
  locale: z.string().max(1_000).optional().describe('The code of a locale, or `*` for all; the default one unless it is given'),
  status: z.enum(['draft', 'published']).optional().describe('Which versions; drafts unless it is given'),
  publicationFilter: z.enum(publicationFilters).optional().describe('A condition on the draft and the published version of a document'),
  hasPublishedVersion: z.enum(['true', 'false']).optional().describe('Whether the document is published in any locale'),
  limit: pageInput.limit,
  after: cursorInput,
  before: cursorInput,
})

/** The query of the totals of a list. */
export const totalQuery = listQuery.extend({ by: z.enum(['state']).optional().describe('Also counts by state') })
