// The result of a write for clients that have the rest of the document: revision, state and generated values, as of its transaction.

import type { Body } from '../../content/documents/input/types.js'
import type { WriteScope } from '../../content/documents/operation.js'
import { readRevised } from '../../content/documents/read/find.js'
import { findVersions, modifiedCondition } from '../../content/documents/store/rows.js'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { isObject, type ReadRequest } from '../../query/request.js'
import type { RequestPath } from './document-changes.js'
import type { DocumentView } from './document-view.js'
import { toEntries } from './link-targets.js'

/** A written document in one locale, without its values. */
export interface WrittenDocument extends Pick<DocumentView, 'documentId' | 'locale' | 'revision' | 'state'> {
  readonly updatedAt: string | null
  readonly publishedAt: string | null
  /** Row ids of new entries of components, by their path in the request. */
  readonly ids: Readonly<Record<string, number>>
  /** Generated uids by attribute. */
  readonly uids: Readonly<Record<string, string>>
}

/** A request for the result of a write. */
export interface WriteReport {
  /** The locale of the result; null on types without locales. */
  readonly locale: string | null
  /** The path in the request of a value in the data; absent: the same. */
  readonly toRequestPath?: ((path: RequestPath) => RequestPath) | undefined
  /** Receives the result. A transaction that is repeated calls it again. */
  done(written: WrittenDocument): void
}

/** Reads the result of a write in its transaction. */
export async function readWritten(
  scope: WriteScope,
  documentId: string,
  { locale, toRequestPath = (path) => path }: Omit<WriteReport, 'done'>,
): Promise<WrittenDocument> {
  const { transaction, read, plans, revisionKey, type, operation } = scope
  const compared = { locale, differs: modifiedCondition(transaction.dialect, read.model, type), synced: null }
  const versions = (await findVersions(transaction, type, documentId, compared)).filter((version) => version.locale === locale)
  const draft = versions.find(({ published_at }) => !type.draftAndPublish || published_at === null)
  const published = versions.find(({ published_at }) => !type.draftAndPublish || published_at !== null)
  const execute = (request: ReadRequest) => transaction.read(plans.forRequest(request, 'bare').plan, request.values)
  const revised = draft === undefined ? null : await readRevised(execute, read.model, revisionKey, type, { id: draft.id })
  const row = revised === null ? {} : (JSON.parse(Buffer.from(revised.bytes).toString('utf8')) as Body)
  const data = isObject(operation.data) ? operation.data : {}
  const isNew = operation.action === 'create'
  const ids = isNew || operation.action === 'update' ? newEntries(read.model, type, data, row, isNew) : []
  return {
    documentId,
    locale,
    revision: revised?.revision ?? null,
    state: versions.length === 0 ? null : published === undefined ? 'draft' : draft?.modified === 1 ? 'changed' : 'published',
    updatedAt: toTime((draft ?? published)?.updated_at),
    publishedAt: toTime(published?.published_at),
    ids: Object.fromEntries(ids.map(({ path, id }) => [toRequestPath(path).join('/'), id])),
    uids: isNew ? generatedUids(scope, type, data, row) : {},
  }
}

/** The result of a write that changed nothing. */
export function toWritten({ documentId, locale, revision, state, locales }: DocumentView): WrittenDocument {
  const { updatedAt = null, publishedAt = null } = locales.find((one) => one.locale === locale) ?? {}
  return { documentId, locale, revision, state, updatedAt, publishedAt, ids: {}, uids: {} }
}

const toTime = (milliseconds: number | null | undefined): string | null =>
  milliseconds === null || milliseconds === undefined ? null : new Date(milliseconds).toISOString()

interface NewEntry {
  readonly path: RequestPath
  readonly id: number
}

/** The new entries of the data with their stored ids. Lists that hooks of the project changed have none. */
function newEntries(model: Model, shape: Schema, data: Body, row: Body, isNew: boolean, above: RequestPath = []): readonly NewEntry[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    if (attribute?.kind !== 'component' && attribute?.kind !== 'dynamiczone') return []
    const given = toEntries(value)
    const stored = toEntries(row[name])
    const isStored = (entry: Body, index: number) => !isNew && entry.id !== undefined && String(entry.id) !== String(stored[index]!.id)
    if (given.length !== stored.length || given.some(isStored)) return []
    return given.flatMap((entry, index) => {
      const path = [...above, name, ...(Array.isArray(value) ? [String(index)] : [])]
      const component = componentOf(model, attribute, entry)
      const { id } = stored[index]!
      const isNewEntry = isNew || entry.id === undefined
      const below = component === undefined ? [] : newEntries(model, component, entry, stored[index]!, isNewEntry, path)
      return [...(isNewEntry && typeof id === 'number' ? [{ path, id }] : []), ...below]
    })
  })
}

const componentOf = (model: Model, attribute: Attribute, entry: Body) =>
  model.components.get(attribute.kind === 'component' ? attribute.component : String(entry.__component))

/** The readable uids that a new document has and its data has not. */
function generatedUids({ operation }: WriteScope, type: ContentType, data: Body, row: Body): Readonly<Record<string, string>> {
  const readable = operation.grants.content?.readable.get(type.uid) ?? noAttributes
  const uids = [...type.attributes.values()].flatMap((attribute): (readonly [string, string])[] => {
    const { name } = attribute
    const value = row[name]
    if (attribute.kind !== 'scalar' || attribute.type !== 'uid' || typeof value !== 'string') return []
    return value !== data[name] && isGranted(readable, name) ? [[name, value]] : []
  })
  return Object.fromEntries(uids)
}
