// The log that code of a project writes to: lines of the service's log, with the name of the code.
import type { CodeLog } from '../public/code-log.js'

/** What is written to. */
interface LineWriter {
  debug(details: object, message: string): void
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

/** Opens the log of a piece of code, for a request unless its id is null. Its own details cannot take the place of its name. */
export function codeLog(log: LineWriter, code: string, requestId: string | null = null): CodeLog {
  const write =
    (level: keyof LineWriter) =>
    (message: string, details: Readonly<Record<string, unknown>> = {}): void =>
      log[level]({ ...details, code, ...(requestId === null ? {} : { requestId }) }, String(message))
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}
