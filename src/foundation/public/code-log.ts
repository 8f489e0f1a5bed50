// The public type of the log that routes and schedules write to.

/** Writes lines to the log of the service, with the name of the code, and the id of the request where there is one. */
export interface CodeLog {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}
