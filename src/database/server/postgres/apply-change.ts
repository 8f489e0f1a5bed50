// Applies a model change on PostgreSQL in one transaction on a dedicated connection. Any failure leaves the database unchanged.

import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { isArchived } from '../../../model/diff/comparison.js'
import type { MovedColumn, PlanStep, StepOf } from '../../../model/diff/steps.js'
import { getRenamedPart } from '../../../model/diff/steps.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted, storedName } from '../../../model/tables/table.js'
import { createDrafts, renameInSettings, runScript, type ScriptDialect, type ScriptRow, storeContentTypes } from '../../change-scripts.js'
import type { ModelWork } from '../../database.js'
import { unavailableError } from '../../errors.js'
import { type Backfill, backfillColumn } from '../backfill-column.js'
import { readCatalog } from './catalog.js'
import {
  addColumn,
  archiveColumn,
  archiveRows,
  isDeclaredInPlace,
  moveRowsStatements,
  stepStatements,
  widenColumn,
} from './change-statements.js'
import { coercionTo } from './coerce-values.js'
import { addForeignKey } from './create-tables.js'
import { postgresDialect, writePostgresSql } from './dialect.js'
import { cancelled, getCode, isConflict, isConnectionLoss, toApiError } from './errors.js'
import { createStatements, executePrepared, onConnection, openPool, toObjects } from './pool.js'
import { preparationError, preparing } from './prepare-database.js'
import { reading, updateRows, valueFormats } from './rows.js'
import type { PostgresCommitOutcomes } from './transaction.js'

interface PostgresChangeOptions {
  readonly settings: ServerSettings
  readonly outcomes: PostgresCommitOutcomes
  /** Lock timeout in milliseconds. Later requests for a table wait for as long. */
  readonly wait: number
  failed(error: Error): void
}

/** Attempts to lock the tables, and the pause between them in milliseconds, in which waiting requests run. */
const maxAttempts = 3
const pauseMs = 500

/** A lock timeout or a deadlock. */
const isRetryable = (error: unknown): boolean => isConflict(error) || getCode(error) === cancelled

/** Applies a change. Resolves to false if it is outdated. @throws ApiError 503 if the tables are in use or the server is lost */
export async function applyPostgresChange(options: PostgresChangeOptions, work: ModelWork): Promise<boolean> {
  const pool = openPool(options.settings, { max: 1, pipelined: false, failed: options.failed })
  try {
    for (let left = maxAttempts; ; left--) {
      try {
        return await onConnection(pool, (client) => applyOn(client, pool, options, work))
      } catch (error) {
        if (isConnectionLoss(error)) options.failed(error as Error)
        if (!isRetryable(error)) throw toApiError(preparationError(error, options.wait, options.settings.schema))
        if (left === 1) throw unavailableError('The tables of the change are in use. Nothing was changed; try again', error)
        await pause(pauseMs)
      }
    }
  } finally {
    await pool.end()
  }
}

async function applyOn(client: pg.PoolClient, pool: pg.Pool, { outcomes, wait }: PostgresChangeOptions, work: ModelWork): Promise<boolean> {
  const statements = createStatements(pool)
  const session: StepSession = {
    client,
    ask: async (query) => {
      const { text, values } = writePostgresSql(query)
      const statement = values.length === 0 ? { name: undefined, text, types: [] } : await statements.describe(text, client)
      return toObjects(await executePrepared(client, statement, values))
    },
  }
  const epoch = await outcomes.epoch()
  try {
    await client.query(`begin isolation level read committed read write; ${valueFormats}; set local lock_timeout = ${Math.ceil(wait)}`)
    await client.query(`select pg_advisory_xact_lock(${preparing})`)
    if ((await session.ask(work.isOutdated)).length > 0) {
      await client.query('rollback')
      return false
    }
    await client.query(`set local statement_timeout = ${Math.ceil(wait)}`)
    await lockTables(session, work.steps)
    await client.query('set local statement_timeout = 0')
    await runModelSteps(session, work.steps, work.model)
    for (const statement of work.complete) await session.ask(statement)
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  await commit(client, outcomes, epoch)
  return true
}

/** Commits. If the connection is lost, determines the outcome. */
async function commit(client: pg.PoolClient, outcomes: PostgresCommitOutcomes, epoch: string): Promise<void> {
  const { rows } = await client.query<{ readonly id: string }>('select pg_current_xact_id()::text as id')
  try {
    await client.query('commit')
  } catch (error) {
    if (!isConnectionLoss(error)) throw error
    const outcome = await outcomes.find(rows[0]!.id, epoch)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw unavailableError('The database was lost while it committed a change of the model, and may have done so', error)
  }
}

/** The connection of a change, in its transaction. */
interface StepSession {
  readonly client: pg.ClientBase
  ask(query: RawBuilder<unknown>): Promise<readonly ScriptRow[]>
}

const scriptDialect: ScriptDialect = {
  rows: postgresDialect.rows,
  newIds: (table, count) => sql`select ${postgresDialect.newIds(table, count)}`,
  idsFrom: (found) => postgresDialect.idsFrom(found) as () => number,
}

/** Runs steps in order. `model` is the new model. */
async function runModelSteps(session: StepSession, steps: readonly PlanStep[], model: Model): Promise<void> {
  const lastTable = steps.findLastIndex(({ kind }) => kind === 'createTable')
  for (const [index, step] of steps.entries()) {
    await dropOwnIndexes(session, step)
    await runStep(session, step, model)
    if (index === lastTable) await addForeignKeys(session, steps)
  }
}

/** Foreign keys of new tables, which may reference tables created later. */
async function addForeignKeys({ client }: StepSession, steps: readonly PlanStep[]): Promise<void> {
  for (const step of steps)
    if (step.kind === 'createTable') for (const key of step.table.foreignKeys) await client.query(addForeignKey(step.table.name, key))
}

async function runStep(session: StepSession, step: PlanStep, model: Model): Promise<void> {
  switch (step.kind) {
    case 'renameInSettings':
      return runScript(renameInSettings(step), session.ask)
    case 'storeContentTypes':
      return runScript(storeContentTypes(step, model), session.ask)
    case 'makeDrafts':
      return runScript(createDrafts(step, model, scriptDialect), session.ask)
    case 'convertColumn':
      return convert(session, { ...step, former: { ...step.former, name: step.column.name } })
    case 'declareColumn':
      return declare(session, step)
    case 'renameForeignKey':
      return renameForeignKey(session, step)
    case 'keepRows':
      return keepRows(session, step)
    case 'moveRows':
      return moveRows(session, step)
    default:
      if (isPanelStep(step) && !(await isThere(session, step.table))) return
      for (const statement of stepStatements(step)) await session.ask(statement)
  }
}

async function keepRows(session: StepSession, step: StepOf<'keepRows'>): Promise<void> {
  for (const statement of archiveRows(step)) await session.ask(statement)
  const { rows } = await session.client.query(`select from ${quoted(step.as)} limit 1`)
  // Drop the archive table if it is empty.
  if (rows.length === 0) await session.client.query(`drop table ${quoted(step.as)}`)
}

async function moveRows(session: StepSession, step: StepOf<'moveRows'>): Promise<void> {
  const archived: MovedColumn[] = []
  if (step.withKept === true) {
    const { tables } = await readCatalog(session.client)
    const existing = new Set(tables.get(storedName(step.to))!.map(({ name }) => name))
    for (const { name, type } of tables.get(storedName(step.from))!.filter((column) => isArchived(column.name))) {
      archived.push({ from: name, to: name })
      if (!existing.has(name)) await session.client.query(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type}`)
    }
  }
  for (const statement of moveRowsStatements({ ...step, columns: [...step.columns, ...archived] })) await session.ask(statement)
}

/** `former` has the name of the new column. */
async function convert(
  session: StepSession,
  { table, column, former, as, conversion, restores }: Omit<StepOf<'convertColumn'>, 'kind' | 'risk'>,
): Promise<void> {
  for (const statement of [...archiveColumn(table, former, as), addColumn(table, column)]) await session.ask(statement)
  await fillPostgresColumn(session.client, { table, from: as, to: column.name, conversion, restores })
}

/** Widens the column in place, or converts it, archiving the old values. */
async function declare(session: StepSession, step: StepOf<'declareColumn'>): Promise<void> {
  const { table, column, former } = step
  if (isDeclaredInPlace(step)) for (const statement of widenColumn(table, column)) await session.ask(statement)
  else
    await convert(session, {
      ...step,
      former: { ...former, name: column.name },
      conversion: { from: 'text', to: 'text', rule: 'same' },
    })
}

async function renameForeignKey({ client }: StepSession, { table, from, to }: StepOf<'renameForeignKey'>): Promise<void> {
  const { rows } = await client.query<{ readonly name: string }>(
    'select conname as name from pg_constraint where conrelid = to_regclass($1) and conname in ($2, $3)',
    [quoted(table), storedName(from), storedName(to.name)],
  )
  const names = rows.map(({ name }) => name)
  if (names.includes(storedName(to.name))) return
  if (names.length === 0) await client.query(addForeignKey(table, to))
  else await client.query(`alter table ${quoted(table)} rename constraint ${quoted(from)} to ${quoted(to.name)}`)
}

/** Steps on tables of Strapi's panel; older versions of Strapi lack some of them. */
const isPanelStep = (step: PlanStep): step is StepOf<'setValues' | 'deleteRows'> =>
  (step.kind === 'setValues' || step.kind === 'deleteRows') && /^(?:strapi|admin)_/.test(step.table)

async function isThere({ client }: StepSession, table: string): Promise<boolean> {
  const { rows } = await client.query<{ readonly oid: unknown }>('select to_regclass($1) as oid', [quoted(table)])
  return rows[0]!.oid !== null
}

/** Drops Octavo's indexes on a renamed table or column, whose names are outdated; they are recreated in the background. */
async function dropOwnIndexes({ client }: StepSession, step: PlanStep): Promise<void> {
  const renamed = getRenamedPart(step)
  if (renamed === null) return
  const { rows } = await client.query<{ readonly name: string }>(
    `select i.relname as name from pg_index x join pg_class i on i.oid = x.indexrelid
     where x.indrelid = to_regclass($1) and i.relname like 'octavo\\_%' and not x.indisprimary
       and ($2::text is null or exists (select from pg_attribute a where a.attrelid = x.indrelid and a.attname = $2 and a.attnum = any (x.indkey::int2[])))`,
    [quoted(renamed.table), renamed.column === null ? null : storedName(renamed.column)],
  )
  for (const { name } of rows) await client.query(`drop index ${quoted(name)}`)
}

function getTables(step: PlanStep): readonly string[] {
  if (step.kind === 'moveRows') return [step.from, step.to]
  return 'table' in step && typeof step.table === 'string' ? [step.table] : []
}

/** True if the step's table remains readable. Steps on rows, such as permissions, must not block every request. */
const allowsReads = ({ kind }: PlanStep): boolean => kind === 'setValues' || kind === 'deleteRows'

/** Locks the tables of all steps before anything is changed. */
async function lockTables({ client }: StepSession, steps: readonly PlanStep[]): Promise<void> {
  // Waits for writers, which lock the history in row share mode, and blocks new ones, but not readers of the current model.
  await client.query('lock table octavo_model_history in exclusive mode')
  const { ownTables } = await readCatalog(client)
  const existing = new Set(ownTables)
  const named = (some: readonly PlanStep[]) =>
    [...new Set(some.flatMap(getTables).map(storedName))].filter((name) => existing.has(name)).sort()
  const whole = named(steps.filter((step) => !allowsReads(step)))
  const read = named(steps).filter((name) => !whole.includes(name))
  if (read.length > 0) await client.query(`lock table ${read.map(quoted).join(', ')} in exclusive mode`)
  if (whole.length > 0) await client.query(`lock table ${whole.map(quoted).join(', ')} in access exclusive mode`)
}

function fillPostgresColumn(client: pg.ClientBase, { table, from, to, conversion, restores }: Backfill): Promise<void> {
  const { tables, read } = reading(client, '')
  const name = storedName(table)
  return backfillColumn(
    {
      columns: async () => new Map((await tables()).find((each) => each.name === name)!.columns.map((column) => [column.name, column])),
      coercionTo,
      read: (columns, after, limit) => read({ name, columns, key: ['id'] }, after === null ? null : [after], limit),
      write: (columns, rows) => updateRows(client, { name, columns, key: ['id'] }, rows),
    },
    {
      table: name,
      from: storedName(from),
      to: storedName(to),
      conversion,
      restores: restores === undefined ? undefined : { ...restores, from: storedName(restores.from) },
    },
  )
}
