// Writes of documents by an administrator: creating, changing paths, deleting, and what moves between draft and published version.

import type { Body } from '../../content/documents/input/types.js'
import type { WriteRequest, WriteStart } from '../../content/documents/operation.js'
import { isSameRow } from '../../content/documents/read/whole-document.js'
import { ApiError, forbidden, notFound, validationError } from '../../foundation/errors/errors.js'
import { noAttributes, unionOf } from '../../foundation/grants.js'
import type { HookAction } from '../../foundation/public/documents.js'
import type { ContentType } from '../../model/schema/types.js'
import { type ChangedPaths, checkGiven, dataOf } from './changed-paths.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale, localesOf } from './content-access.js'
import { anewIn, copyOf } from './document-copy.js'
import { viewerOf } from './document-view.js'
import { fileIdsIn } from './found-links.js'
import { locating } from './located-errors.js'
import { wholePopulate } from './shown-attributes.js'
import { administratorPolicy, type Expected, type PolicyTerms } from './write-policy.js'

/** What is done to a whole document. */
export type DocumentAction = 'delete' | 'publish' | 'unpublish' | 'discardDraft'

/** How the log of activity calls what is done. */
export const verbs: Readonly<Record<HookAction, string>> = {
  ...{ create: 'create', update: 'update', delete: 'delete' },
  ...{ publish: 'publish', unpublish: 'unpublish', discardDraft: 'discard' },
}

/** Changed fields that an entry of the log names. */
const maxFields = 100

const noFiles: ReadonlySet<number> = new Set()

/** A write by the administrator, except for its document and data. */
function beginWrite(
  access: ContentAccess,
  type: ContentType,
  action: HookAction,
  locale: string | null,
  { fields, ...terms }: Partial<Omit<PolicyTerms, 'note'>> & { readonly fields?: readonly string[] },
): Omit<WriteStart, 'documentId' | 'body'> {
  const write: WriteRequest = {
    type,
    // Every write to a type without drafts publishes.
    query: { ...(locale === null ? {} : { locale }), status: 'draft' },
    format: 'flat',
    answers: 'nothing',
    caller: { kind: 'administrator', id: access.administratorId },
    requestId: access.requestId,
    depth: 0,
  }
  const act = { action: verbs[action], subject: type.uid, ...(fields === undefined ? {} : { fields: fields.slice(0, maxFields) }) }
  const note: PolicyTerms['note'] = (transaction, { documentId: id, entries }) => {
    const locales = [...new Set(entries.flatMap((entry) => entry.locale ?? []))]
    return access.note(transaction, entries.length === 0 ? null : { ...act, id, locales })
  }
  const policy = administratorPolicy(access, { expected: null, alwaysRecords: false, copiedFiles: noFiles, ...terms, note })
  return { action, grants: access.grants, write, policy }
}

/**
 * Creates a document, or the one of a single type that has none. Returns its documentId. `copiedFiles`: see `PolicyTerms`.
 * @throws ApiError 400, 403, 409, 412
 */
export async function createDocument(
  access: ContentAccess,
  type: ContentType,
  locale: string | null,
  data: Body,
  copiedFiles = noFiles,
): Promise<string> {
  checkGiven(type, data)
  const creation = beginWrite(access, type, 'create', locale, { fields: Object.keys(data), copiedFiles })
  const outcome = await locating(access, type, data, () => access.writes({ ...creation, documentId: null, body: async () => ({ data }) }))
  if (outcome === null) throw notFound()
  return outcome.documentId
}

/** Creates a copy of a draft, with `data` in place of what it has. Returns its documentId. @throws ApiError 400, 403, 404, 409 */
export async function cloneDocument(access: ContentAccess, name: DocumentName, data: Body): Promise<string> {
  const { type, documentId, locale } = name
  const { model } = access.documents.context
  if (type.singleType) throw validationError('A single type has one document')
  const parameters = { ...inLocale(locale), status: 'draft', populate: wholePopulate(viewerOf(access), type) }
  const version = (await findVersions(access, { type, mode: 'first', documentId, parameters })) as Body | null
  if (version === null) throw notFound()
  const rights = access.grants.content?.toWrite(type.uid, 'create') ?? []
  const creatable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const copied = copyOf(anewIn(model), type, version, creatable)
  return createDocument(access, type, locale, { ...copied, ...data }, new Set(fileIdsIn(model, type, version)))
}

/** Changes what stands at some paths of a draft. @throws ApiError 400, 403, 404, 412 */
export async function changeDocument(access: ContentAccess, name: DocumentName, changes: ChangedPaths, expected: Expected): Promise<void> {
  const { type, documentId, locale } = name
  const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'] }
  // Whoever may not see the document learns nothing of its components.
  const seen = await findVersions(access, { type, mode: 'first', documentId, parameters })
  const whole = seen === null ? null : await access.documents.whole(type, { documentId, locale, side: 'draft' })
  if (whole !== null && !expected.some((each) => isSameRow(each, whole.revision))) throw changed()
  if (whole !== null && Object.keys(changes).length === 0) {
    if (!access.grants.may(`${type.uid}.update`)) throw forbidden(`${type.uid}.update`)
    return
  }
  if (whole === null && Object.keys(changes).some((path) => path.includes('/'))) throw notFound()
  const readable = access.grants.content?.readable.get(type.uid) ?? noAttributes
  const data = dataOf(access.documents.context.model, type, changes, whole?.row ?? null, readable)
  await updateDocument(access, name, data, { fields: Object.keys(changes), expected })
}

/** How a draft is written to. */
interface UpdateTerms extends Partial<Pick<PolicyTerms, 'alwaysRecords' | 'copiedFiles'>> {
  /** The fields that the log of activity names. */
  readonly fields: readonly string[]
  readonly expected: Expected
}

/** Writes to a draft. @throws ApiError 400, 403, 404, 412 */
export async function updateDocument(
  access: ContentAccess,
  { type, documentId, locale }: DocumentName,
  data: Body,
  terms: UpdateTerms,
): Promise<void> {
  const update = beginWrite(access, type, 'update', locale, terms)
  const outcome = await locating(access, type, data, () => access.writes({ ...update, documentId, body: async () => ({ data }) }))
  if (outcome === null) throw notFound()
}

const changed = () => new ApiError('PreconditionFailedError', 'The document has changed since it was read')

/**
 * Deletes, publishes, unpublishes or discards in one locale, in several, or in all (`*`), in one transaction. `expected` null: in any state, and
 * in those of the locales that the document has.
 * @throws ApiError 400, 403, 404, 412
 */
export async function actOnDocument(
  access: ContentAccess,
  action: DocumentAction,
  { type, documentId, locale }: Omit<DocumentName, 'locale'> & { readonly locale: string | undefined },
  expected: Expected | null,
): Promise<void> {
  const locales = await localesOf(access, type, locale)
  const ifMissing = expected === null ? 'passes' : 'fails'
  const writes = locales.map((each) => ({
    ...beginWrite(access, type, action, type.localized ? each : null, { expected }),
    documentId,
    body: null,
  }))
  const outcomes =
    writes.length === 1
      ? [await access.writes(writes[0]!)]
      : await access.batch(
          writes.map((write, index) => ({ ...write, ifMissing, ifUnmatched: 'fails' as const, label: locales[index] ?? undefined })),
        )
  const missing = outcomes.filter((outcome) => outcome === null).length
  if (missing > 0 && (expected !== null || missing === outcomes.length)) throw notFound()
}
