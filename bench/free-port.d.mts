/** A port on which nothing listens. */
export function freePort(): Promise<number>
