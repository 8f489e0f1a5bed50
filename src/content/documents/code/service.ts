// `documents(uid)` for scripts and hooks, with the methods of Strapi 5's document service, including bulk methods. Reads and writes share
// the code of the REST API; only input and output are plain data.

import { validationError } from '../../../foundation/errors/errors.js'
import type { Grants } from '../../../foundation/grants.js'
import type { Data, DocumentSelection, DocumentService, Documents, Entries, HookAction } from '../../../foundation/public/documents.js'
import { outsideOfCode } from '../../../foundation/runtime/project-code.js'
import type { BatchWrite } from '../batch.js'
import type { WriteResult } from '../operation.js'
import type { DocumentReads as Reads } from '../read/find.js'
import type { Actor, GivenParameters, Parts, WithParts } from './actor.js'
import { getType, parseEntries, resolveActor, toDocumentId, toParameters, toWrite, withGrants } from './actor.js'

type ReadMode = 'many' | 'first'

/** The document service of an actor, on the current installation. */
export function createService(withParts: WithParts, actor: Actor): DocumentService {
  const documentsOf = <Shape>(uid: string, { grants }: { readonly grants?: Grants } = {}): Documents<Shape> => {
    const checked = checkedMethods(uid)
    const as = withGrants(actor, grants)
    const asker = as.caller === null ? {} : { asker: { caller: as.caller, requestId: as.requestId } }

    async function read(documents: Reads, mode: ReadMode, envelope: 'bare' | 'count', given: GivenParameters, documentId?: string) {
      const action = `${uid}.${documentId === undefined ? 'find' : 'findOne'}`
      const identity = documentId === undefined ? {} : { identity: { attribute: 'documentId' as const, value: documentId } }
      return documents.findData(await as.grants(), {
        type: getType(documents, uid),
        action,
        mode,
        envelope,
        paged: false,
        ...identity,
        ...asker,
        parameters: toParameters(given),
      })
    }

    const list = (mode: ReadMode, envelope: 'bare' | 'count', given: GivenParameters): Promise<unknown> =>
      withParts(({ documents }) => read(documents, mode, envelope, given))

    const write = (action: HookAction, given: GivenParameters): Promise<WriteResult | null> =>
      withParts(async ({ documents, writes }) => writes(toWrite(documents, await resolveActor(as), uid, action, given)))

    const find = (documents: Reads, given: GivenParameters): Promise<unknown> => read(documents, 'many', 'bare', given)

    async function act(action: HookAction, given: GivenParameters): Promise<Entries<Shape>> {
      const outcome = await write(action, given)
      return { documentId: outcome?.documentId ?? given.documentId ?? '', entries: parseEntries<Shape>(outcome) }
    }

    return {
      findMany: checked('findMany', async (given: GivenParameters) => (await list('many', 'bare', given)) as Shape[]),
      findFirst: checked('findFirst', async (given: GivenParameters) => (await list('first', 'bare', given)) as Shape | null),
      findOne: checked('findOne', (given: GivenParameters) =>
        withParts(async ({ documents }) => {
          const documentId = toDocumentId(getType(documents, uid), 'findOne', given)
          return (await read(documents, 'first', 'bare', given, documentId ?? undefined)) as Shape | null
        }),
      ),
      count: checked('count', async (given: GivenParameters) => (await list('many', 'count', given)) as number),
      create: checked('create', async (given: GivenParameters) => parseEntries<Shape>(await write('create', given))[0]!),
      update: checked('update', async (given: GivenParameters) => parseEntries<Shape>(await write('update', given))[0] ?? null),
      delete: checked('delete', (given: GivenParameters) => act('delete', given)),
      publish: checked('publish', (given: GivenParameters) => act('publish', given)),
      unpublish: checked('unpublish', (given: GivenParameters) => act('unpublish', given)),
      discardDraft: checked('discardDraft', (given: GivenParameters) => act('discardDraft', given)),
      ...createBulkMethods<Shape>(uid, { withParts, actor: as, checked, find }),
    }
  }
  return documentsOf as DocumentService
}

interface BulkOptions {
  readonly withParts: WithParts
  readonly actor: Actor
  readonly checked: CheckedMethods
  find(documents: Reads, parameters: GivenParameters): Promise<unknown>
}

type Bulk<Shape> = Pick<Documents<Shape>, 'createMany' | 'updateMany' | 'deleteMany'>

type GivenMany = Omit<GivenParameters, 'data'> & { readonly data: readonly Data[] }

function createBulkMethods<Shape>(uid: string, { withParts, actor, checked, find }: BulkOptions): Bulk<Shape> {
  /** Writes to these documents in one transaction. */
  async function writeAll(
    { documents, batch }: Parts,
    action: HookAction,
    given: readonly GivenParameters[],
    ifMissing: BatchWrite['ifMissing'],
  ): Promise<readonly (WriteResult | null)[]> {
    if (given.length > maxWrites) throw tooManyWrites()
    const as = await resolveActor(actor)
    return batch(given.map((one) => ({ ...toWrite(documents, as, uid, action, one), ifMissing, ifUnmatched: 'passes' as const })))
  }

  const writeSelected = (
    action: 'update' | 'delete',
    { documentIds, ...given }: GivenParameters & DocumentSelection,
  ): Promise<readonly (WriteResult | null)[]> =>
    withParts(async (parts) => {
      if ((documentIds === undefined) === (given.filters === undefined))
        throw new TypeError(`documents('${uid}').${action}Many needs either documentIds or filters; { filters: {} } means all documents`)
      const ids = documentIds ?? (await matching(parts.documents, given))
      const each = ids.map((documentId) => ({ ...given, documentId }) as GivenParameters)
      return writeAll(parts, action, each, documentIds === undefined || action === 'delete' ? 'passes' : 'fails')
    })

  /** Ids of the documents that match filters, at most `maxWrites + 1`. */
  async function matching(documents: Reads, { filters, locale, status }: GivenParameters): Promise<readonly string[]> {
    const found = (await find(documents, { filters, locale, status, fields: ['documentId'], limit: maxWrites + 1 })) as readonly {
      readonly documentId: string
    }[]
    return [...new Set(found.map(({ documentId }) => documentId))]
  }

  return {
    createMany: checked('createMany', async ({ data, ...given }: GivenMany) => {
      if (!Array.isArray(data)) throw new TypeError(`documents('${uid}').createMany needs a list of documents as data`)
      const each = data.map((one: Data) => ({ ...given, data: one }))
      const outcomes = await withParts((parts) => writeAll(parts, 'create', each, 'fails'))
      return outcomes.flatMap((outcome) => parseEntries<Shape>(outcome))
    }),
    updateMany: checked('updateMany', async (given: GivenParameters & DocumentSelection) =>
      (await writeSelected('update', given)).flatMap((outcome) => parseEntries<Shape>(outcome)),
    ),
    deleteMany: checked(
      'deleteMany',
      async (given: GivenParameters & DocumentSelection): Promise<Entries<Shape>[]> =>
        (await writeSelected('delete', given)).flatMap((outcome) =>
          outcome === null ? [] : [{ documentId: outcome.documentId, entries: parseEntries<Shape>(outcome) }],
        ),
    ),
  }
}

/** Writes of one transaction of project code, and documents of one bulk write. */
export const maxWrites = 10_000

export const tooManyWrites = () => validationError(`A transaction has at most ${maxWrites} writes`)

const versionParameterNames = ['locale', 'status', 'fields', 'populate'] as const
const listParameters = [...versionParameterNames, 'filters', 'sort', '_q'] as const
const actionParameters = ['documentId', 'locale', 'fields', 'populate'] as const

const methodParameters = {
  findMany: [...listParameters, 'start', 'limit', 'pagination'],
  findFirst: listParameters,
  findOne: ['documentId', ...versionParameterNames],
  count: ['locale', 'status', 'filters', '_q'],
  create: ['data', ...versionParameterNames],
  update: ['documentId', 'data', ...versionParameterNames],
  delete: actionParameters,
  publish: actionParameters,
  unpublish: actionParameters,
  discardDraft: actionParameters,
  createMany: ['data', ...versionParameterNames],
  updateMany: ['documentIds', 'filters', 'data', ...versionParameterNames],
  deleteMany: ['documentIds', 'filters', 'locale', 'fields', 'populate'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Method = keyof typeof methodParameters

/** Methods that require parameters. */
const methodsWithParameters: ReadonlySet<Method> = new Set(['create', 'update', 'createMany', 'updateMany', 'deleteMany'])

/** @throws TypeError unless `given` is an object of the method's parameters and those in `also`. Undefined ones count as absent. */
export function checkParameters(uid: string, method: Method, given: unknown, also: readonly string[] = []): void {
  const names = [...methodParameters[method], ...also]
  const there = `there are ${names.join(', ')}`
  if (given === undefined && !methodsWithParameters.has(method)) return
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`documents('${uid}').${method} takes an object of parameters: ${there}`)
  }
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`documents('${uid}').${method} has no parameter ${unknown[0]}: ${there}`)
}

/** Wraps a method so that it validates its parameters first. */
type CheckedMethods = <Parameters, Result>(
  method: Method,
  perform: (given: Parameters) => Promise<Result>,
) => (given?: Parameters) => Promise<Result>

/** Methods run as work of the service, independent of the calling code. */
const checkedMethods =
  (uid: string): CheckedMethods =>
  (method, perform) =>
  async (given) => {
    checkParameters(uid, method, given)
    return outsideOfCode(() => perform(given ?? ({} as NonNullable<typeof given>)))
  }
