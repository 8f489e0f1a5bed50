// What an administrator may do to one document: the rights of its action that hold for every version concerned, looked up in the
// transaction of the write.
import type { Transaction } from '../../database/database.js'
import { forbidden } from '../../foundation/errors/errors.js'
import { type AttributeGrants, type ContentRight, type ContentRights, noAttributes, unionOf } from '../../foundation/grants.js'
import { hiddenFrom } from './hidden-rows.js'
import { checkKept, checkWritable } from './input/writable-keys.js'
import type { WriteContext, WriteOperation } from './operation.js'
import { readWhole } from './read/whole-document.js'
import { type StoredVersion, versionsOf } from './store/rows.js'

/**
 * Holds a write to the rights of its caller; `absent`: the document does not exist for it. A locale that the document gets needs the
 * right to create.
 * @throws ApiError 403 without a right, or for a part of what is asked; 400 for attributes that no right names
 */
export async function admit(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  content: ContentRights,
): Promise<'admitted' | 'absent'> {
  const { documentId, everywhere, locale, write } = operation
  const { type } = write
  const versions = documentId === null ? [] : await versionsOf(transaction, type, documentId)
  if (documentId !== null && versions.length === 0) return 'absent'
  const hidden = await hiddenFrom(
    context,
    transaction,
    operation.grants,
  )(
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
  const rights = await rightsFor(context, transaction, operation, content.toWrite(type.uid, action), concerned)
  if (concerned.length === 0 && documentId !== null) {
    // Whoever may do nothing in a locale does not learn whether the document has it.
    if (rights.length === 0) return 'absent'
    if (action !== 'create') return 'admitted'
  }
  if (rights.length === 0) throw forbidden(`${type.uid}.${action}`)
  if (operation.data !== null) {
    const writable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
    const { model } = context.read
    checkWritable(model, type, operation.data, writable, operation.addedByHooks)
    const [row] = concerned.filter(({ published_at }) => !type.draftAndPublish || published_at === null)
    if (row !== undefined && hasParts(writable)) {
      const whole = await readWhole(model, context.plans, transaction, type, row.id, 'values')
      checkKept(model, type, operation.data, whole ?? {}, writable)
    }
  }
  return 'admitted'
}

/** Whether only a part of a component may be written. */
const hasParts = (attributes: AttributeGrants): boolean => attributes !== 'all' && [...attributes.values()].some((below) => below !== 'all')

/** The rights that hold for all these versions; for a new one, those for its locale. Where data is not at stake, each version may have one of its own. */
async function rightsFor(
  context: WriteContext,
  transaction: Transaction,
  operation: WriteOperation,
  rights: readonly ContentRight[],
  versions: readonly StoredVersion[],
): Promise<readonly ContentRight[]> {
  const { type } = operation.write
  if (versions.length === 0) return rights.filter(({ locales }) => locales === null || locales.includes(operation.locale!))
  const whole: ContentRight[] = []
  const covered = new Set<number>()
  for (const right of rights) {
    const { scope, locales } = right
    const scopes = scope === null ? new Map() : new Map([[type.uid, scope]])
    const outside = await hiddenFrom(context, transaction, { ...operation.grants, scopes })(
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

/** @throws ApiError 403 if the caller may not see what was written */
export async function checkVisible(
  context: WriteContext,
  transaction: Transaction,
  { grants, locale, write: { type } }: WriteOperation,
  documentId: string,
): Promise<void> {
  const versions = (await versionsOf(transaction, type, documentId)).filter((version) => !type.localized || version.locale === locale)
  const hidden = await hiddenFrom(
    context,
    transaction,
    grants,
  )(
    type,
    versions.map(({ id }) => id),
  )
  if (hidden.size > 0) throw forbidden()
}
