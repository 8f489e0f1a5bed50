// Number of kills and recorded changes that the tests try.

/** FAULTS=all: each of them, which takes hours; otherwise some. */
export const isThorough = process.env.FAULTS === 'all'

/** FAULTS=once: one kill for each kind of operation, as in `npm test`. */
export const isBrief = process.env.FAULTS === 'once'
