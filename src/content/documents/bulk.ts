// `createMany`, `updateMany` and `deleteMany` of `documents(uid)`: one transaction for all of them.
import { validationError } from '../../foundation/errors/errors.js'
import type { Data, DocumentSelection, Documents, HookAction } from '../../foundation/public/documents.js'
import type { Entries } from '../../foundation/public/write-results.js'
import { type Actor, ready } from './actor.js'
import type { BatchWrite } from './batch.js'
import { entriesOf, type GivenParameters, writeOf } from './code-writes.js'
import type { WriteResult } from './operation.js'
import type { Parts, WithParts } from './parts.js'
import type { DocumentReads as Reads } from './read/find.js'
import type { CheckedMethods } from './service-parameters.js'

/** What bulk writes are made of. */
export interface BulkOptions {
  readonly withParts: WithParts
  readonly actor: Actor
  /** The most writes of one transaction. */
  readonly maxWrites: number
  readonly checked: CheckedMethods
  /** Reads a list of documents of the type. */
  find(documents: Reads, parameters: GivenParameters): Promise<unknown>
}

type Bulk<Shape> = Pick<Documents<Shape>, 'createMany' | 'updateMany' | 'deleteMany'>

type GivenMany = Omit<GivenParameters, 'data'> & { readonly data: readonly Data[] }

/** The bulk writes to a type. */
export function bulkMethods<Shape>(uid: string, { withParts, actor, maxWrites, checked, find }: BulkOptions): Bulk<Shape> {
  /** Writes to each of these documents in one transaction. */
  async function writeAll(
    { documents, batch }: Parts,
    action: HookAction,
    given: readonly GivenParameters[],
    ifMissing: BatchWrite['ifMissing'],
  ): Promise<readonly (WriteResult | null)[]> {
    if (given.length > maxWrites) throw tooMany(maxWrites)
    const as = await ready(actor)
    return batch(given.map((one) => ({ ...writeOf(documents, as, uid, action, one), ifMissing, ifUnmatched: 'passes' as const })))
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

  /** The ids of the documents that match filters; one more than may be written if there are too many. */
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
      return outcomes.flatMap((outcome) => entriesOf<Shape>(outcome))
    }),
    updateMany: checked('updateMany', async (given: GivenParameters & DocumentSelection) =>
      (await writeSelected('update', given)).flatMap((outcome) => entriesOf<Shape>(outcome)),
    ),
    deleteMany: checked(
      'deleteMany',
      async (given: GivenParameters & DocumentSelection): Promise<Entries<Shape>[]> =>
        (await writeSelected('delete', given)).flatMap((outcome) =>
          outcome === null ? [] : [{ documentId: outcome.documentId, entries: entriesOf<Shape>(outcome) }],
        ),
    ),
  }
}

const tooMany = (maxWrites: number) => validationError(`A transaction has at most ${maxWrites} writes (limits.transactionOperations)`)
