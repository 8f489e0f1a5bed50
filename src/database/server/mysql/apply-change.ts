// Applies a model change on MySQL or MariaDB step by step, on a dedicated connection. Finished steps remain after a failure; the next
// attempt continues after them.

import { type RawBuilder, sql } from 'kysely'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { isArchived } from '../../../model/diff/comparison.js'
import type { Conversion } from '../../../model/diff/conversions.js'
import { toExpression } from '../../../model/diff/sql-text.js'
import type { MovedColumn, PlanStep, StepOf } from '../../../model/diff/steps.js'
import { archiveRowsStatement, getRenamedPart, rowStatement } from '../../../model/diff/steps.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import { createDrafts, renameInSettings, runScript, type ScriptDialect, type ScriptRow, storeContentTypes } from '../../change-scripts.js'
import type { ModelWork } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import { unavailableError } from '../../errors.js'
import { type Backfill, backfillColumn } from '../backfill-column.js'
import { releaseLock, takeLock } from './catalog.js'
import {
  columnChecks,
  inspectTables,
  isDeclaredInPlace,
  type PresentTables,
  remainingStatements,
  type TableStep,
} from './change-statements.js'
import { type Client, type MysqlQueryable, toObjects } from './client.js'
import { coercionTo } from './coerce-values.js'
import { isConflict, isConnectionLoss, isLasting, isStaleCheck, toApiError } from './errors.js'
import { onClient, openPool } from './pool.js'
import { preparationError } from './prepare-database.js'
import { assignRows, reading } from './rows.js'
import { execute } from './translate-sql.js'

interface MysqlChangeOptions {
  readonly settings: ServerSettings
  readonly dialect: Dialect
  /** Lock timeout in milliseconds. Later requests for a table wait for as long. */
  readonly wait: number
  /** Milliseconds to wait for another process that alters tables. */
  readonly waitForOthers: number
  failed(error: Error): void
}

/** Attempts per step, and the pause between them in milliseconds, in which waiting requests run. */
const tries = 3
const pauseBetween = 500

/**
 * Applies the remaining steps of a change. Resolves to false, without changes, if it is outdated.
 * @throws ApiError 503 if a table is in use or the server is lost; recorded steps remain done
 */
export const applyMysqlChange = (options: MysqlChangeOptions, work: ModelWork): Promise<boolean> =>
  onConnection(options, (client) => carryOutOn(client, options, work))

/** Runs work on a dedicated connection. */
async function onConnection<Result>(options: MysqlChangeOptions, work: (client: Client) => Promise<Result>): Promise<Result> {
  const pool = openPool(options.settings, { max: 1, failed: options.failed })
  try {
    return await onClient(pool, work)
  } catch (error) {
    if (isConnectionLoss(error)) options.failed(error as Error)
    throw toApiError(preparationError(error))
  } finally {
    await pool.close()
  }
}

const carryOutOn = (client: Client, options: MysqlChangeOptions, work: ModelWork): Promise<boolean> =>
  withTableLock(client, options, work, async (session) => {
    const { steps, model, progress } = work
    // Waits for writes that checked the history before this change was recorded; later ones see it.
    await retryInUse(() => client.query("alter table octavo_model_history comment = ''"))
    for (let index = await readProgress(session, progress); index < steps.length; index++) {
      const step = steps[index]!
      const later = steps.slice(index + 1)
      await retryInUse(() => runStep(session, { step, later, model, done: progress.note(index + 1) })).catch((error: unknown) => {
        if (!isLasting(error)) throw error
        throw unavailableError(describeFailure(steps, index, error as Error), error)
      })
    }
  })

function describeFailure(steps: readonly PlanStep[], index: number, { message }: Error): string {
  const step = steps[index]!
  const { table } = step as { readonly table?: string | { readonly name: string } }
  const about = table === undefined ? '' : ` of ${typeof table === 'string' ? table : table.name}`
  return `The change of the model is not finished: ${index} of ${steps.length} steps are done, and step ${index + 1} (${step.kind}${about}) fails: ${message}. The next start, or octavo model apply, continues with it`
}

/**
 * Checks a change's tables in advance: locks them briefly, and adds the new columns to empty copies.
 * @throws ApiError 503 if a table is in use, or the server's error
 */
export const checkMysqlSteps = (options: MysqlChangeOptions, steps: readonly PlanStep[]): Promise<void> =>
  onConnection(options, async (client) => {
    const { rows } = await client.query('select table_name from information_schema.tables where table_schema = database()')
    const present = new Set(rows.map(([name]) => String(name)))
    await setLockWait(client, options.wait)
    for (const statements of columnChecks(steps, present)) {
      // The database user may lack the grant for temporary tables.
      const isCreated = await client.query(statements.create).then(
        () => true,
        () => false,
      )
      if (isCreated) await client.query(statements.add)
      await client.query(statements.drop)
    }
    const used = ['octavo_model_history', ...steps.map((step) => ('table' in step && typeof step.table === 'string' ? step.table : ''))]
    const names = [...new Set(used)].filter((name) => present.has(name))
    await retryInUse(() =>
      client.query(`lock tables ${names.map((name) => `${quoted(name)} write`).join(', ')}`).catch((error: unknown) => {
        // The grant for locking tables may be missing, too.
        if (isConflict(error)) throw error
      }),
    )
    await client.query('unlock tables')
  })

/** Sets the timeout for table locks. */
const setLockWait = (client: Client, waitMs: number): Promise<unknown> =>
  client.query(`set session lock_wait_timeout = ${Math.max(1, Math.ceil(waitMs / 1000))}`)

async function readProgress({ ask }: MysqlStepSession, { done }: ModelWork['progress']): Promise<number> {
  const [noted] = await ask(done)
  return Number(noted?.done ?? 0)
}

/** Runs steps under the lock for altering tables, then the statements that complete the change. */
async function withTableLock(
  client: Client,
  { dialect, wait, waitForOthers }: MysqlChangeOptions,
  { isOutdated, complete: make }: Pick<ModelWork, 'isOutdated' | 'complete'>,
  work: (session: MysqlStepSession) => Promise<void>,
): Promise<boolean> {
  const session: MysqlStepSession = {
    client,
    dialect,
    ask: async (query) => toObjects(await execute(client, query)),
  }
  if (!(await takeLock(client, 'prepare', waitForOthers)))
    throw unavailableError('Another process changes the tables of the database; try again')
  try {
    if ((await session.ask(isOutdated)).length > 0) return false
    // Tables and rows are moved in an order that ignores foreign keys.
    await client.query('set session foreign_key_checks = 0')
    await setLockWait(client, wait)
    await work(session)
    for (const statement of make) await session.ask(statement)
    return true
  } finally {
    await releaseLock(client, 'prepare').catch(() => client.cut())
  }
}

async function retryInUse(step: () => Promise<unknown>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await step()
      return
    } catch (error) {
      if (!isConflict(error)) throw error
      if (left === 1) throw unavailableError('A table of the change is in use; try again', error)
      await pause(pauseBetween)
    }
  }
}

interface MysqlStepSession {
  readonly client: Client
  readonly dialect: Dialect
  ask(query: RawBuilder<unknown>): Promise<readonly ScriptRow[]>
}

/** A step, the steps after it, and the statement that records its completion. */
interface MysqlStep {
  readonly step: PlanStep
  readonly later: readonly PlanStep[]
  readonly model: Model
  readonly done: RawBuilder<unknown>
}

/** Runs a step, or what an interrupted attempt has left of it, and records it. */
async function runStep(session: MysqlStepSession, { step, later, model, done }: MysqlStep): Promise<void> {
  const there = inspectTables(session.client)
  const change = (work: () => Promise<unknown>): Promise<void> => inTransaction(session, done, work)
  switch (step.kind) {
    case 'keepRows':
      return keepRows(session, step, done)
    case 'moveRows':
      await raiseNextId(session, step, there)
      return moveRows(session, step, there, done)
    case 'deleteRows':
    case 'setValues':
      return change(async () => {
        if (!isPanelTable(step.table) || (await there.table(step.table))) await session.ask(toExpression(rowStatement(step)))
      })
    case 'makeDrafts':
      return change(() => runScript(createDrafts(step, model, scriptDialect(session)), session.ask))
    case 'renameInSettings':
      return change(() => runScript(renameInSettings(step), session.ask))
    case 'storeContentTypes':
      return change(() => runScript(storeContentTypes(step, model), session.ask))
    default:
      return changeTables(session, step, there, later, done)
  }
}

/** Tables of Strapi's panel; older versions of Strapi lack some of them. */
const isPanelTable = (table: string): boolean => /^(?:strapi|admin)_/.test(table)

async function inTransaction({ client, ask }: MysqlStepSession, done: RawBuilder<unknown>, work: () => Promise<unknown>): Promise<void> {
  await client.query('start transaction')
  try {
    await work()
    await ask(done)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => client.cut())
    throw error
  }
}

async function changeTables(
  session: MysqlStepSession,
  step: TableStep,
  there: PresentTables,
  later: readonly PlanStep[],
  done: RawBuilder<unknown>,
): Promise<void> {
  const { client } = session
  await dropOwnIndexes(session, step, there)
  for await (const statement of remainingStatements(step, there, later)) await alterTable(client, statement)
  if (step.kind === 'convertColumn') await fillMysqlColumn(client, { ...step, from: step.as, to: step.column.name })
  if (step.kind === 'declareColumn' && !isDeclaredInPlace(step))
    await fillMysqlColumn(client, { table: step.table, from: step.as, to: step.column.name, conversion: asItIs })
  await session.ask(done)
}

const mostTries = 3

/** Alters a table. On renaming a JSON column, MariaDB may look up its new name in a stale check; the error evicts the cached table. */
async function alterTable(client: Client, statement: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(statement)
      return
    } catch (error) {
      if (tries === mostTries || !isStaleCheck(error)) throw error
    }
  }
}

const asItIs: Conversion = { from: 'text', to: 'text', rule: 'same' }

async function moveRows(
  session: MysqlStepSession,
  step: StepOf<'moveRows'>,
  there: PresentTables,
  done: RawBuilder<unknown>,
): Promise<void> {
  const kept: MovedColumn[] = []
  if (step.withKept === true)
    for (const { name } of await there.columns(step.from)) {
      if (!isArchived(name)) continue
      kept.push({ from: name, to: name })
      const { type } = (await there.column(step.from, name))!
      if ((await there.column(step.to, name)) === null)
        await session.client.query(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type} null`)
    }
  await inTransaction(session, done, () => session.ask(toExpression(rowStatement({ ...step, columns: [...step.columns, ...kept] }))))
}

/** Copies rows to an archive table, with the same primary key, since some servers require one. */
async function keepRows(session: MysqlStepSession, step: StepOf<'keepRows'>, done: RawBuilder<unknown>): Promise<void> {
  const { client, ask } = session
  await client.query(`create table if not exists ${quoted(step.as)} like ${quoted(step.table)}`)
  let isEmpty = false
  await inTransaction(session, done, async () => {
    await ask(toExpression(archiveRowsStatement(step)))
    isEmpty = (await client.query(`select 1 from ${quoted(step.as)} limit 1`)).rows.length === 0
    if (isEmpty) await client.query('rollback')
    // Drop the archive table if it is empty.
    if (isEmpty) await client.query(`drop table ${quoted(step.as)}`)
  })
}

/** Raises the target table's next id to that of the source table. */
async function raiseNextId({ client }: MysqlStepSession, { from, to }: StepOf<'moveRows'>, there: PresentTables): Promise<void> {
  const given = await there.nextId(from)
  const next = await there.nextId(to)
  if (given > next) await client.query(`alter table ${quoted(to)} auto_increment = ${given}`)
}

/** Ids beyond any in use. A concurrent insert makes the step fail, and it is retried. */
const scriptDialect = ({ dialect }: MysqlStepSession): ScriptDialect => ({
  rows: dialect.rows,
  newIds: (table) => sql`select greatest(coalesce((select max(id) from ${sql.table(table)}), 0), coalesce((select auto_increment - 1
    from information_schema.tables where table_schema = database() and table_name = ${table}), 0)) as id`,
  idsFrom: ([last = 0]) => {
    let given = last
    return () => ++given
  },
})

/** Drops Octavo's indexes on a renamed table or column, whose names are outdated; they are recreated in the background. */
async function dropOwnIndexes({ client }: MysqlStepSession, step: TableStep, there: PresentTables): Promise<void> {
  const about = getRenamedPart(step)
  if (about === null) return
  for (const name of await there.ownIndexes(about.table, about.column))
    await client.query(`alter table ${quoted(about.table)} drop index ${quoted(name)}`)
}

function fillMysqlColumn(client: MysqlQueryable, filling: Backfill): Promise<void> {
  const { tables, read } = reading(client, '')
  const name = filling.table
  return backfillColumn(
    {
      columns: async () => new Map((await tables()).find((each) => each.name === name)!.columns.map((column) => [column.name, column])),
      coercionTo,
      read: (columns, after, limit) => read({ name, columns, key: ['id'] }, after === null ? null : [after], limit),
      write: (columns, rows) => assignRows(client, { name, columns, key: ['id'] }, rows),
    },
    filling,
  )
}
