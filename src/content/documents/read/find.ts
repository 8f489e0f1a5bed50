// Reads documents. A query string is parsed once per caller and text, a plan is compiled once per shape; otherwise only values are bound.

import { createHmac } from 'node:crypto'
import type { CachedForms, PlanHandle, ReadBytes, ReadDatabase, ReadResult } from '../../../database/database.js'
import { forbidden } from '../../../foundation/errors/errors.js'
import { fullAccess, type Grants } from '../../../foundation/grants.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { isColumnRelation } from '../../../model/schema/graph.js'
import { fileType, isPolymorphicTarget } from '../../../model/schema/link.js'
import type { Attribute, ContentType, Model, MorphTo, Relation, Scalar, Schema } from '../../../model/schema/types.js'
import type { Filter, Populated, ReadRequest, Selection } from '../../../query/request.js'
import { type Parameters, readParameters } from '../../../query/request.js'
import { type ReadContext, type ReadTarget, readRequest } from '../../../query/rest/read.js'
import { type CheckUpload, createUploadCheck } from '../guard/check-upload.js'
import type { CodeRequest, FindReadHooks, Plans, Policies, ReadCaller, TransactionReads, TypeReadHooks } from './plans.js'

export type { CachedForms as KeptForms, ReadBytes }

/** A read of a type's documents. `action` must be granted. */
export interface Find extends ReadTarget {
  readonly action: string
  readonly query: string
  readonly envelope: 'data' | 'bare' | 'count' | 'countToLimit'
  /** The caller; absent: the service itself or a script, exempt from policies and hooks of the project. */
  readonly asker?: ReadCaller
  /** True once the client has disconnected. */
  readonly isGone?: () => boolean
  /** Time (`elapsed`) of the request or its scopes; default: now. The response includes everything acknowledged before. */
  readonly since?: number
  /** Called with the plan before it is executed. */
  readonly planned?: ((plan: PlanHandle) => void) | undefined
}

/** Adds the project's defaults for omitted parameters. */
export type AddDefaults = (type: ContentType, parameters: Parameters) => Parameters

/** Settings for reads; null: none. */
interface ReadSettings {
  readonly addDefaults: AddDefaults | null
  readonly aroundReads: FindReadHooks | null
  readonly policies: Policies | null
  readonly revisionKey: string
}

export interface DocumentReads {
  readonly context: ReadContext
  /**
   * Returns the response as JSON bytes; null if a requested document does not exist.
   * @throws ApiError 403 without the grant, 400 for parameters that are invalid or name hidden attributes
   */
  find(grants: Grants, wanted: Find): Promise<ReadResult>
  /** Like `find`, with parameters and response as data. Hooks around reads do not apply. */
  findData(grants: Grants, wanted: Omit<Find, 'query'> & { readonly parameters: Parameters }): Promise<unknown>
  readonly checkUpload: CheckUpload
  /** A stored row, regardless of grants, and its revision; null if it does not exist. */
  whole(type: ContentType, which: RowSelector): Promise<{ readonly row: WholeRow; readonly revision: string } | null>
  hasCodeAround(uid: string): boolean
  /** A read for the service itself; the route has checked the caller's grant. */
  findAsService(wanted: Omit<Find, 'action'>): Promise<unknown>
}

function parseResponse(answer: ReadResult): unknown {
  if (answer === null) return null
  const value = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as unknown
  answer.release()
  return value
}

/** Describes a read to policies and hooks. */
const toCodeRequest = (
  asker: ReadCaller,
  grants: Grants,
  { type, action, identity }: Omit<Find, 'query'>,
  parameters: Parameters,
): CodeRequest => ({
  ...asker,
  type,
  grants,
  parameters,
  data: null,
  action: action.endsWith('.findOne') ? 'findOne' : 'find',
  documentId: identity === undefined ? null : String(identity.value),
})

const noSettings: ReadSettings = { addDefaults: null, aroundReads: null, policies: null, revisionKey: '' }

export function createDocumentReads(
  context: ReadContext,
  database: ReadDatabase,
  plans: Plans,
  { addDefaults, aroundReads, policies, revisionKey }: ReadSettings = noSettings,
): DocumentReads {
  /** Reads with the policies and hooks of the project. */
  async function findWithin(around: TypeReadHooks, asker: ReadCaller, grants: Grants, wanted: Find): Promise<ReadResult> {
    const { type, query, identity, envelope, isGone, format = 'flat' } = wanted
    const given = readParameters(query, context.pages.arrayLimit)
    const asked = toCodeRequest(asker, grants, wanted, addDefaults === null ? given : addDefaults(type, given))
    const parameters = await around.before(asked)
    // The response includes what project code has written or seen.
    const since = elapsed()
    const { plan, values, identityAt } = plans.forRequest(readRequest(context, grants, wanted, parameters), envelope)
    wanted.planned?.(plan)
    const answer = await database.execute(plan, identity === undefined ? values : values.with(identityAt, identity.value), isGone, since)
    return around.after === null ? answer : around.after({ ...asked, parameters }, answer, format)
  }

  const rows = async (request: ReadRequest) =>
    parseResponse(await database.execute(plans.forRequest(request, 'bare').plan, request.values)) as never

  const documents: DocumentReads = {
    context,
    findData: async (caller, { parameters, ...wanted }) => {
      if (!caller.may(wanted.action)) throw forbidden(wanted.action)
      if (wanted.asker !== undefined) await policies?.check(toCodeRequest(wanted.asker, caller, wanted, parameters))
      const { plan, values } = plans.forRequest(readRequest(context, caller, wanted, parameters), wanted.envelope)
      return parseResponse(await database.execute(plan, values))
    },
    checkUpload: createUploadCheck(context, policies, rows),
    whole: async (type, which) => {
      const execute = (request: ReadRequest) => database.execute(plans.forRequest(request, 'bare').plan, request.values)
      const revised = await readRevised(execute, context.model, revisionKey, type, which)
      if (revised === null) return null
      return { revision: revised.revision, row: JSON.parse(Buffer.from(revised.bytes).toString('utf8')) as WholeRow }
    },
    hasCodeAround: (uid) => (aroundReads?.(uid) ?? null) !== null,
    findAsService: async (wanted) => parseResponse(await documents.find(fullAccess, { ...wanted, action: `${wanted.type.uid}.find` })),
    async find(caller, wanted) {
      if (!caller.may(wanted.action)) throw forbidden(wanted.action)
      const around = wanted.asker === undefined ? null : (aroundReads?.(wanted.type.uid) ?? null)
      if (around !== null) return findWithin(around, wanted.asker!, caller, wanted)
      const { type, mode, format = 'flat', envelope, paged = true, query, identity, isGone, since } = wanted
      const text = `${caller.key} ${type.uid} ${mode} ${format} ${envelope} ${paged} ${identity?.attribute} ${query}`
      const { plan, values, identityAt } = plans.forQueryString(
        text,
        () => {
          const given = readParameters(query, context.pages.arrayLimit)
          return readRequest(context, caller, wanted, addDefaults === null ? given : addDefaults(type, given))
        },
        envelope,
      )
      wanted.planned?.(plan)
      return database.execute(plan, identity === undefined ? values : values.with(identityAt, identity.value), isGone, since)
    },
  }
  return documents
}

/**
 * Extent of a read, cumulative: values and components; relations and files of components; files of the row; links that the row stores
 * itself. `required`: values, components and required links.
 */
export type Extent = 'values' | 'components' | 'files' | 'links' | 'required'

/** Selects a row by id, or a document's draft (or only row) in a locale. */
type RowSelector =
  | { readonly id: number }
  | { readonly documentId: string; readonly locale: string | null; readonly side: 'draft' | 'published' }

/** A stored row with components and ids of links. */
export type WholeRow = Readonly<Record<string, unknown>>

export async function readWhole(
  { read, plans, transaction }: TransactionReads,
  type: ContentType,
  id: number,
  extent: Extent,
): Promise<WholeRow | null> {
  const request = requestWholeRow(read.model, type, { id }, extent)
  const bytes = copyBytes(await transaction.read(plans.forRequest(request, 'bare').plan, request.values))
  return bytes === null ? null : (JSON.parse(Buffer.from(bytes).toString('utf8')) as WholeRow)
}

function copyBytes(answer: ReadResult): Uint8Array | null {
  if (answer === null) return null
  const bytes = Uint8Array.from(answer.bytes)
  answer.release()
  return bytes
}

const requestWholeRow = (model: Model, type: ContentType, which: RowSelector, extent: Extent): ReadRequest =>
  // Links may lead to drafts and published versions.
  oneRow(type, which, {
    status: extent === 'links' || extent === 'required' ? 'any' : 'draft',
    selection: wholeSelection(model, type, extent),
  })

/** Maximum number of links read per relation stored by other documents. */
const maxLinksOfOthers = 101

/** Relations whose links other documents store. */
export const getInverseRelations = ({ attributes }: ContentType): readonly Relation[] =>
  [...attributes.values()].filter(
    (attribute) =>
      attribute.kind === 'relation' &&
      (attribute.storage.kind === 'inverseColumn' || (attribute.storage.kind === 'link' && !attribute.storage.owner)),
  ) as readonly Relation[]

/** A read of the first links to a row stored by other documents; null if its type has no such relation. */
function requestInverseLinks(model: Model, type: ContentType, which: RowSelector): ReadRequest | null {
  const relations = getInverseRelations(type)
  if (relations.length === 0) return null
  const request = oneRow(type, which, { status: 'any', selection: { shape: type, fields: [], populate: [] } })
  const page = { start: request.values.length, limit: request.values.length + 1 }
  const populate = relations.map((attribute): Populated => {
    const target = model.types.get(attribute.target)!
    return { kind: 'relation', attribute, target, page, filter: null, sort: [], of: selectIds(target) }
  })
  return { ...request, selection: { shape: type, fields: [], populate }, values: [...request.values, 0, maxLinksOfOthers] }
}

function oneRow(type: ContentType, which: RowSelector, { status, selection }: Pick<ReadRequest, 'status' | 'selection'>): ReadRequest {
  const { filter, values } = toFilter(type, which)
  return {
    type,
    mode: 'first',
    status,
    locale: { kind: 'any' },
    targetLocale: null,
    filter,
    publication: [],
    closedDrafts: [],
    scopes: {},
    sort: [],
    page: { style: 'offset', start: 0, limit: 1, withCount: false },
    selection,
    format: 'flat',
    identityAt: -1,
    values: [0, 1, ...values],
  }
}

function toFilter(type: ContentType, which: RowSelector): { readonly filter: Filter; readonly values: readonly unknown[] } {
  const equal = (name: string, at: number): Filter => ({
    kind: 'compare',
    attribute: type.attributes.get(name) as Scalar,
    operator: '$eq',
    values: [at],
  })
  if ('id' in which) return { filter: equal('id', 2), values: [which.id] }
  const { documentId, locale, side } = which
  const publishedAt = type.attributes.get('publishedAt') as Scalar
  const of: Filter[] = [
    equal('documentId', 2),
    ...(type.localized ? [equal('locale', 3)] : []),
    ...(type.draftAndPublish
      ? [
          {
            kind: 'compare' as const,
            attribute: publishedAt,
            operator: side === 'draft' ? ('$null' as const) : ('$notNull' as const),
            values: [],
          },
        ]
      : []),
  ]
  return { filter: { kind: 'all', of }, values: [documentId, ...(type.localized ? [locale] : [])] }
}

function wholeSelection(model: Model, shape: Schema, extent: Extent): Selection {
  const attributes = [...shape.attributes.values()]
  const below = (uid: string): Selection => wholeSelection(model, model.components.get(uid)!, extent)
  const populate = attributes.flatMap((attribute): Populated[] => {
    if (attribute.kind === 'component') return [{ kind: 'component', attribute, filter: null, sort: [], of: below(attribute.component) }]
    if (attribute.kind === 'dynamiczone') return [{ kind: 'zone', attribute, on: attribute.components.map(below) }]
    if (extent === 'required') return attribute.required ? requiredLink(model, attribute) : []
    if (attribute.kind === 'morphTo') return extent === 'links' ? [populateMorph(model, attribute)] : []
    const isRead = shape.kind === 'component' ? extent !== 'values' : readsOwn(extent, attribute)
    const target = isRead ? getLinkedType(model, attribute) : null
    if (target !== null && (attribute.kind === 'relation' || attribute.kind === 'media'))
      return [{ kind: 'relation', attribute, target, filter: null, sort: [], of: selectIds(target) }]
    return []
  })
  // The stored text of a password leaves the database only here, to detect that there is one.
  const fields = attributes
    .filter((attribute) => attribute.kind === 'scalar')
    .map((scalar): Scalar => ({ ...scalar, type: scalar.type === 'password' ? 'string' : scalar.type }))
  return { shape, fields, populate }
}

function requiredLink(model: Model, attribute: Attribute): Populated[] {
  if (attribute.kind === 'morphTo') return [populateMorph(model, attribute)]
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return []
  const target = model.types.get(attribute.kind === 'media' ? fileType : attribute.target)!
  return [{ kind: 'relation', attribute, target, filter: null, sort: [], of: selectIds(target) }]
}

/** True if a link of the row itself is read. Links stored by other documents are not its own. */
function readsOwn(extent: Extent, attribute: Attribute): boolean {
  if (attribute.kind === 'media') return extent === 'files' || extent === 'links'
  return extent === 'links' && attribute.kind === 'relation' && isOwn(attribute)
}

const isOwn = ({ storage }: Relation): boolean => storage.kind === 'link' && storage.owner

const selectIds = (shape: Schema): Selection => ({ shape, fields: [shape.attributes.get('id') as Scalar], populate: [] })

const populateMorph = (model: Model, attribute: MorphTo): Populated => ({
  kind: 'morph',
  attribute,
  on: [...model.types.values()].filter(isPolymorphicTarget).map((type) => ({ ...selectIds(type), versions: 'any' as const })),
})

/** The type that links lead to; null for attributes without links. */
export function getLinkedType(model: Model, attribute: Attribute): ContentType | null {
  if (attribute.kind === 'media') return model.types.get(fileType)!
  if (attribute.kind !== 'relation') return null
  return attribute.storage.kind === 'link' || isColumnRelation(attribute) ? model.types.get(attribute.target)! : null
}

/** Lengths of the two parts of a revision: the row with its components and links, and links stored by other documents. */
const ownCharacters = 27
const othersCharacters = 16

/** Executes a read with its own plan. */
type Execute = (request: ReadRequest) => Promise<ReadResult>

/**
 * Reads a row with components and links as JSON, and its revision: two keyed hashes, of the row, and of the first links stored by other
 * documents. The key prevents inferring hidden parts of the row.
 */
export async function readRevised(
  execute: Execute,
  model: Model,
  key: string,
  type: ContentType,
  which: RowSelector,
): Promise<{ readonly revision: string; readonly bytes: Uint8Array } | null> {
  const hashOf = (bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest('base64url')
  // Read first: the next write detects a state newer than the revision, but would overwrite an older one unnoticed.
  const request = requestInverseLinks(model, type, which)
  const others = request === null ? null : copyBytes(await execute(request))
  const bytes = copyBytes(await execute(requestWholeRow(model, type, which, 'links')))
  if (bytes === null) return null
  const linked = others === null ? '' : hashOf(others).slice(0, othersCharacters)
  return { revision: hashOf(bytes).slice(0, ownCharacters) + linked, bytes }
}

/** True if two revisions are of the same row, ignoring links stored by others. */
export const isSameRow = (one: string, other: string): boolean => one.slice(0, ownCharacters) === other.slice(0, ownCharacters)
