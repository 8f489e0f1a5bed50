// The policy of document writes by administrators: rights, the expected state, restricted files, history and the log of activity.

import { findHiddenFrom } from '../../content/documents/guard/hidden-rows.js'
import type { Body } from '../../content/documents/input/types.js'
import { checkKept, checkWritable } from '../../content/documents/input/writable-keys.js'
import type { WriteOperation, WriteOutcome, WritePolicy, WriteScope } from '../../content/documents/operation.js'
import { getInverseRelations, isSameRow, readRevised, readWhole } from '../../content/documents/read/find.js'
import { findVersions, type StoredVersion } from '../../content/documents/store/rows.js'
import { ApiError, forbidden } from '../../foundation/errors/errors.js'
import { type AttributeGrants, type ContentRight, type ContentRights, noAttributes, unionOf } from '../../foundation/grants.js'
import type { ReadRequest } from '../../query/request.js'
import type { ContentAccess } from './content-access.js'
import { historyRecorder } from './history-recorder.js'
import { findRestrictedFiles } from './restricted-files.js'

/** The expected state of a document: its revisions, one for each locale; empty: the document does not exist in the locale. */
export type Expected = readonly string[]

/** The terms of one write. */
export interface PolicyTerms {
  /** Null: any state. */
  readonly expected: Expected | null
  /** The replaced draft is stored in the history, even if another one was stored recently. */
  readonly alwaysRecords: boolean
  /** Row ids of files that the data takes from a version that the administrator has read. */
  readonly copiedFiles: ReadonlySet<number>
  /** Notes the write in the log of activity. */
  log(scope: WriteScope, outcome: Pick<WriteOutcome, 'documentId' | 'entries'>): Promise<void>
}

/** The policy of a write by an administrator. */
export function administratorPolicy(
  access: Pick<ContentAccess, 'documents' | 'administratorId' | 'history'>,
  { expected, alwaysRecords, copiedFiles, log: note }: PolicyTerms,
): WritePolicy {
  const recorder = historyRecorder(access, alwaysRecords)
  return {
    writerId: access.administratorId,
    before: async (scope) => {
      const { action, documentId, grants } = scope.operation
      const content = grants.content!
      if ((await admit(scope, content)) === 'absent') return null
      if (action === 'create' && documentId !== null)
        throw new ApiError('PreconditionFailedError', 'The single type has its document: change it, or one of its locales', { documentId })
      if (expected !== null) await checkRevisions(scope, expected)
      await recorder?.recordReplaced(scope)
      return { hiddenFiles: await findRestrictedFiles(scope, content, copiedFiles) }
    },
    after: async (scope, outcome) => {
      await note(scope, outcome)
      await recorder?.recordPublished(scope, outcome.documentId)
      if (scope.operation.action !== 'delete') await checkVisible(scope, outcome.documentId)
    },
  }
}

/**
 * Checks the rights of the caller; `absent`: the document does not exist for the caller. A new locale of a document needs the right to
 * create.
 * @throws ApiError 403 without a right to the action or a part of it; 400 for attributes that no right includes
 */
async function admit(scope: WriteScope, content: ContentRights): Promise<'admitted' | 'absent'> {
  const { transaction, operation, type } = scope
  const { documentId, everywhere, locale } = operation
  const versions = documentId === null ? [] : await findVersions(transaction, type, documentId)
  if (documentId !== null && versions.length === 0) return 'absent'
  const hidden = await findHiddenFrom(scope, operation.grants)(
    type,
    versions.map(({ id }) => id),
  )
  if (versions.length > 0 && hidden.size === versions.length) return 'absent'
  const concerned = everywhere || !type.localized ? versions : versions.filter((version) => version.locale === locale)
  if (concerned.some(({ id }) => hidden.has(id))) {
    if (everywhere) throw forbidden()
    return 'absent'
  }
  const action = operation.action === 'update' && concerned.length === 0 ? 'create' : operation.action
  const rights = await rightsFor(scope, content.toWrite(type.uid, action), concerned)
  if (concerned.length === 0 && documentId !== null) {
    // Without any right in a locale, it must not be revealed whether the document has it.
    if (rights.length === 0) return 'absent'
    if (action !== 'create') return 'admitted'
  }
  if (rights.length === 0) throw forbidden(`${type.uid}.${action}`)
  if (operation.data !== null) {
    const writable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
    const { model } = scope.read
    checkWritable(model, type, operation.data, writable, operation.addedByHooks)
    const [row] = concerned.filter(({ published_at }) => !type.draftAndPublish || published_at === null)
    if (row !== undefined && hasParts(writable)) {
      const whole = await readWhole(scope, type, row.id, 'components')
      checkKept(model, type, operation.data, whole ?? {}, { writable, readable: content.readable.get(type.uid) ?? noAttributes })
    }
  }
  return 'admitted'
}

/** True if some component is only partly writable. */
const hasParts = (attributes: AttributeGrants): boolean => attributes !== 'all' && [...attributes.values()].some((below) => below !== 'all')

/**
 * The rights that apply to all versions; for a new one, those for its locale. Without data, different rights may cover different
 * versions.
 */
async function rightsFor(
  scope: WriteScope,
  rights: readonly ContentRight[],
  versions: readonly StoredVersion[],
): Promise<readonly ContentRight[]> {
  const { operation, type } = scope
  if (versions.length === 0) return rights.filter(({ locales }) => locales === null || locales.includes(operation.locale!))
  const whole: ContentRight[] = []
  const covered = new Set<number>()
  for (const right of rights) {
    const { scope: filter, locales } = right
    const scopes = filter === null ? new Map() : new Map([[type.uid, filter]])
    const outside = await findHiddenFrom(scope, { ...operation.grants, scopes })(
      type,
      versions.map(({ id }) => id),
    )
    const held = versions.filter(({ id, locale }) => !outside.has(id) && (locales === null || locales.includes(locale!)))
    for (const { id } of held) covered.add(id)
    if (held.length === versions.length) whole.push(right)
  }
  if (whole.length > 0 || operation.data !== null || covered.size < versions.length) return whole
  return rights
}

/** Checks that the written document is visible for the caller. @throws ApiError 403 */
async function checkVisible(scope: WriteScope, documentId: string): Promise<void> {
  const { transaction, type } = scope
  const { grants, locale } = scope.operation
  const versions = (await findVersions(transaction, type, documentId)).filter((version) => !type.localized || version.locale === locale)
  const hidden = await findHiddenFrom(scope, grants)(
    type,
    versions.map(({ id }) => id),
  )
  if (hidden.size > 0) throw forbidden()
}

/** The revision of a row, as the transaction sees it. */
async function revisionIn({ transaction, read, plans, revisionKey, type }: WriteScope, id: number): Promise<string | null> {
  const execute = (request: ReadRequest) => transaction.read(plans.forRequest(request, 'bare').plan, request.values)
  return (await readRevised(execute, read.model, revisionKey, type, { id }))?.revision ?? null
}

/** True if a write replaces links that are stored with other documents. */
function replacesOthers({ data, write: { type } }: WriteOperation): boolean {
  const given = (data ?? {}) as Body
  return getInverseRelations(type).some(({ name }) => Object.hasOwn(given, name) && !isChangeOfLinks(given[name]))
}

const isChangeOfLinks = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !('set' in value) && ('connect' in value || 'disconnect' in value)

/** For each locale of a write the row with its revision: the draft, or the published row if there is no draft. */
function revised({ everywhere, locale, write: { type } }: WriteOperation, versions: readonly StoredVersion[]): readonly StoredVersion[] {
  const concerned = versions.filter((version) => everywhere || !type.localized || version.locale === locale)
  const locales = [...new Set(concerned.map((version) => version.locale))]
  return locales.map((each) => concerned.find((version) => version.locale === each)!)
}

/**
 * Compares the expected revisions. Links that are stored with other documents may have changed, unless the write replaces them.
 * @throws ApiError 412 if a draft has another revision, or unexpectedly exists or does not exist
 */
async function checkRevisions(scope: WriteScope, expected: readonly string[]): Promise<void> {
  const { transaction, operation, type } = scope
  const { documentId } = operation
  const rows = documentId === null ? [] : revised(operation, await findVersions(transaction, type, documentId))
  if ((rows.length === 0) !== (expected.length === 0)) throw changed()
  const isMeant = replacesOthers(operation) ? (one: string, other: string) => one === other : isSameRow
  const stale: StoredVersion[] = []
  for (const row of rows) {
    const revision = await revisionIn(scope, row.id)
    if (revision === null || !expected.some((each) => isMeant(each, revision))) stale.push(row)
  }
  if (stale.length > 0) throw changed(operation.everywhere && type.localized ? stale : [])
}

/** `versions`: the changed ones, if a write affects several. */
function changed(versions: readonly StoredVersion[] = []): ApiError {
  const locales = versions.map(({ locale }) => locale).join(', ')
  return new ApiError('PreconditionFailedError', `${locales === '' ? '' : `${locales}: `}The document has changed since it was read`)
}
