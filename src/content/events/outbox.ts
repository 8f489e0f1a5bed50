// Records events in the transaction of the change, so that none is lost and none reports a change that was not committed.
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
import { registration } from './cursors.js'

const table = sql.table('octavo_outbox')

/** The oldest events are deleted after at most this many events beyond the limit. */
const pruneEvery = 64

/** The outbox. */
export interface Outbox {
  /** Records an event about a version of a document. Called before a row is deleted, and after any other change. */
  entry(transaction: Transaction, event: EntryEventName, type: ContentType, row: DocumentVersion, now: number): Promise<void>
  /** Records an event about a file. */
  media(transaction: Transaction, event: MediaEventName, id: number, now: number): Promise<void>
  /** Called after each commit. */
  committed(): void
  /** Unregisters the plans that events are rendered with. */
  close(): void
}

/** The dependencies of the outbox. */
export interface OutboxOptions {
  readonly context: ReadContext
  readonly dialect: Dialect
  readonly database: Pick<WriteDatabase, 'register' | 'unregister'>
  readonly limits: OutboxLimits
  readonly recording: Recording
}

/** Limits of the outbox. */
export interface OutboxLimits {
  readonly outboxEvents: number
  readonly outboxBacklog: number
  readonly eventBytes: number
}

/** Events of deleted rows, which contain no relations, as in Strapi. */
const withoutRelations: ReadonlySet<EntryEventName> = new Set(['entry.delete', 'entry.unpublish'])

/** Opens the outbox. */
export function openOutbox({ context, dialect, database: { register, unregister }, limits, recording }: OutboxOptions): Outbox {
  // The payload is read by the service itself, so the limit for queries of clients does not apply.
  const read: ReadContext = { ...context, limits: { ...context.limits, queryComplexity: Number.POSITIVE_INFINITY } }
  const { model } = read
  const plans = new Map<string, PlanHandle>()
  const populates = new Map<ContentType, Parameters>()
  const record = openRecorder(dialect, limits, recording)

  async function render(transaction: Transaction, type: ContentType, id: number, parameters: Parameters): Promise<string> {
    const identity = { attribute: 'id' as const, value: id }
    const request = readRequest(read, fullAccess, { type, mode: 'first', identity, paged: false }, parameters)
    // There is one plan key per type and version, so the map does not grow.
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
    entry: async (transaction, event, type, row, now) => {
      if (!recording.wants(event)) return
      const version = versionParameters(row)
      let entry = withoutRelations.has(event) ? '' : await render(transaction, type, row.id, { ...version, populate: populateOf(type) })
      if (entry === '' || entry.length > limits.eventBytes) entry = await render(transaction, type, row.id, version)
      await record(
        transaction,
        event,
        `"model":${JSON.stringify(type.singularName)},"uid":${JSON.stringify(type.uid)},"entry":${entry}`,
        now,
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

/** Records an event; `subject`: the members of its payload that identify its subject. */
type Recorder = (transaction: Transaction, event: string, subject: string, now: number) => Promise<void>

/** Keeps the last `outboxEvents` events, and up to `outboxBacklog` more that a consumer still needs. */
function openRecorder({ commitOrder }: Dialect, { outboxEvents, outboxBacklog }: OutboxLimits, recording: Recording): Recorder {
  /** Transactions that have the lock for numbering events in commit order. */
  const inCommitOrder = new WeakSet<Transaction>()
  return async (transaction, event, subject, now) => {
    // A reader up to a number must not miss a smaller one that is committed later.
    if (commitOrder !== null && !inCommitOrder.has(transaction)) {
      inCommitOrder.add(transaction)
      transaction.follow(commitOrder)
    }
    const payload = `{"event":"${event}","createdAt":"${new Date(now).toISOString()}",${subject}}`
    const id = await transaction.insert(
      sql`insert into ${table} (event, created_at, payload) values (${event}, ${now}, ${payload})`,
      'sequence',
    )
    // In this transaction, so that no process can count the event as past.
    for (const name of recording.unregistered()) transaction.follow(registration(name, id - 1))
    if (id <= outboxEvents || id % Math.min(pruneEvery, outboxEvents) !== 0) return
    // The event at a cursor is retained as well: it proves that no later one was deleted.
    const oldest = Math.max(id - outboxEvents - outboxBacklog, Math.min(id - outboxEvents, recording.neededFrom() - 1))
    await transaction.run(sql`delete from ${table} where sequence <= ${oldest}`)
  }
}

/** Attributes that are not part of a document's content. */
const notContent = new Set(['localizations', 'createdBy', 'updatedBy'])

/** Returns `populate` for all content of a document: relations with their attributes, components with everything below them. */
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

/** The consumers of events. */
export interface Recording {
  /** False: there are no consumers, so nothing is recorded, and writes have no overhead. */
  isOn(): boolean
  /** Calls `changed` whenever `isOn` may return something else. */
  onChange(changed: () => void): void
  /** True if a consumer wants events of this name. */
  wants(event: string): boolean
  /** The names of consumers that get events from the next one on and have no cursor yet. */
  unregistered(): readonly string[]
  /** The oldest event that a consumer may still need; Infinity if there is no consumer. */
  neededFrom(): number
  /** Called after commits that recorded events. */
  committed(): void
}
