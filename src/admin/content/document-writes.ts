// Writes of documents by an administrator: create, change by paths, delete, and publication.

import { isExtraKey } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import type { WriteRequest, WriteStart } from '../../content/documents/operation.js'
import { isSameRow } from '../../content/documents/read/find.js'
import { ApiError, forbidden, invalidAt, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import type { HookAction } from '../../foundation/public/documents.js'
import type { ContentType, Model, Schema } from '../../model/schema/types.js'
import { withErrorPaths } from '../error-paths.js'
import { type ContentAccess, type DocumentName, findVersion, parseLocales } from './content-access.js'
import { administratorPolicy, type Expected, type PolicyTerms } from './write-policy.js'

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
  const note: PolicyTerms['log'] = (transaction, { documentId: id, entries }) => {
    const locales = [...new Set(entries.flatMap((entry) => entry.locale ?? []))]
    return access.log(transaction, entries.length === 0 ? null : { ...act, id, locales })
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
  copiedFiles = noFiles,
): Promise<string> {
  checkNewData(type, data)
  const creation = beginWrite(access, type, 'create', locale, { fields: Object.keys(data), copiedFiles })
  const outcome = await withErrorPaths(access, type, data, () =>
    access.writes({ ...creation, documentId: null, body: async () => ({ data }) }),
  )
  if (outcome === null) throw notFound()
  return outcome.documentId
}

/** Changes values at paths of a draft. @throws ApiError 400, 403, 404, 412 */
export async function changeDocument(access: ContentAccess, name: DocumentName, changes: ChangedPaths, expected: Expected): Promise<void> {
  const { type, documentId, locale } = name
  // Without access to the document, its components must not be revealed.
  const seen = await findVersion(access, name)
  const whole = seen === null ? null : await access.documents.whole(type, { documentId, locale, side: 'draft' })
  if (whole !== null && !expected.some((each) => isSameRow(each, whole.revision))) throw staleError()
  if (whole !== null && Object.keys(changes).length === 0) {
    if (!access.grants.may(`${type.uid}.update`)) throw forbidden(`${type.uid}.update`)
    return
  }
  if (whole === null && Object.keys(changes).some((path) => path.includes('/'))) throw notFound()
  const readable = access.grants.content.readable.get(type.uid) ?? noAttributes
  const data = toData(access.documents.context.model, type, changes, whole?.row ?? null, readable)
  await updateDocument(access, name, data, { fields: Object.keys(changes), expected })
}

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
  const outcome = await withErrorPaths(access, type, data, () => access.writes({ ...update, documentId, body: async () => ({ data }) }))
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
): Promise<void> {
  const locales = await parseLocales(access, type, locale)
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

/** New values by paths such as `title`, `seo/metaTitle` or `sections/3/picture`. */
type ChangedPaths = Readonly<Record<string, unknown>>

const maxDepth = 50

/** A tree of changes: a value, or changes below. */
interface ChangedNode {
  value?: { readonly set: unknown }
  readonly below: Map<string, ChangedNode>
}

/**
 * The data of an update that sets the values at the paths. Components on the way keep their ids, and with them their other attributes.
 * `row`: the present version with the ids of its components; null: there is none. Positions in lists refer to `row`.
 * @throws ApiError 400 for invalid or overlapping paths
 */
function toData(
  model: Model,
  type: ContentType,
  changes: ChangedPaths,
  row: Body | null,
  readable: AttributeGrants,
): Readonly<Record<string, unknown>> {
  const root: ChangedNode = { below: new Map() }
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('/')
    if (names.length > maxDepth || names.includes('')) throw noSuchPath(path)
    let at = root
    for (const name of names) {
      if (at.value !== undefined) throw overlappingPath(path)
      const next: ChangedNode = at.below.get(name) ?? { below: new Map() }
      at.below.set(name, next)
      at = next
    }
    if (at.below.size > 0 || at.value !== undefined) throw overlappingPath(path)
    at.value = { set: value }
  }
  return toEntry({ model, shape: type, readable }, root, row ?? {}, '')
}

const invalidPath = (path: string, message: string) => invalidAt(path.split('/'), message)
const noSuchPath = (path: string) => invalidPath(path, `The path ${path} leads nowhere`)
const overlappingPath = (path: string) => invalidPath(path, `The path ${path} is below another one`)
const localeHint = 'The locale is a parameter of the query, such as ?locale=en'

/** Checks that the data of a new document names only writable attributes. @throws ApiError 400 */
function checkNewData(type: ContentType, data: Body): void {
  const mistakes = Object.keys(data)
    .filter((name) => isExtraKey(type, name))
    .map((name) => ({
      path: [name],
      message: name === 'locale' ? localeHint : `${type.uid} has no attribute ${name} that can be given`,
    }))
  if (mistakes.length > 0) throw mistakenInput(mistakes)
}

/** The shape of entries, and what the administrator can read of them. */
interface ChangeScope {
  readonly model: Model
  readonly shape: Schema
  readonly readable: AttributeGrants
}

function toEntry(place: ChangeScope, changed: ChangedNode, row: Body, above: string): Record<string, unknown> {
  return Object.fromEntries(
    [...changed.below].map(([name, below]) => {
      const path = `${above}${name}`
      if (isExtraKey(place.shape, name)) throw path === 'locale' ? invalidPath(path, localeHint) : noSuchPath(path)
      return [name, toValue(place, name, below, row[name], path)] as const
    }),
  )
}

function toValue({ model, shape, readable }: ChangeScope, name: string, changed: ChangedNode, stored: unknown, path: string): unknown {
  if (changed.value !== undefined) return changed.value.set
  const attribute = shape.attributes.get(name)
  // The number of unreadable entries must not be revealed.
  const isSeen = isGranted(readable, name)
  if (!isSeen || (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone')) throw noSuchPath(path)
  const uidOf = (entry: Body): string => (attribute.kind === 'component' ? attribute.component : String(entry.__component))
  const kept = (entry: Body): Body => ({ id: entry.id, ...(attribute.kind === 'dynamiczone' ? { __component: entry.__component } : {}) })
  const inside = (entry: Body, below: ChangedNode, at: string): Body => {
    const component = model.components.get(uidOf(entry))
    if (component === undefined) throw noSuchPath(at)
    const place = { model, shape: component, readable: grantedBelow(readable, name) }
    return { ...kept(entry), ...toEntry(place, below, entry, `${at}/`) }
  }
  if (attribute.kind === 'component' && !attribute.repeatable) {
    if (typeof stored !== 'object' || stored === null) throw noSuchPath(path)
    return inside(stored as Body, changed, path)
  }
  const entries = Array.isArray(stored) ? (stored as readonly Body[]) : []
  for (const [position, { value }] of changed.below)
    if (!/^(?:0|[1-9]\d{0,5})$/.test(position) || Number(position) >= entries.length || value !== undefined)
      throw noSuchPath(`${path}/${position}`)
  return entries.map((entry, index) => {
    const below = changed.below.get(String(index))
    return below === undefined ? kept(entry) : inside(entry, below, `${path}/${index}`)
  })
}
