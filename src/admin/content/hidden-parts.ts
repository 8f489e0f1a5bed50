// Components and zones with parts that the administrator does not see: whoever replaces their entries would lose these parts.
import type { Body } from '../../content/documents/input/types.js'
import type { ContentType } from '../../model/schema/types.js'
import { superAdminGrants } from '../permissions/grants.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale } from './content-access.js'
import { viewerOf } from './document-view.js'
import { wholePopulate } from './shown-attributes.js'

/** The same for somebody who sees everything. */
export const unrestricted = (access: ContentAccess): ContentAccess => ({
  ...access,
  grants: superAdminGrants(access.documents.context.model),
})

/** Of these attributes, those whose entries have more in `whole` than in `seen`. */
export const partlyHidden = ({ attributes }: ContentType, fields: readonly string[], seen: Body, whole: Body): readonly string[] =>
  partsIn(attributes, fields).filter((field) => JSON.stringify(seen[field]) !== JSON.stringify(whole[field]))

const partsIn = (attributes: ContentType['attributes'], fields: readonly string[]): readonly string[] =>
  fields.filter((field) => ['component', 'dynamiczone'].includes(String(attributes.get(field)?.kind)))

/** Of these attributes of a draft, those whose entries have parts that the administrator does not see: attributes, or links. */
export async function hiddenInDraft(access: ContentAccess, name: DocumentName, fields: readonly string[]): Promise<readonly string[]> {
  const { type, documentId, locale } = name
  const parts = partsIn(type.attributes, fields)
  if (parts.length === 0) return []
  const read = async (as: ContentAccess): Promise<Body> => {
    const whole = wholePopulate({ ...viewerOf(as), onlyIds: true }, type)
    const populate = Object.fromEntries(parts.filter((field) => field in whole).map((field) => [field, whole[field]]))
    const parameters = { ...inLocale(locale), status: 'draft', fields: ['documentId'], populate }
    return ((await findVersions(as, { type, mode: 'first', documentId, parameters })) ?? {}) as Body
  }
  return partlyHidden(type, parts, await read(access), await read(unrestricted(access)))
}
