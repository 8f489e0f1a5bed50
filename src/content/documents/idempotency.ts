// Idempotency keys: repeating a write with the same key returns the first result without writing again. Keys are stored in the transaction
// of the write, so a crash leaves both or neither.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { OperationCaller } from '../../foundation/public/documents.js'
import type { Once, WriteOperation, WriteOutcome, WriteResult, WriteScope } from './operation.js'
import { readResponse } from './operation.js'

export interface IdempotencyKey {
  readonly caller: string
  readonly key: string
  readonly fingerprint: string
}

/** The oldest keys are deleted first. */
const maxKeys = 100_000
const keyLifetimeMs = 86_400_000

interface IdempotencyLimits {
  /** Maximum bytes of all stored responses; the oldest are deleted first. */
  readonly idempotencyBytes: number
}

export interface IdempotencyKeys {
  /** Runs a write exclusively for its key. @throws ApiError 409 while another one is running */
  alone<Result>(named: Pick<IdempotencyKey, 'caller' | 'key'>, run: () => Promise<Result>): Promise<Result>
  /** The stored result of a key; null if there is none. @throws ApiError 422 if it was used for a different request */
  recall(scope: WriteScope, named: IdempotencyKey): Promise<WriteOutcome | null>
  keep(transaction: Transaction, operation: WriteOperation, named: IdempotencyKey, outcome: WriteResult): void
  /** Like `recall`, as stored bytes. */
  find(database: RowReader, named: IdempotencyKey): Promise<StoredResult | null>
  /** True if a response of this size can be stored. */
  mayKeep(bytes: number): boolean
  /** Stores a result, without its response if that is too large. */
  store(transaction: Transaction, named: IdempotencyKey, result: Omit<StoredResult, 'fingerprint'>): void
}

export interface StoredResult {
  readonly fingerprint: string
  /** Key of the grants that the response was read with. */
  readonly grants: string
  readonly documentId: string
  /** Null if it was too large. */
  readonly answer: Uint8Array | null
}

const table = sql.table('octavo_idempotency_keys')
/** Maximum share of one response in all bytes; larger ones are read again on repetition. */
const maxShare = 1 / 64
/** Maximum number of rows deleted by one write. */
const maxClearedRows = 100

/** @throws ApiError 400 for data nested too deeply */
export function toIdempotencyKey({ key, request }: Once, { write: { caller }, data }: WriteOperation): IdempotencyKey {
  return { key, caller: callerKey(caller), fingerprint: toFingerprint(`${request}\n${toText(data)}`) }
}

/** Identifies a caller; null: the project itself. */
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
        where caller = ${caller} and ${sql.ref('key')} = ${key} and created_at > ${Date.now() - keyLifetimeMs}`,
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
    // `total` is the running sum of bytes, so rows that exceed the limit are found by comparison.
    transaction.follow(sql`insert into ${table} (caller, ${sql.ref('key')}, fingerprint, grants, document_id, answer, created_at, total)
      select ${caller}, ${key}, ${fingerprint}, ${grants}, ${documentId}, ${bytes}, ${now},
        ${bytes?.length ?? 0} + coalesce((select total from ${table} order by id desc limit 1), 0)`)
    transaction.follow(sql`delete from ${table} where id in (select id from (select id from ${table}
      where created_at <= ${now - keyLifetimeMs}
        or id <= (select max(id) from ${table}) - ${maxKeys}
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
    recall: async (scope, named) => {
      const { transaction, operation } = scope
      const kept = await find(transaction, named)
      if (kept === null) return null
      const { documentId, answer } = kept
      // With other grants than before, the caller gets the current document.
      if (answer === null || kept.grants !== operation.grants.key) {
        const shown = readResponse(scope, documentId, sides[operation.action])
        await transaction.defer(shown)
        return { documentId, entries: [], answer: shown }
      }
      return { documentId, entries: [], answer: Promise.resolve({ bytes: answer, release: () => {} }) }
    },
    keep: (transaction, { grants }, named, { documentId, answer }) =>
      store(transaction, named, { grants: grants.key, documentId, answer: answer?.bytes ?? null }),
  }
}

/** The version in the response of actions that determine it, regardless of the query. */
const sides: Partial<Record<WriteOperation['action'], 'draft' | 'published'>> = {
  publish: 'published',
  unpublish: 'draft',
  discardDraft: 'draft',
}
