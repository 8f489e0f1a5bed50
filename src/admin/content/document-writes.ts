// Writes of documents by an administrator: create, change by paths, delete, and publication.

import { sql } from 'kysely'
import { isExtraKey } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import type { WriteRequest, WriteStart } from '../../content/documents/operation.js'
import { isSameRow } from '../../content/documents/read/find.js'
import { clearScheduled, scheduledIn } from '../../content/documents/store/rows.js'
import { ApiError, forbidden, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import { noAttributes } from '../../foundation/grants.js'
import type { HookAction } from '../../foundation/public/documents.js'
import type { ContentType } from '../../model/schema/types.js'
import { withErrorPaths } from '../error-paths.js'
import { type ContentAccess, type DocumentName, findVersion, parseLocales } from './content-access.js'
import {
  changedPaths,
  type DocumentChanges,
  extraKeyMessage,
  isNothing,
  namesStored,
  needsDraft,
  type RequestPath,
  toData,
} from './document-changes.js'
import { type Attempt, storeLeniently, toAttributePath } from './lenient-changes.js'
import { administratorPolicy, type Expected, type PolicyTerms } from './write-policy.js'
import { readWritten, type WriteReport } from './written-document.js'

/** An action on a whole document. */
export type DocumentAction = 'delete' | 'publish' | 'unpublish' | 'discardDraft'

/** Verbs in the log of activity. */
const verbs: Readonly<Record<HookAction, string>> = {
  create: 'create',
  update: 'update',
  delete: 'delete',
  publish: 'publish',
  unpublish: 'unpublish',
  discardDraft: 'discard',
}

const maxFields = 100

const noFiles: ReadonlySet<number> = new Set()

interface BegunTerms extends Partial<Omit<PolicyTerms, 'log'>> {
  /** The fields that the log of activity names. */
  readonly fields?: readonly string[]
  readonly report?: WriteReport | undefined
}

/** A write by the administrator, except for its document and data. */
function beginWrite(
  access: ContentAccess,
  type: ContentType,
  action: HookAction,
  locale: string | null,
  { fields, report, ...terms }: BegunTerms,
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
  const note: PolicyTerms['log'] = async (scope, { documentId: id, entries }) => {
    const locales = [...new Set(entries.flatMap((entry) => entry.locale ?? []))]
    if (entries.length > 0 && (action === 'publish' || action === 'unpublish')) {
      const named = entries.map((entry) => entry.locale)
      clearScheduled(scope.transaction, sql`${scheduledIn(type, id, named)} and failed_at > ${0}`)
    }
    const written = report === undefined ? undefined : await readWritten(scope, id, report)
    if (written !== undefined) report!.done(written)
    await access.log(scope.transaction, entries.length === 0 ? null : { ...act, id, locales, responseData: written })
  }
  const policy = administratorPolicy(access, { expected: null, alwaysRecords: false, copiedFiles: noFiles, ...terms, log: note })
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
  { copiedFiles = noFiles, report }: Pick<BegunTerms, 'copiedFiles' | 'report'> = {},
): Promise<string> {
  checkNewData(type, data)
  const creation = beginWrite(access, type, 'create', locale, { fields: Object.keys(data), copiedFiles, report })
  const outcome = await withErrorPaths({ access, type, data }, () =>
    access.writes({ ...creation, documentId: null, body: async () => ({ data }) }),
  )
  if (outcome === null) throw notFound()
  return outcome.documentId
}

interface ChangeTerms extends Pick<UpdateTerms, 'expected' | 'report'> {
  /** Stores the valid part of the changes. */
  readonly isLenient: boolean
}

/**
 * Changes values at paths of a draft, and lists of components. Returns the errors of what was left out.
 * @throws ApiError 400, 403, 404, 412
 */
export async function changeDocument(
  access: ContentAccess,
  name: DocumentName,
  given: DocumentChanges,
  { expected, report, isLenient }: ChangeTerms,
): Promise<readonly InputMistake[]> {
  const { type } = name
  const row = await readDraft(access, name, given, expected)
  if (row !== null && isNothing(given)) {
    if (!access.grants.may(`${type.uid}.update`)) throw forbidden(`${type.uid}.update`)
    return []
  }
  const { model } = access.documents.context
  const readable = access.grants.content.readable.get(type.uid) ?? noAttributes
  const attempt: Attempt = async (changes, note) => {
    const { data, mistakes, toRequestPath } = toData({ model, shape: type, readable }, changes, row ?? {})
    if (mistakes.length > 0) throw mistakenInput(mistakes)
    const toErrorPath = (path: RequestPath): RequestPath => {
      note(toRequestPath(path), toRequestPath(toAttributePath(model, type, data, path)))
      return toRequestPath(path)
    }
    await updateDocument(access, name, data, { fields: changedPaths(changes), expected, report, toRequestPath, toErrorPath })
  }
  if (isLenient) return storeLeniently(given, attempt)
  await attempt(given, () => {})
  return []
}

/** The stored draft with the ids of its components, if changes need it; null: there is none. @throws ApiError 404, 412 */
async function readDraft(access: ContentAccess, name: DocumentName, given: DocumentChanges, expected: Expected): Promise<Body | null> {
  if (!needsDraft(given) && !isNothing(given)) return null
  const { type, documentId, locale } = name
  // Without access to the document, its components must not be revealed.
  const seen = await findVersion(access, name)
  const whole = seen === null ? null : await access.documents.whole(type, { documentId, locale, side: 'draft' })
  if (whole !== null && !expected.some((each) => isSameRow(each, whole.revision))) throw staleError()
  if (whole === null && namesStored(given)) throw notFound()
  return whole?.row ?? null
}

interface UpdateTerms extends Pick<BegunTerms, 'alwaysRecords' | 'copiedFiles' | 'report'> {
  readonly fields: readonly string[]
  readonly expected: Expected
  /** The path in the request of a value in the data; absent: the same. */
  readonly toRequestPath?: (path: RequestPath) => RequestPath
  /** The same for errors. */
  readonly toErrorPath?: (path: RequestPath) => RequestPath
}

/** Writes to a draft. @throws ApiError 400, 403, 404, 412 */
export async function updateDocument(
  access: ContentAccess,
  { type, documentId, locale }: DocumentName,
  data: Body,
  terms: UpdateTerms,
): Promise<void> {
  const { toRequestPath, toErrorPath, report: wanted, ...policyTerms } = terms
  const report = wanted === undefined ? undefined : { ...wanted, toRequestPath }
  const update = beginWrite(access, type, 'update', locale, { ...policyTerms, report })
  const write = () => access.writes({ ...update, documentId, body: async () => ({ data }) })
  const outcome = await withErrorPaths({ access, type, data, toRequestPath: toErrorPath }, write)
  if (outcome === null) throw notFound()
}

const staleError = () => new ApiError('PreconditionFailedError', 'The document has changed since it was read')

/**
 * Deletes, publishes, unpublishes or discards in one locale, in several, or in all (`*`), in one transaction. `expected` null: any state,
 * in those of the locales that exist.
 * @throws ApiError 400, 403, 404, 412
 */
export async function actOnDocument(
  access: ContentAccess,
  action: DocumentAction,
  { type, documentId, locale }: Omit<DocumentName, 'locale'> & { readonly locale: string | undefined },
  expected: Expected | null,
  report?: WriteReport,
): Promise<void> {
  const locales = await parseLocales(access, type, locale)
  const ifMissing = expected === null ? 'passes' : 'fails'
  const writes = locales.map((each, index) => ({
    // The last write of a transaction reports for all.
    ...beginWrite(access, type, action, type.localized ? each : null, {
      expected,
      report: index === locales.length - 1 ? report : undefined,
    }),
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

/** Checks that the data of a new document names only writable attributes. @throws ApiError 400 */
function checkNewData(type: ContentType, data: Body): void {
  const mistakes = Object.keys(data)
    .filter((name) => isExtraKey(type, name))
    .map((name) => ({ path: [name], message: extraKeyMessage(type, name), code: 'forbidden' as const }))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
}
