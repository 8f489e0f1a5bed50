// How much of what takes long the tests do.

/** Whether FAULTS=all asks for every kill and every recorded change, which takes hours; the ordinary run takes some of them. */
export const isThorough = process.env.FAULTS === 'all'
