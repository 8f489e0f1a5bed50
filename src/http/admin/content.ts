// Content as the resources of the administration API use it: for the administrator who asks, with documents as responses.
import * as z from 'zod'
import { type ContentAccess, type DocumentName, localeOf, readableType } from '../../admin/content/content-access.js'
import { type DocumentView, viewDocument } from '../../admin/content/document-view.js'
import { openContent } from '../../admin/content/opened-content.js'
import { ApiError, forbidden, notFound } from '../../foundation/errors/errors.js'
import type { HeaderInput } from './headers.js'
import { type AdmittedRequest, type Answered, answer } from './resource.js'
import { tagOf } from './revisions.js'

/** The uid of a type, in a path. */
export const typeInput = z.string().max(200)
const documentInput = z.string().min(1).max(255)
/** The parameters of the path of a document. */
export const byDocument = z.strictObject({ type: typeInput, document: documentInput })
const localeInput = z.string().max(1_000).optional()
/** One locale, in a query; the default one where it is absent. */
export const localeQuery = z.strictObject({ locale: localeInput.describe('The code of a locale; the default one unless it is given') })
/** One locale, several, or all. */
export const localesQuery = z.strictObject({
  locale: localeInput.describe('One locale, several separated by commas, or `*` for all; the default one unless it is given'),
})
/** Writes that mean a state of a document. */
export const ofDocument: HeaderInput = { state: { of: 'the document' } }
/** The same, where a locale that the document does not have can be made. */
export const ofDocumentOrNew: HeaderInput = { state: { of: 'the document', orNew: 'a locale that the document does not have' } }
/** Attributes of a document. */
export const attributesInput = z.record(z.string().max(500), z.unknown())
/** A version of a document in a response. */
export const versionAnswer = z.looseObject({ documentId: z.string() })

const state = z.enum(['draft', 'changed', 'published'])

/** A document in a response. */
export const documentAnswer = z.strictObject({
  data: z.strictObject({
    documentId: z.string(),
    locale: z.string().nullable(),
    revision: z.string().nullable(),
    state: state.nullable(),
    draft: versionAnswer.nullable(),
    published: versionAnswer.nullable(),
    more: z.array(z.string()),
    locales: z.array(
      z.strictObject({ locale: z.string().nullable(), state, updatedAt: z.string().nullable(), publishedAt: z.string().nullable() }),
    ),
    may: z.strictObject({
      update: z.array(z.string()),
      ...{ delete: z.boolean(), publish: z.boolean(), unpublish: z.boolean(), discardDraft: z.boolean() },
    }),
  }),
})

/** Opens content for the administrator of a request. */
export async function contentOf({ administration, administrator, actor, installation, request }: AdmittedRequest): Promise<ContentAccess> {
  return openContent(administration, installation, {
    administratorId: administrator.id,
    grants: await administration.grantsOf(administrator, installation.model),
    actor,
    requestId: request.id,
  })
}

/** Checks that the administrator may read the type of a path, and do something to any document of it. @throws ApiError 404, 403 */
export const admitTo =
  (action: 'create' | 'update' | 'publish' | 'unpublish' | 'discard') =>
  async (asked: AdmittedRequest<{ readonly type: string }>): Promise<void> => {
    const access = await contentOf(asked)
    const needed = `${readableType(access, asked.params.type).uid}.${action}`
    if (!access.grants.may(needed)) throw forbidden(needed)
  }

/** The document that a path and a query name. @throws ApiError 404, 403, 400 */
export async function documentNamed(
  access: ContentAccess,
  params: z.output<typeof byDocument>,
  { locale }: z.output<typeof localeQuery>,
): Promise<DocumentName> {
  const type = readableType(access, params.type)
  return { type, documentId: params.document, locale: await localeOf(access, type, locale) }
}

/** The document that a path and a query name as a response, with its ETag. @throws ApiError 404, 403, 400 */
export async function namedResponse(
  asked: AdmittedRequest<z.output<typeof byDocument>, z.output<typeof localeQuery>>,
): Promise<Answered<{ data: DocumentView }>> {
  const access = await contentOf(asked)
  return documentResponse(access, await documentNamed(access, asked.params, asked.query))
}

/** A document as a response, with its ETag. @throws ApiError 404 where it does not exist for the administrator */
export async function documentResponse(access: ContentAccess, name: DocumentName): Promise<Answered<{ data: DocumentView }>> {
  const view = await viewDocument(access, name)
  if (view === null) throw notFound()
  return answer({ data: view }, { etag: tagOf(view) })
}

/** Does a write; where the document is in another state than it expects, the response is 412 with the document as it is now. */
export async function orChanged<Value>(
  access: ContentAccess,
  name: DocumentName,
  write: () => Promise<Answered<Value>>,
): Promise<Answered<Value>> {
  try {
    return await write()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error
    const view = await viewDocument(access, name)
    if (view === null) throw error
    const { status, name: kind, message } = error
    const value = { data: null, error: { status, name: kind, message, details: { document: view } } }
    return { status, value: value as never, headers: { etag: tagOf(view) } }
  }
}
