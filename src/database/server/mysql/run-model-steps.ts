// Runs the steps of a change of the content model on MySQL or MariaDB, which commit every change of a table by itself: a step that changes
// rows is one transaction with the note that it is done, one that changes tables can be begun again.
import { type RawBuilder, sql } from 'kysely'
import type { Conversion } from '../../../model/diff/conversions.js'
import { isKept } from '../../../model/diff/kept.js'
import { renamedBy } from '../../../model/diff/renamed.js'
import type { ReversingStep, RowsToCopy } from '../../../model/diff/reversing.js'
import { keptRowsStatement, rowStatement } from '../../../model/diff/row-statements.js'
import { expressionOf } from '../../../model/diff/sql-text.js'
import type { MovedColumn, PlanStep, StepNamed } from '../../../model/diff/steps.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import type { Dialect } from '../../dialect.js'
import { makeDrafts } from '../../draft-copies.js'
import { renameInSettings, storeContentTypes } from '../../model-settings.js'
import { play, type ScriptRow, type ScriptWords } from '../../step-script.js'
import type { Client } from './client.js'
import { isStaleCheck } from './errors.js'
import { fillMysqlColumn } from './fill-column.js'
import { isDeclaredInPlace, lookAt, type PresentTables, statementsLeft, type TableStep } from './model-steps.js'
import { copyStatement, putBackStatement, reversalsLeft, someRow, tableOfCopies } from './reversing-steps.js'

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
