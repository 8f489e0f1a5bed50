// Carries out a change of the model on a thread of its own: tables with many rows must not hold up everything else of the service.
import { parentPort, workerData } from 'node:worker_threads'
import type { PlanStep } from '../../model/diff/steps.js'
import type { Model } from '../../model/schema/types.js'
import { openSqliteAgain, type SqliteOptions } from './connection.js'
import { codeOf } from './errors.js'
import { runModelSteps } from './run-model-steps.js'

/** A statement with its values. */
export interface PlainStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A change of the model as the thread gets it. */
export interface ModelWorkData {
  readonly sqlite: SqliteOptions
  readonly steps: readonly PlanStep[]
  readonly model: Model
  readonly isOutdated: PlainStatement
  readonly make: readonly PlainStatement[]
}

/** What the thread sends back: whether the change was made, or the error. */
export type ModelWorkResult = { readonly isMade: boolean } | { readonly code: string; readonly message: string }

function carryOut({ sqlite, steps, model, isOutdated, make }: ModelWorkData): boolean {
  const database = openSqliteAgain(sqlite)
  // Rows of other tables would go with what is moved.
  database.pragma('foreign_keys = off')
  try {
    database.prepare('begin immediate').run()
    if (database.prepare(isOutdated.sql).get(...isOutdated.parameters) !== undefined) return false
    runModelSteps(database, steps, model)
    for (const { sql, parameters } of make) database.prepare(sql).run(...parameters)
    database.prepare('commit').run()
    return true
  } finally {
    // Whatever was not committed is rolled back.
    database.close()
  }
}

function resultOf(data: ModelWorkData): ModelWorkResult {
  try {
    return { isMade: carryOut(data) }
  } catch (error) {
    return { code: codeOf(error), message: (error as Error).message }
  }
}

parentPort!.postMessage(resultOf(workerData as ModelWorkData))
