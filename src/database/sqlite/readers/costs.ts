// What reads cost, by the plans that were seen before: it decides which share of the threads a read is given.
import type { PlanHandle } from '../../database.js'

/** `fresh`: its plan was not seen before. */
export type Cost = 'short' | 'light' | 'fresh' | 'heavy'

/** Milliseconds below which reads are short, and from which on they are heavy. */
const [short, heavy] = [0.5, 15]
/** What the first run of a plan is averaged with, since it prepares statements and finds nothing in memory; milliseconds. */
const expected = 1

export interface Costs {
  of(plan: PlanHandle): Cost
  /** Notes a run that took `milliseconds`; one that was stopped would have taken longer. */
  note(plan: PlanHandle, milliseconds: number, wasStopped: boolean): void
}

export function openCosts(): Costs {
  /** The milliseconds that plans took of late. */
  const paces = new WeakMap<PlanHandle, number>()
  return {
    of: (plan) => {
      const pace = paces.get(plan)
      if (pace === undefined) return 'fresh'
      return pace < short ? 'short' : pace < heavy ? 'light' : 'heavy'
    },
    note: (plan, milliseconds, wasStopped) => {
      const pace = paces.get(plan) ?? expected
      paces.set(plan, wasStopped ? Math.max(pace, milliseconds) : pace + (milliseconds - pace) / 8)
    },
  }
}
