// Idempotency keys: a write that is asked for again with the key of one that was done gets its answer, and is not done again.
// What was done is kept in the transaction that did it, so that a kill at any moment leaves both or neither.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { OperationCaller } from '../../foundation/public/documents.js'
import type { Once, WriteContext, WriteOperation, WriteOutcome, WriteResult } from './operation.js'
import { readResponse } from './results.js'

/** What a key stands for while its write is under way, and afterwards. */
export interface IdempotencyKey {
  readonly caller: string
  readonly key: string
  readonly fingerprint: string
}

export interface IdempotencyLimits {
  /** Milliseconds for which a key is kept. */
  readonly idempotencyTime: number
  /** Keys that are kept, and bytes of their answers together; the oldest go first. */
  readonly idempotencyKeys: number
  readonly idempotencyBytes: number
}

export interface IdempotencyKeys {
  /** Runs a write under its key. @throws ApiError 409 while another with this key is under way */
  alone<Result>(named: Pick<IdempotencyKey, 'caller' | 'key'>, run: () => Promise<Result>): Promise<Result>
  /** What the key was used for before; null: nothing. @throws ApiError 422 where that was another request */
  recall(context: WriteContext, transaction: Transaction, operation: WriteOperation, named: IdempotencyKey): Promise<WriteOutcome | null>
  /** Keeps what was done. */
  keep(transaction: Transaction, operation: WriteOperation, named: IdempotencyKey, outcome: WriteResult): void
  /** What is kept under the key, as it was written; null: nothing. @throws ApiError 422 where the key was used for something else */
  find(database: RowReader, named: IdempotencyKey): Promise<StoredResult | null>
  /** Whether an answer of so many bytes is kept. */
  mayKeep(bytes: number): boolean
  /** Keeps a result under the key, but not its answer if that is too large. */
  store(transaction: Transaction, named: IdempotencyKey, result: Omit<StoredResult, 'fingerprint'>): void
}

/** What is kept under a key. */
export interface StoredResult {
  readonly fingerprint: string
  /** The key of the grants with which the answer was read. */
  readonly grants: string
  readonly documentId: string
  /** Null: it was too large to keep. */
  readonly answer: Uint8Array | null
}

const table = sql.table('octavo_idempotency_keys')
/** An answer may take this part of all bytes; a larger one is read again. */
const maxShare = 1 / 64
/** Rows that one write clears away at most. */
const maxClearedRows = 100

/** What stands for this write under its key. @throws ApiError 400 for data nested deeper than can be written */
export function toIdempotencyKey({ key, request }: Once, { write: { caller }, data }: WriteOperation): IdempotencyKey {
  return { key, caller: callerKey(caller), fingerprint: toFingerprint(`${request}\n${toText(data)}`) }
}

/** By what a caller is known; null: the project itself. */
export const callerKey = (caller: OperationCaller | null): string =>
  caller === null ? 'project' : caller.kind === 'public' ? caller.kind : `${caller.kind} ${caller.id}`

/** What tells one request from another. */
export const toFingerprint = (text: string): string => createHash('sha256').update(text).digest('base64url')

function toText(data: unknown): string {
  try {
    return JSON.stringify(data)
  } catch {
    throw validationError('The data is nested too deeply')
  }
}

export function createIdempotencyKeys(limits: IdempotencyLimits): IdempotencyKeys {
  const underWay = new Set<string>()
  const mayKeep = (bytes: number): boolean => bytes <= limits.idempotencyBytes * maxShare

  async function find(database: RowReader, { caller, key, fingerprint }: IdempotencyKey): Promise<StoredResult | null> {
    const [kept] = await database.rows<StoredResult>(
      sql`select fingerprint, grants, document_id as "documentId", answer from ${table}
        where caller = ${caller} and ${sql.ref('key')} = ${key} and created_at > ${Date.now() - limits.idempotencyTime}`,
    )
    if (kept !== undefined && kept.fingerprint !== fingerprint)
      throw new ApiError('UnprocessableEntityError', 'This Idempotency-Key was used for another request')
    return kept ?? null
  }

  function store(transaction: Transaction, named: IdempotencyKey, { grants, documentId, answer }: Omit<StoredResult, 'fingerprint'>): void {
    const { caller, key, fingerprint } = named
    const now = Date.now()
    const bytes = answer !== null && mayKeep(answer.length) ? answer : null
    transaction.follow(sql`delete from ${table} where caller = ${caller} and ${sql.ref('key')} = ${key}`)
    // `total` adds up the bytes of all answers so far: whatever lies further back than the limit may go.
    transaction.follow(sql`insert into ${table} (caller, ${sql.ref('key')}, fingerprint, grants, document_id, answer, created_at, total)
      select ${caller}, ${key}, ${fingerprint}, ${grants}, ${documentId}, ${bytes}, ${now},
        ${bytes?.length ?? 0} + coalesce((select total from ${table} order by id desc limit 1), 0)`)
    transaction.follow(sql`delete from ${table} where id in (select id from (select id from ${table}
      where created_at <= ${now - limits.idempotencyTime}
        or id <= (select max(id) from ${table}) - ${limits.idempotencyKeys}
        or total <= (select max(total) from ${table}) - ${limits.idempotencyBytes}
      limit ${maxClearedRows}) as old)`)
  }

  return {
    find,
    mayKeep,
    store,
    alone: async ({ caller, key }, run) => {
      const name = `${caller} ${key}`
      if (underWay.has(name)) throw new ApiError('ConflictError', 'A request with this Idempotency-Key is still being processed', {}, 1)
      underWay.add(name)
      try {
        return await run()
      } finally {
        underWay.delete(name)
      }
    },
    recall: async (context, transaction, operation, named) => {
      const kept = await find(transaction, named)
      if (kept === null) return null
      const { documentId, answer } = kept
      // Whoever may see less, or something else, than then is shown what there is now.
      if (answer === null || kept.grants !== operation.grants.key) {
        const shown = readResponse(context, transaction, operation, documentId, sides[operation.action])
        await transaction.defer(shown)
        return { documentId, entries: [], answer: shown }
      }
      return { documentId, entries: [], answer: Promise.resolve({ bytes: answer, release: () => {} }) }
    },
    keep: (transaction, { grants }, named, { documentId, answer }) =>
      store(transaction, named, { grants: grants.key, documentId, answer: answer?.bytes ?? null }),
  }
}

/** The version that is answered where the action and not the query decides it. */
const sides: Partial<Record<WriteOperation['action'], 'draft' | 'published'>> = {
  publish: 'published',
  unpublish: 'draft',
  discardDraft: 'draft',
}
