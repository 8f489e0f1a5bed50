// Checks scopes and policies of the project before files are linked to a document.
import { type ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import type { Schema } from '../../../model/schema/types.js'
import type { ReadRequest } from '../../../query/request.js'
import { type ReadContext, readRowsInScope, readVersions } from '../../../query/rest/read.js'
import type { Policies, ReadCaller } from '../read/plans.js'

/** The row that files are linked to. */
interface UploadTarget {
  readonly shape: Schema
  readonly id: number
  /** The media attribute. */
  readonly attribute: string
}

/**
 * Checks scopes and update policies before files are linked to a row. Entries of components are accepted only if the project has neither.
 * `asker`: null for the project itself, which is exempt from policies. The caller's permission is already checked.
 * @throws ApiError 400 if the row does not exist for the caller; 403
 */
export type CheckUpload = (grants: Grants, asker: ReadCaller | null, to: UploadTarget) => Promise<void>

interface VersionRow {
  readonly id: number
  readonly documentId: string
}

const noEntry = (): ApiError => validationError('No entry with this refId')

/** `rows` executes a read. */
export const createUploadCheck =
  (context: ReadContext, policies: Policies | null, rows: (request: ReadRequest) => Promise<readonly VersionRow[]>): CheckUpload =>
  async (grants, asker, { shape, id, attribute }) => {
    const asks = asker !== null && policies?.has('update') === true
    if (shape.kind === 'component') {
      if (asks || grants.scopes.size > 0) throw noEntry()
      return
    }
    const isScoped = grants.scopes.has(shape.uid)
    if (!asks && !isScoped) return
    const versions = await rows(readVersions(context, shape, id))
    const ids = versions.map((row) => row.id)
    if (ids.length === 0 || (isScoped && (await rows(readRowsInScope(context, grants, shape, ids))).length < ids.length)) throw noEntry()
    if (!asks) return
    const asked = { type: shape, ...asker, action: 'update' as const, grants, documentId: versions[0]!.documentId }
    await policies.check({ ...asked, parameters: {}, data: { [attribute]: [] } })
  }
