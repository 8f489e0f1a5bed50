// What a database is given to carry out the plan of a change of the content model.
import type { RawBuilder } from 'kysely'
import type { ReversingStep } from '../model/diff/reversing.js'
import type { PlanStep } from '../model/diff/steps.js'
import type { Model } from '../model/schema/types.js'

/** A change of the content model as a database carries it out. */
export interface ModelWork {
  readonly steps: readonly PlanStep[]
  /** The model that the steps lead to. */
  readonly model: Model
  /** Selects a row if the change must not be made any more: another process made one. Asked in the transaction of the first step. */
  readonly isOutdated: RawBuilder<unknown>
  /** Make the change: the last statements, in one transaction with all steps; where steps are committed one by one a single statement after the last of them. */
  readonly make: readonly RawBuilder<unknown>[]
  /**
   * Where steps are committed one by one: selects how many of them earlier tries have finished, as `done`, and the statement that notes that
   * number. It is asked while no other process carries out the same.
   */
  readonly progress: { readonly done: RawBuilder<unknown>; note(done: number): RawBuilder<unknown> }
  /**
   * Where steps are committed one by one: the statement that gives the change up, because the step behind the first `done` ones cannot be
   * executed; null: nothing leads back.
   */
  readonly giveUp?: (done: number) => RawBuilder<unknown> | null
  /** Whether it is also given up where tables are in use for too long; absent: another try goes on with it. */
  readonly givesUpInUse?: boolean
}

/** A change that was given up, as a database takes it back. `make`: the statements that end it. */
export interface TakingBack extends Pick<ModelWork, 'isOutdated' | 'make' | 'progress'> {
  readonly steps: readonly ReversingStep[]
}
