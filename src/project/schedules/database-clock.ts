// The time of day by the clock of the database: the same for every process, whatever the clock of its machine shows.

/** A clock that goes on from what the database said last. Moments are milliseconds since 1970. */
export interface DatabaseClock {
  /** Never ahead of the database, unless its clock is set back. */
  now(): number
  /** Sets the clock to what the database has just said. */
  set(moment: number): void
  /** Asks the database, unless it said what time it is a moment ago. Where it cannot be asked, the clock goes on. */
  look(): Promise<void>
}

/** Milliseconds for which what the database said is good enough: a clock may be set, and a machine may be suspended. */
const goodFor = 10_000

/** Opens a clock; it shows nothing before it is set. */
export function openDatabaseClock(ask: () => Promise<number>): DatabaseClock {
  let said = { moment: Number.NaN, at: Number.NEGATIVE_INFINITY }
  // What took its time on the way is in the past.
  const set = (moment: number): void => {
    said = { moment, at: performance.now() }
  }
  return {
    now: () => Math.floor(said.moment + performance.now() - said.at),
    set,
    look: async () => {
      if (performance.now() - said.at > goodFor) await ask().then(set, () => {})
    },
  }
}
