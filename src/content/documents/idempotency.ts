// Idempotency keys: a write that is asked for again with the key of one that was done gets its answer, and is not done again.
// Stored in the same transaction as the write, so that a kill at any time leaves both or neither.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { OperationCaller } from '../../foundation/public/documents.js'
import type { Once, WriteContext, WriteOperation, WriteOutcome, WriteResult } from './operation.js'
import { readResponse } from './operation.js'

export interface IdempotencyKey {
  readonly caller: string
  readonly key: string
  readonly fingerprint: string
}

export interface IdempotencyLimits {
  /** Lifetime of a key in milliseconds. */
  readonly idempotencyTime: number
  /** Keys that are kept, and bytes of their answers together; the oldest go first. */
  readonly idempotencyKeys: number
  readonly idempotencyBytes: number
}

export interface IdempotencyKeys {
  /** Runs a write under its key. @throws ApiError 409 while another with this key is under way */
  alone<Result>(named: Pick<IdempotencyKey, 'caller' | 'key'>, run: () => Promise<Result>): Promise<Result>
  /** The result of an earlier use of the key; null: none. @throws ApiError 422 if that was a different request */
  recall(context: WriteContext, transaction: Transaction, operation: WriteOperation, named: IdempotencyKey): Promise<WriteOutcome | null>
  /** Stores a result. */
  keep(transaction: Transaction, operation: WriteOperation, named: IdempotencyKey, outcome: WriteResult): void
  /** The stored result as bytes; null: none. @throws ApiError 422 if the key was used for a different request */
  find(database: RowReader, named: IdempotencyKey): Promise<StoredResult | null>
  /** True if a response of this size is stored. */
  mayKeep(bytes: number): boolean
  /** Keeps a result under the key, but not its answer if that is too large. */
  store(transaction: Transaction, named: IdempotencyKey, result: Omit<StoredResult, 'fingerprint'>): void
}

export interface StoredResult {
  readonly fingerprint: string
  /** The key of the grants used to read the response. */
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

/** @throws ApiError 400 for data nested deeper than can be written */
export function toIdempotencyKey({ key, request }: Once, { write: { caller }, data }: WriteOperation): IdempotencyKey {
  return { key, caller: callerKey(caller), fingerprint: toFingerprint(`${request}\n${toText(data)}`) }
}

/** By what a caller is known; null: the project itself. */
export const callerKey = (caller: OperationCaller | null): string =>
  caller === null ? 'project' : caller.kind === 'public' ? caller.kind : `${caller.kind} ${caller.id}`

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
    // `total` is the running sum of bytes: rows further back than the limit may be deleted.
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
      // A caller with other grants than before gets the current document.
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
