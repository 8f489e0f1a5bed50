// Reading documents: the query string is read once per caller and text, the plan is compiled once per shape, and then
// only values travel.
import type { CachedForms, PlanHandle, ReadBytes, ReadDatabase, ReadResult } from '../../../database/database.js'
import { forbidden } from '../../../foundation/errors/errors.js'
import { fullAccess, type Grants } from '../../../foundation/grants.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { ContentType } from '../../../model/schema/types.js'
import type { ReadRequest } from '../../../query/request.js'
import { type Parameters, readParameters } from '../../../query/rest/parameters.js'
import { type ReadContext, type ReadTarget, readRequest } from '../../../query/rest/read.js'
import { type CheckUpload, createUploadCheck } from '../guard/check-upload.js'
import type { CodeRequest, FindReadHooks, Policies, ReadCaller, TypeReadHooks } from './hooks.js'
import type { Plans } from './plans.js'
import { type RowSelector, readRevised, type WholeRow } from './whole-document.js'

export type { CachedForms as KeptForms, ReadBytes }

/** A read of a type's documents. `action` must be granted; the query string says the rest. */
export interface Find extends ReadTarget {
  readonly action: string
  readonly query: string
  readonly envelope: 'data' | 'bare' | 'count' | 'countToLimit'
  /** The caller; absent: the service itself, or a script, without policies and hooks of the project. */
  readonly asker?: ReadCaller
  /** True once the client is gone; absent: the response is always awaited. */
  readonly isGone?: () => boolean
  /** The time of the request (`elapsed`), or of its scopes: the response includes everything acknowledged before; absent: before this call. */
  readonly since?: number
  /** Called with the plan before it is executed. */
  readonly planned?: ((plan: PlanHandle) => void) | undefined
}

/** Adds what the project takes for granted where a request says nothing. */
export type AddDefaults = (type: ContentType, parameters: Parameters) => Parameters

/** The project's settings for reads; null: none. */
export interface ReadSettings {
  readonly addDefaults: AddDefaults | null
  readonly aroundReads: FindReadHooks | null
  readonly policies: Policies | null
  /** Keys revisions of drafts. */
  readonly revisionKey: string
}

export interface DocumentReads {
  readonly context: ReadContext
  /**
   * Answers a read as JSON bytes; null where one document was asked for and is not there.
   * @throws ApiError 403 without the grant, 400 for parameters that make no sense or name what may not be seen.
   */
  find(grants: Grants, wanted: Find): Promise<ReadResult>
  /** The same for parameters that are data already, with the answer parsed; null where one document is not there. Hooks around reads do not hold. */
  findData(grants: Grants, wanted: Omit<Find, 'query'> & { readonly parameters: Parameters }): Promise<unknown>
  readonly checkUpload: CheckUpload
  /** A row as it is stored, independent of grants, and its revision; null: there is none. */
  whole(type: ContentType, which: RowSelector): Promise<{ readonly row: WholeRow; readonly revision: string } | null>
  /** True if the project has policies or hooks around the reads of a type. */
  hasCodeAround(uid: string): boolean
  /** The parsed answer for the service itself, where a route has checked the caller's grant for the whole. */
  findAsService(wanted: Omit<Find, 'action'>): Promise<unknown>
}

function parseResponse(answer: ReadResult): unknown {
  if (answer === null) return null
  const value = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as unknown
  answer.release()
  return value
}

/** A read as policies and hooks around reads see it. */
const toCodeRequest = (
  asker: ReadCaller,
  grants: Grants,
  { type, action, identity }: Omit<Find, 'query'>,
  parameters: Parameters,
): CodeRequest => ({
  ...{ ...asker, type, grants, parameters, data: null },
  action: action.endsWith('.findOne') ? 'findOne' : 'find',
  documentId: identity === undefined ? null : String(identity.value),
})

const noSettings: ReadSettings = { addDefaults: null, aroundReads: null, policies: null, revisionKey: '' }

/** The reads of one installation. */
export function createDocumentReads(
  context: ReadContext,
  database: ReadDatabase,
  plans: Plans,
  { addDefaults, aroundReads, policies, revisionKey }: ReadSettings = noSettings,
): DocumentReads {
  /** Reads with the policies and hooks of the project around it. */
  async function findWithin(around: TypeReadHooks, asker: ReadCaller, grants: Grants, wanted: Find): Promise<ReadResult> {
    const { type, query, identity, envelope, isGone, format = 'flat' } = wanted
    const given = readParameters(query, context.pages.arrayLimit)
    const asked = toCodeRequest(asker, grants, wanted, addDefaults === null ? given : addDefaults(type, given))
    const parameters = await around.before(asked)
    // The answer contains what the code of the project wrote or saw.
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
