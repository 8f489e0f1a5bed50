// `documents(uid)`: what scripts and hooks call, in the shape of Strapi 5's document service. The reads and writes are those of
// the REST API; only what goes in and comes out is plain data.
import type { Grants } from '../../foundation/grants.js'
import type { DocumentService, Documents, HookAction } from '../../foundation/public/documents.js'
import type { Entries } from '../../foundation/public/write-results.js'
import { type Actor, ready, withGrants } from './actor.js'
import { bulkMethods } from './bulk.js'
import { documentOf, entriesOf, type GivenParameters, parametersOf, typeOf, writeOf } from './code-writes.js'
import type { WriteResult } from './operation.js'
import type { WithParts } from './parts.js'
import type { DocumentReads as Reads } from './read/find.js'
import { checkedMethods } from './service-parameters.js'

type ReadMode = 'many' | 'first'

/** The document service of an actor, over the installation in force. `maxWrites`: how many writes one transaction may have. */
export function openService(withParts: WithParts, actor: Actor, maxWrites: number): DocumentService {
  const documentsOf = <Shape>(uid: string, { grants }: { readonly grants?: Grants } = {}): Documents<Shape> => {
    const checked = checkedMethods(uid)
    const as = withGrants(actor, grants)
    const asker = as.caller === null ? {} : { asker: { caller: as.caller, requestId: as.requestId } }

    async function read(documents: Reads, mode: ReadMode, envelope: 'bare' | 'count', given: GivenParameters, documentId?: string) {
      const action = `${uid}.${documentId === undefined ? 'find' : 'findOne'}`
      const identity = documentId === undefined ? {} : { identity: { attribute: 'documentId' as const, value: documentId } }
      return documents.findData(await as.grants(), {
        ...{ type: typeOf(documents, uid), action, mode, envelope, paged: false, ...identity, ...asker },
        parameters: parametersOf(given),
      })
    }

    const list = (mode: ReadMode, envelope: 'bare' | 'count', given: GivenParameters): Promise<unknown> =>
      withParts(({ documents }) => read(documents, mode, envelope, given))

    const write = (action: HookAction, given: GivenParameters): Promise<WriteResult | null> =>
      withParts(async ({ documents, writes }) => writes(writeOf(documents, await ready(as), uid, action, given)))

    const find = (documents: Reads, given: GivenParameters): Promise<unknown> => read(documents, 'many', 'bare', given)

    async function act(action: HookAction, given: GivenParameters): Promise<Entries<Shape>> {
      const outcome = await write(action, given)
      return { documentId: outcome?.documentId ?? given.documentId ?? '', entries: entriesOf<Shape>(outcome) }
    }

    return {
      findMany: checked('findMany', async (given: GivenParameters) => (await list('many', 'bare', given)) as Shape[]),
      findFirst: checked('findFirst', async (given: GivenParameters) => (await list('first', 'bare', given)) as Shape | null),
      findOne: checked('findOne', (given: GivenParameters) =>
        withParts(async ({ documents }) => {
          const documentId = documentOf(typeOf(documents, uid), 'findOne', given)
          return (await read(documents, 'first', 'bare', given, documentId ?? undefined)) as Shape | null
        }),
      ),
      count: checked('count', async (given: GivenParameters) => (await list('many', 'count', given)) as number),
      create: checked('create', async (given: GivenParameters) => entriesOf<Shape>(await write('create', given))[0]!),
      update: checked('update', async (given: GivenParameters) => entriesOf<Shape>(await write('update', given))[0] ?? null),
      delete: checked('delete', (given: GivenParameters) => act('delete', given)),
      publish: checked('publish', (given: GivenParameters) => act('publish', given)),
      unpublish: checked('unpublish', (given: GivenParameters) => act('unpublish', given)),
      discardDraft: checked('discardDraft', (given: GivenParameters) => act('discardDraft', given)),
      ...bulkMethods<Shape>(uid, { withParts, actor: as, maxWrites, checked, find }),
    }
  }
  return documentsOf as DocumentService
}
