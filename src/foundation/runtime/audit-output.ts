// Where the audit log is written: among the lines of the log, or to a file of its own.
import type { Logger } from 'pino'
import { ConfigError } from '../errors/errors.js'
import { openAppendedFile } from './appended-file.js'
import { type Audit, openAudit } from './audit.js'

/** An audit log with what ends it. */
export interface OpenedAudit {
  readonly audit: Audit
  close(): Promise<void>
}

/**
 * Opens the audit log. `target`: `stdout`, or a path; `bytes`: of lines that wait at most, while a file cannot be written.
 * @throws ConfigError if the file cannot be opened
 */
export async function openAuditOutput(target: string, bytes: number, logger: Logger): Promise<OpenedAudit> {
  if (target === 'stdout') {
    // Whatever the level of the log is.
    const log = logger.child({}, { level: 'info' })
    return { audit: openAudit((line) => log.info(line, 'audit')), close: async () => {} }
  }
  const file = await openAppendedFile(target, {
    bytes,
    failed: (error) => logger.error({ err: error, auditLog: target }, 'the audit log cannot be written; its lines wait'),
    recovered: (lost) => logger.warn({ lost, auditLog: target }, 'the audit log is written again; lines that had no room are lost'),
  }).catch((error: Error) => {
    throw new ConfigError(`The audit log cannot be written to ${target} (auditLog, OCTAVO_AUDIT_LOG): ${error.message}.`)
  })
  const audit = openAudit((line) => file.add(JSON.stringify({ level: 30, time: Date.now(), ...line, msg: 'audit' })))
  return { audit, close: file.close }
}
