// Records events in the transaction of the change: none is lost, and none reports a change that was rolled back.
import { sql } from 'kysely'
import type { PlanHandle, Transaction, WriteDatabase } from '../../database/database.js'
import type { Dialect } from '../../database/dialect.js'
import { toText } from '../../database/response/write.js'
import { fullAccess } from '../../foundation/grants.js'
import type { EntryEventName, MediaEventName } from '../../foundation/public/events.js'
import { fileType } from '../../model/schema/link.js'
import type { Component, ContentType, Model } from '../../model/schema/types.js'
import { compileRead, toPlanKey } from '../../query/compile/compile.js'
import type { Parameters } from '../../query/request.js'
import { type ReadContext, readRequest } from '../../query/rest/read.js'
import { type DocumentVersion, versionParameters } from '../../query/rest/versions.js'
import { type ChangeCause, recordChange } from './changes.js'
import { registration } from './cursors.js'

const table = sql.table('octavo_outbox')

/** Old events are pruned once per this many events. */
const pruneEvery = 64

export interface Outbox {
  /** Records an event about a version of a document. Call it before a row is deleted, and after any other change. */
  entry(transaction: Transaction, event: EntryEventName, type: ContentType, row: DocumentVersion, cause: ChangeCause): Promise<void>
  media(transaction: Transaction, event: MediaEventName, id: number, now: number): Promise<void>
  /** Call after each commit. */
  committed(): void
  /** Unregisters the plans of event payloads. */
  close(): void
}

interface OutboxOptions {
  readonly context: ReadContext
  readonly dialect: Dialect
  readonly database: Pick<WriteDatabase, 'register' | 'unregister'>
  readonly limits: OutboxLimits
  readonly recording: Recording
}

/** A larger entry is recorded without its relations. */
const maxEventBytes = 262_144
const backlogShare = 5

interface OutboxLimits {
  readonly outboxEvents: number
}

/** Events without relations in the payload, as in Strapi: the row is deleted. */
const withoutRelations: ReadonlySet<EntryEventName> = new Set(['entry.delete', 'entry.unpublish'])

export function openOutbox({ context, dialect, database: { register, unregister }, limits, recording }: OutboxOptions): Outbox {
  // The service reads the payload itself, so the limit for client queries does not apply.
  const read: ReadContext = { ...context, limits: { ...context.limits, queryComplexity: Number.POSITIVE_INFINITY } }
  const { model } = read
  const plans = new Map<string, PlanHandle>()
  const populates = new Map<ContentType, Parameters>()
  const order = createCommitOrder(dialect)
  const record = openRecorder(order, limits, recording)

  async function render(transaction: Transaction, type: ContentType, id: number, parameters: Parameters): Promise<string> {
    const identity = { attribute: 'id' as const, value: id }
    const request = readRequest(read, fullAccess, { type, mode: 'first', identity, paged: false }, parameters)
    // One plan key per type and version: the map is bounded.
    const key = toPlanKey(request)
    const plan = plans.get(key) ?? register({ ...compileRead(request, dialect, read.contract, 'bare'), unsigned: true })
    plans.set(key, plan)
    return toText(await transaction.read(plan, request.values))
  }

  function populateOf(type: ContentType): Parameters {
    const populate = populates.get(type) ?? populateAll(model, type, [])
    populates.set(type, populate)
    return populate
  }

  return {
    entry: async (transaction, event, type, row, cause) => {
      if (recording.isFollowed()) {
        order(transaction)
        transaction.follow(recordChange(event, type, row, cause))
      }
      if (!recording.wants(event)) return
      const version = versionParameters(row)
      let entry = withoutRelations.has(event) ? '' : await render(transaction, type, row.id, { ...version, populate: populateOf(type) })
      if (entry === '' || entry.length > maxEventBytes) entry = await render(transaction, type, row.id, version)
      await record(
        transaction,
        event,
        `"model":${JSON.stringify(type.singularName)},"uid":${JSON.stringify(type.uid)},"entry":${entry}`,
        cause.now,
      )
    },
    media: async (transaction, event, id, now) => {
      if (!recording.wants(event)) return
      const file = await render(transaction, model.types.get(fileType)!, id, {})
      await record(transaction, event, `"media":${file}`, now)
    },
    committed: recording.committed,
    close: () => {
      for (const plan of plans.values()) unregister(plan)
      plans.clear()
    },
  }
}

/** Records an event. `subject`: the members of the payload that identify the subject. */
type Recorder = (transaction: Transaction, event: string, subject: string, now: number) => Promise<void>

/**
 * Returns a function that locks the numbers of a transaction in commit order. Otherwise a smaller number could be committed after a reader
 * has passed it.
 */
function createCommitOrder({ commitOrder }: Dialect): (transaction: Transaction) => void {
  const inCommitOrder = new WeakSet<Transaction>()
  return (transaction) => {
    if (commitOrder === null || inCommitOrder.has(transaction)) return
    inCommitOrder.add(transaction)
    transaction.follow(commitOrder)
  }
}

/** Retains the last `outboxEvents` events, and up to `backlogShare` times as many more that a consumer still needs. */
function openRecorder(order: (transaction: Transaction) => void, { outboxEvents }: OutboxLimits, recording: Recording): Recorder {
  return async (transaction, event, subject, now) => {
    order(transaction)
    const payload = `{"event":"${event}","createdAt":"${new Date(now).toISOString()}",${subject}}`
    const id = await transaction.insert(
      sql`insert into ${table} (event, created_at, payload) values (${event}, ${now}, ${payload})`,
      'sequence',
    )
    // In this transaction, so that every new consumer starts before this event.
    for (const name of recording.unregistered()) transaction.follow(registration(name, id - 1))
    if (id <= outboxEvents || id % Math.min(pruneEvery, outboxEvents) !== 0) return
    // The event at a cursor is retained too: it proves that no later one was deleted.
    const oldest = Math.max(id - outboxEvents * (1 + backlogShare), Math.min(id - outboxEvents, recording.neededFrom() - 1))
    await transaction.run(sql`delete from ${table} where sequence <= ${oldest}`)
  }
}

const notContent = new Set(['localizations', 'createdBy', 'updatedBy'])

/** Returns `populate` for the whole content of a document: relations without their relations, components with everything nested in them. */
function populateAll(model: Model, shape: ContentType | Component, above: readonly string[]): Parameters {
  const below = (uid: string): unknown => {
    const populate = above.includes(uid) ? {} : populateAll(model, model.components.get(uid)!, [...above, uid])
    return Object.keys(populate).length === 0 ? true : { populate }
  }
  const populate: Record<string, unknown> = {}
  for (const attribute of shape.attributes.values()) {
    if (attribute.kind === 'scalar' || attribute.private || notContent.has(attribute.name)) continue
    if (attribute.kind === 'component') populate[attribute.name] = below(attribute.component)
    else if (attribute.kind === 'dynamiczone')
      populate[attribute.name] = { on: Object.fromEntries(attribute.components.map((uid) => [uid, below(uid)])) }
    else populate[attribute.name] = true
  }
  return populate
}

/** Decides which events are recorded, on behalf of the consumers. */
export interface Recording {
  /** False without consumers: nothing is recorded, and writes have no overhead. */
  isOn(): boolean
  /** Calls `changed` when `isOn` may have changed. */
  onChange(changed: () => void): void
  /** True while a page of an administrator follows changes. */
  isFollowed(): boolean
  wants(event: string): boolean
  /** Consumers without a cursor, which start with the next event. */
  unregistered(): readonly string[]
  /** The oldest event that a consumer may still need; Infinity without consumers. */
  neededFrom(): number
  /** Call after commits that recorded events. */
  committed(): void
}
