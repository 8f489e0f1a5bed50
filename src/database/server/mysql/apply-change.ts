// Carries out a change of the content model on MySQL or MariaDB: step by step, on a connection of its own. What ends it leaves the steps that
// are done; the next try goes on behind them.

import { type RawBuilder, sql } from 'kysely'
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import { pause } from '../../../foundation/runtime/clock.js'
import type { Conversion } from '../../../model/diff/conversions.js'
import { isKept } from '../../../model/diff/kept.js'
import { renamedBy } from '../../../model/diff/renamed.js'
import { copiedRows, type ReversingStep, type RowsToCopy } from '../../../model/diff/reversing.js'
import { keptRowsStatement, rowStatement } from '../../../model/diff/row-statements.js'
import { expressionOf } from '../../../model/diff/sql-text.js'
import type { MovedColumn, PlanStep, StepNamed } from '../../../model/diff/steps.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import { makeDrafts, play, renameInSettings, type ScriptRow, type ScriptWords, storeContentTypes } from '../../change-scripts.js'
import type { ModelWork, TakingBack } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import { unavailable } from '../../errors.js'
import { type Filling, fillColumn } from '../backfill-column.js'
import { releaseLock, takeLock } from './catalog.js'
import {
  copyStatement,
  dropCopies,
  isDeclaredInPlace,
  lookAt,
  type PresentTables,
  putBackStatement,
  reversalsLeft,
  someRow,
  statementsLeft,
  type TableStep,
  tableOfCopies,
} from './change-statements.js'
import { type Client, type MysqlQueryable, objectsOf } from './client.js'
import { fitterFor } from './coerce-values.js'
import { explained, isConflict, isConnectionLoss, isLasting, isStaleCheck } from './errors.js'
import { onClient, openPool } from './pool.js'
import { preparationError } from './prepare-database.js'
import { assignRows, reading } from './rows.js'
import { execute, openStatements } from './statements.js'
import { writeMysqlSql } from './translate-sql.js'

/** What changes of a database are carried out with. */
export interface MysqlCarryingOut {
  readonly settings: ServerSettings
  readonly dialect: Dialect
  /** Milliseconds to wait for a table that is in use; everybody who comes later waits behind that. */
  readonly wait: number
  /** Milliseconds to wait for another process that changes tables. */
  readonly waitForOthers: number
  /** Receives the loss of the connection. */
  failed(error: Error): void
}

/** Times that a step is begun; between two of them whoever waited behind it has its turn. Milliseconds until the next one. */
const [tries, pauseBetween] = [3, 500]

/**
 * Carries out what is left of a change. Resolves to false, and changes nothing, where it is outdated.
 * @throws ApiError 503 where a table is in use for too long or the server is lost; steps that are noted are done then
 */
export const carryOutOnMysql = (options: MysqlCarryingOut, work: ModelWork): Promise<boolean> =>
  onConnection(options, (client) => carryOutOn(client, options, work))

/** Works on a connection of its own. */
async function onConnection<Result>(options: MysqlCarryingOut, work: (client: Client) => Promise<Result>): Promise<Result> {
  const pool = openPool(options.settings, { max: 1, failed: options.failed })
  try {
    return await onClient(pool, work)
  } catch (error) {
    if (isConnectionLoss(error)) options.failed(error as Error)
    throw explained(preparationError(error))
  } finally {
    await pool.close()
  }
}

/**
 * Takes back what was done of a change. Resolves to false, and changes nothing, where somebody else has done it.
 * @throws ApiError 503 as `carryOutOnMysql`
 */
export const takeBackOnMysql = (options: MysqlCarryingOut, work: TakingBack): Promise<boolean> =>
  onConnection(options, (client) =>
    changing(client, options, work, async (session) => {
      const { steps, progress } = work
      for (let index = await doneOf(session, progress); index < steps.length; index++)
        await tried(() => runReversingStep(session, { step: steps[index]!, done: progress.note(index + 1) }))
    }),
  )

const carryOutOn = (client: Client, options: MysqlCarryingOut, work: ModelWork): Promise<boolean> =>
  changing(client, options, work, async (session) => {
    const { steps, model, progress } = work
    const first = await doneOf(session, progress)
    // Writes that looked for changes before this one was recorded are waited for; later ones see it.
    await orGiveUp(session, work, first, () => client.query("alter table octavo_model_history comment = ''"))
    for (let index = first; index < steps.length; index++) {
      const step = steps[index]!
      const [later, copies, done] = [steps.slice(index + 1), copiedRows(step, index), progress.note(index + 1)]
      await orGiveUp(session, work, index, () => runStep(session, { step, later, copies, model, done }))
    }
  })

/** Runs what comes after the first `done` steps. Where it cannot be executed the change is given up, if that is possible. @throws its error */
async function orGiveUp(
  { ask }: MysqlStepSession,
  { giveUp, givesUpInUse = false }: ModelWork,
  done: number,
  run: () => Promise<unknown>,
): Promise<void> {
  try {
    await tried(run)
  } catch (error) {
    const isGivenUp = isLasting(error) || (givesUpInUse && isInUse(error))
    const given = isGivenUp ? giveUp?.(done) : undefined
    if (given === undefined || given === null) throw error
    await ask(given)
    throw isInUse(error) ? unavailable(`${inUse}. What was done of it was taken back; try again`, (error as Error).cause) : error
  }
}

/** How many steps earlier tries have finished. */
async function doneOf({ ask }: MysqlStepSession, { done }: ModelWork['progress']): Promise<number> {
  const [noted] = await ask(done)
  return Number(noted?.done ?? 0)
}

/** Runs steps while nobody else changes tables, and then the statements that make it count. */
async function changing(
  client: Client,
  { dialect, wait, waitForOthers }: MysqlCarryingOut,
  { isOutdated, make }: Pick<ModelWork, 'isOutdated' | 'make'>,
  work: (session: MysqlStepSession) => Promise<void>,
): Promise<boolean> {
  // No column of moments is given a value here: what stands beside values need not be known.
  const statements = openStatements(dialect)
  const session: MysqlStepSession = {
    client,
    dialect,
    ask: async (query) => {
      const { text, values } = writeMysqlSql(query)
      return objectsOf(await execute(statements, client, text, values))
    },
  }
  if (!(await takeLock(client, 'prepare', waitForOthers)))
    throw unavailable('Another process changes the tables of the database; try again')
  try {
    if ((await session.ask(isOutdated)).length > 0) return false
    // Rows go and come in an order of their own, and tables with them.
    await client.query(`set session foreign_key_checks = 0, lock_wait_timeout = ${Math.max(1, Math.ceil(wait / 1000))}`)
    await work(session)
    await dropCopies(client)
    for (const statement of make) await session.ask(statement)
    return true
  } finally {
    await releaseLock(client, 'prepare').catch(() => client.cut())
  }
}

const inUse = 'A table of the change is in use'

/** Whether a step was tried as often as it is, because of a table in use. */
const isInUse = (error: unknown): boolean => error instanceof ApiError && isConflict(error.cause)

/** Tries a step again where a table was in use. */
async function tried(step: () => Promise<unknown>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await step()
      return
    } catch (error) {
      if (!isConflict(error)) throw error
      if (left === 1) throw unavailable(`${inUse}. It is not finished yet; try again`, error)
      await pause(pauseBetween)
    }
  }
}

/** The connection of a change. */
export interface MysqlStepSession {
  readonly client: Client
  readonly dialect: Dialect
  ask(query: RawBuilder<unknown>): Promise<readonly ScriptRow[]>
}

/** A step, with what comes behind it, and what notes that it is done. */
export interface MysqlStep {
  readonly step: PlanStep
  readonly later: readonly PlanStep[]
  /** What is copied before it is changed, in case the change has to be taken back. */
  readonly copies: readonly RowsToCopy[]
  /** The new model. */
  readonly model: Model
  readonly done: RawBuilder<unknown>
}

/** Runs a step, or what an earlier try has left of it, and notes it. */
export async function runStep(session: MysqlStepSession, { step, later, copies, model, done }: MysqlStep): Promise<void> {
  const there = lookAt(session.client)
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    const copied = await tablesOfCopies(session, copies, there)
    await inTransaction(session, done, async () => {
      for (const rows of copied) await session.ask(copyStatement(rows))
      await work()
    })
  }
  switch (step.kind) {
    case 'keepRows':
      return keepRows(session, step, done)
    case 'moveRows':
      await goOnCounting(session, step, there)
      return moveRows(session, step, there, done)
    case 'deleteRows':
    case 'setValues':
      return change(async () => {
        if (!isOfOthers(step.table) || (await there.table(step.table))) await session.ask(expressionOf(rowStatement(step)))
      })
    case 'makeDrafts':
      return change(() => play(makeDrafts(step, model, wordsOf(session)), session.ask))
    case 'renameInSettings':
      return change(() => play(renameInSettings(step), session.ask))
    case 'storeContentTypes':
      return change(() => play(storeContentTypes(step, model), session.ask))
    default:
      return changeTables(session, step, there, later, done)
  }
}

/** Makes tables for copies of rows that a step changes; those without such rows are left out. */
async function tablesOfCopies(
  { client, ask }: MysqlStepSession,
  copies: readonly RowsToCopy[],
  there: PresentTables,
): Promise<readonly RowsToCopy[]> {
  const filled: RowsToCopy[] = []
  for (const rows of copies) {
    const isFilled = (!isOfOthers(rows.table) || (await there.table(rows.table))) && (await ask(someRow(rows))).length > 0
    if (!isFilled) continue
    await client.query(tableOfCopies(rows))
    filled.push(rows)
  }
  return filled
}

/** Runs a step on the way back, or what an earlier try has left of it, and notes it. */
export async function runReversingStep(
  session: MysqlStepSession,
  { step, done }: { readonly step: ReversingStep; readonly done: RawBuilder<unknown> },
): Promise<void> {
  const there = lookAt(session.client)
  const { client } = session
  switch (step.kind) {
    case 'putRowsBack':
      return inTransaction(session, done, async () => {
        if (await there.table(step.from)) await client.query(putBackStatement(step.table, step.from, await there.columns(step.from)))
      })
    case 'deleteRows':
      return inTransaction(session, done, () => session.ask(expressionOf(rowStatement(step))))
    case 'dropColumn':
    case 'putColumnBack':
    case 'addForeignKey':
      for await (const statement of reversalsLeft(step, there)) await alterTable(client, statement)
      await session.ask(done)
      return
    default:
      return changeTables(session, step, there, [], done)
  }
}

/** Tables of the panel: one that an older Strapi made has not all of them. */
const isOfOthers = (table: string): boolean => /^(?:strapi|admin)_/.test(table)

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
  for await (const statement of statementsLeft(step, there, later)) await alterTable(client, statement)
  if (step.kind === 'convertColumn') await fillMysqlColumn(client, { ...step, from: step.as, to: step.column.name })
  if (step.kind === 'declareColumn' && !isDeclaredInPlace(step))
    await fillMysqlColumn(client, { table: step.table, from: step.as, to: step.column.name, conversion: asItIs })
  await session.ask(done)
}

/** Tries of one statement. */
const mostTries = 3

/**
 * Changes a table. Where a column of JSON is renamed, MariaDB may look for its new name in the check that the table has in the server's cache,
 * and forgets the cached table with that error.
 */
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

/** Moves rows, with what is kept aside in their columns where that is asked for. */
async function moveRows(
  session: MysqlStepSession,
  step: StepNamed<'moveRows'>,
  there: PresentTables,
  done: RawBuilder<unknown>,
): Promise<void> {
  const kept: MovedColumn[] = []
  if (step.withKept === true)
    for (const { name } of await there.columns(step.from)) {
      if (!isKept(name)) continue
      kept.push({ from: name, to: name })
      const { type } = (await there.column(step.from, name))!
      if ((await there.column(step.to, name)) === null)
        await session.client.query(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type} null`)
    }
  await inTransaction(session, done, () => session.ask(expressionOf(rowStatement({ ...step, columns: [...step.columns, ...kept] }))))
}

/** Copies rows to a table of their own. It has the keys of the former, since some servers take no table without. */
async function keepRows(session: MysqlStepSession, step: StepNamed<'keepRows'>, done: RawBuilder<unknown>): Promise<void> {
  const { client, ask } = session
  await client.query(`create table if not exists ${quoted(step.as)} like ${quoted(step.table)}`)
  let isEmpty = false
  await inTransaction(session, done, async () => {
    await ask(expressionOf(keptRowsStatement(step)))
    isEmpty = (await client.query(`select 1 from ${quoted(step.as)} limit 1`)).rows.length === 0
    if (isEmpty) await client.query('rollback')
    // Nothing was kept: no table has to be looked after.
    if (isEmpty) await client.query(`drop table ${quoted(step.as)}`)
  })
}

/** New rows of the table that rows move to get numbers behind those that the former gave. */
async function goOnCounting({ client }: MysqlStepSession, { from, to }: StepNamed<'moveRows'>, there: PresentTables): Promise<void> {
  const [given, next] = [await there.nextId(from), await there.nextId(to)]
  if (given > next) await client.query(`alter table ${quoted(to)} auto_increment = ${given}`)
}

/** Ids behind all that the table has given: nobody else writes to it meanwhile, or the step fails and is tried again. */
const wordsOf = ({ dialect }: MysqlStepSession): ScriptWords => ({
  rows: dialect.rows,
  newIds: (table) => sql`select greatest(coalesce((select max(id) from ${sql.table(table)}), 0), coalesce((select auto_increment - 1
    from information_schema.tables where table_schema = database() and table_name = ${table}), 0)) as id`,
  idsFrom: ([last = 0]) => {
    let given = last
    return () => ++given
  },
})

/** Indexes of our own have names by what they are about; under the new one they are created in the background. */
async function dropOwnIndexes({ client }: MysqlStepSession, step: TableStep, there: PresentTables): Promise<void> {
  const about = renamedBy(step)
  if (about === null) return
  for (const name of await there.ownIndexes(about.table, about.column))
    await client.query(`alter table ${quoted(about.table)} drop index ${quoted(name)}`)
}

/** Fills it. */
export function fillMysqlColumn(client: MysqlQueryable, filling: Filling): Promise<void> {
  const { tables, read } = reading(client, '')
  const name = filling.table
  return fillColumn(
    {
      columns: async () => new Map((await tables()).find((each) => each.name === name)!.columns.map((column) => [column.name, column])),
      fitterFor,
      read: (columns, after, limit) => read({ name, columns, key: ['id'] }, after === null ? null : [after], limit),
      write: (columns, rows) => assignRows(client, { name, columns, key: ['id'] }, rows),
    },
    filling,
  )
}
