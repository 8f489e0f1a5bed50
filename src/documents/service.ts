// `documents(uid)`: what scripts and hooks call, in the shape of Strapi 5's document service. The reads and writes are those of
// the REST API; only what goes in and comes out is plain data.
import type { Grants } from '../grants.js'
import { fullAccess } from '../grants.js'
import type { ContentType } from '../model/types.js'
import type { Data, DocumentService, Documents, Entries, HookAction, ListParameters } from '../public/documents.js'
import type { Parameters } from '../query/rest/parameters.js'
import type { WriteResult } from './operation.js'
import type { DocumentReads as Reads } from './read/find.js'
import { checkParameters, type Method } from './service-parameters.js'
import type { DocumentWrites } from './write.js'

/** The reads and writes of one installation. */
export interface Parts {
  readonly documents: Reads
  readonly writes: DocumentWrites
}

/** Runs work with the installation in force, which lasts until the work has ended. */
export type WithParts = <Result>(work: (parts: Parts) => Promise<Result>) => Promise<Result>

type ReadMode = 'many' | 'first'

/** All that a method may be given. */
type Given = ListParameters & { readonly documentId?: string; readonly data?: Data }

/** The service over the installation in force. `depth`: how many hooks started each other to get it. */
export function openService(withParts: WithParts, depth: number): DocumentService {
  const documentsOf = <Shape>(uid: string, { grants = fullAccess }: { readonly grants?: Grants } = {}): Documents<Shape> => {
    const checked = checkedMethods(uid)

    function read(documents: Reads, mode: ReadMode, envelope: 'bare' | 'count', given: Given, documentId?: string): Promise<unknown> {
      const action = `${uid}.${documentId === undefined ? 'find' : 'findOne'}`
      const identity = documentId === undefined ? {} : { identity: { attribute: 'documentId' as const, value: documentId } }
      return documents.findData(grants, {
        ...{ type: typeOf(documents, uid), action, mode, envelope, paged: false, ...identity },
        parameters: parametersOf(given),
      })
    }

    function write(action: HookAction, given: Given): Promise<WriteResult | null> {
      return withParts((parts) => writeWith(parts, action, given))
    }

    async function writeWith({ documents, writes }: Parts, action: HookAction, given: Given): Promise<WriteResult | null> {
      const type = writableType(documents, uid)
      const documentId = action === 'create' ? null : documentOf(type, action, given)
      const body = action === 'create' || action === 'update' ? async () => ({ data: plain(given.data) }) : null
      const query = parametersOf(given)
      const asked = { type, query, format: 'flat' as const, answers: 'entries' as const, caller: null, depth }
      return writes({ action, grants, documentId, body, write: asked })
    }

    const list = (mode: ReadMode, envelope: 'bare' | 'count', given: Given): Promise<unknown> =>
      withParts(({ documents }) => read(documents, mode, envelope, given))

    async function act(action: HookAction, given: Given): Promise<Entries<Shape>> {
      const outcome = await write(action, given)
      return { documentId: outcome?.documentId ?? given.documentId ?? '', entries: entriesOf<Shape>(outcome) }
    }

    return {
      findMany: checked('findMany', async (given: Given) => (await list('many', 'bare', given)) as Shape[]),
      findFirst: checked('findFirst', async (given: Given) => (await list('first', 'bare', given)) as Shape | null),
      findOne: checked('findOne', (given: Given) =>
        withParts(async ({ documents }) => {
          const documentId = documentOf(typeOf(documents, uid), 'findOne', given)
          return (await read(documents, 'first', 'bare', given, documentId ?? undefined)) as Shape | null
        }),
      ),
      count: checked('count', async (given: Given) => (await list('many', 'count', given)) as number),
      create: checked('create', async (given: Given) => entriesOf<Shape>(await write('create', given))[0]!),
      update: checked('update', async (given: Given) => entriesOf<Shape>(await write('update', given))[0] ?? null),
      delete: checked('delete', (given: Given) => act('delete', given)),
      publish: checked('publish', (given: Given) => act('publish', given)),
      unpublish: checked('unpublish', (given: Given) => act('unpublish', given)),
      discardDraft: checked('discardDraft', (given: Given) => act('discardDraft', given)),
    }
  }
  return documentsOf as DocumentService
}

/** Makes methods that check their parameters before they do anything. */
const checkedMethods =
  (uid: string) =>
  <Parameters, Result>(method: Method, perform: (given: Parameters) => Promise<Result>) =>
  async (given?: Parameters): Promise<Result> => {
    checkParameters(uid, method, given)
    return perform(given ?? ({} as Parameters))
  }

function typeOf({ context }: Reads, uid: string): ContentType {
  const type = context.model.types.get(uid)
  if (type === undefined) throw new TypeError(`There is no type ${uid}`)
  return type
}

/** Users, roles and files are more than their rows: they are written where their rules are. */
function writableType(documents: Reads, uid: string): ContentType {
  const type = typeOf(documents, uid)
  if (!uid.startsWith('api::')) throw new TypeError(`${uid} cannot be written as a document`)
  return type
}

/** The document that is named; null for the one of a single type. */
function documentOf(type: ContentType, method: string, { documentId }: Given): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (type.singleType && documentId === undefined) return null
  throw new TypeError(`documents('${type.uid}').${method} needs a documentId`)
}

const entriesOf = <Shape>(outcome: WriteResult | null): readonly Shape[] =>
  (outcome?.entries ?? []).map(({ asked }) => JSON.parse(asked!) as Shape)

/** What could have come over HTTP: dates as texts, no functions, nothing that others still change. */
function plain(value: unknown): unknown {
  if (value === undefined) return undefined
  return JSON.parse(JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown))))
}

/** The parameters as a query string would have them: drafts unless said otherwise, and no page but the one asked for. */
function parametersOf({ filters, sort, fields, populate, locale, status = 'draft', _q, start, limit, pagination }: Given): Parameters {
  const page = pagination === undefined ? { start, limit } : offsets(pagination)
  return plain({ filters, sort, fields, populate, locale, status, _q, ...page }) as Parameters
}

function offsets(pagination: NonNullable<ListParameters['pagination']>): { readonly start?: number; readonly limit?: number } {
  if ('start' in pagination || 'limit' in pagination) return pagination
  const { page = 1, pageSize = 25 } = pagination as { readonly page?: number; readonly pageSize?: number }
  return { start: (page - 1) * pageSize, limit: pageSize }
}
