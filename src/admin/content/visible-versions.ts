// Versions of documents whose existence an administrator may know: for events and presence, which name documents but do not read them.
import type { ContentType } from '../../model/schema/types.js'
import type { Administrator } from '../identity/identify.js'
import { parseRights } from '../permissions/permissions.js'
import { type ContentAccess, findDrafts } from './content-access.js'
import { idFields } from './link-view.js'

/** A version by the uid of its type; locale null: the type has none. */
interface VersionName {
  readonly uid: string
  readonly documentId: string
  readonly locale: string | null
}

/** The part of the access that decides about versions. */
export interface VersionReader extends Pick<ContentAccess, 'documents' | 'grants'> {
  readonly administrator: Pick<Administrator, 'id' | 'roles' | 'isSuperAdmin' | 'permissions'>
}

/** True if the administrator may know of a version. `isGone`: it no longer exists, so that no condition can be checked. */
type MayKnow = (version: VersionName, isGone?: boolean) => boolean

const keyOf = ({ uid, documentId, locale }: VersionName): string => JSON.stringify([uid, documentId, locale])

/** Decides about these versions. Each type with rights under conditions needs one read. */
export async function decideVersions(reader: VersionReader, versions: readonly VersionName[]): Promise<MayKnow> {
  const { documents, grants } = reader
  const { model } = documents.context
  const isUnconditional = unconditionalRights(reader)
  const readable = new Set<string>()
  const others = versions.filter((version) => !isUnconditional(version))
  for (const uid of new Set(others.map((version) => version.uid))) {
    const type = model.types.get(uid)
    if (type === undefined || !type.exposed || !grants.may(`${uid}.find`)) continue
    const some = others.filter((version) => version.uid === uid)
    for (const version of await findReadable(reader, type, some)) readable.add(keyOf(version))
  }
  return (version, isGone = false) => isUnconditional(version) || (!isGone && readable.has(keyOf(version)))
}

/** True for versions that the administrator may read by type and locale alone. */
function unconditionalRights({ documents, grants, administrator }: VersionReader): (version: VersionName) => boolean {
  const { model } = documents.context
  const { id, isSuperAdmin, roles, permissions } = administrator
  const rights = isSuperAdmin ? null : parseRights(permissions, model, { id, isSuperAdmin, roles: roles.map((role) => role.id) })
  return ({ uid, locale }) => {
    if (model.types.get(uid)?.exposed !== true || !grants.may(`${uid}.find`)) return false
    if (rights === null) return true
    return (rights.get(uid)?.read ?? []).some(
      (right) => right.scope === null && (right.locales === null || locale === null || right.locales.includes(locale)),
    )
  }
}

async function findReadable(reader: VersionReader, type: ContentType, some: readonly VersionName[]): Promise<readonly VersionName[]> {
  const ids = some.map(({ documentId }) => documentId)
  const rows = await findDrafts<{ readonly documentId: string; readonly locale?: string | null }>(reader, type, ids, idFields(type))
  return rows.map(({ documentId, locale = null }) => ({ uid: type.uid, documentId, locale: type.localized ? locale : null }))
}
