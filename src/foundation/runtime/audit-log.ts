// The audit log: actions of callers, recorded once they are committed.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { maxWaitingLogBytes } from '../config/limits.js'
import { ConfigError } from '../errors/errors.js'

interface AuditActor {
  /** `user`, `token` or `administrator` with an id; `command`, `public`, `project` (code of the project), `nobody` (not signed in). */
  readonly kind: string
  readonly id?: number
}

/** An action. It contains names of the service and ids, but no value, token or text of a client. */
export interface AuditEntry {
  readonly actor: AuditActor
  /** A verb such as `create`, or an action such as `plugin::users-permissions.user.update`. */
  readonly action: string
  /** The uid of a content-type, or a kind such as `token`. */
  readonly type?: string | undefined
  /** The documentId, or the id of a row. */
  readonly id?: string | undefined
  /** Names of changed fields. */
  readonly fields?: readonly string[] | undefined
  readonly locales?: readonly string[] | undefined
  readonly result?: 'success' | 'refused' | 'failed'
  /** The IP address, where it is known otherwise than by the request. */
  readonly address?: string | null
}

/** The request that causes an action. */
interface AuditedRequest {
  readonly requestId: string
  readonly address: string
  /** Work after the response is not attributed to the request. */
  isOver: boolean
}

/** An audit log. */
export interface Audit {
  /** Writes a line. Never throws, and waits for nothing. */
  note(entry: AuditEntry): void
  /** Attributes `work` and its asynchronous continuations to a request. Returns a function that ends it. */
  within(request: Pick<AuditedRequest, 'requestId' | 'address'>, work: () => void): () => void
}

/** Entries of the current transaction. */
const underWay = new AsyncLocalStorage<AuditEntry[]>()
const requests = new AsyncLocalStorage<AuditedRequest>()

/** Records an entry of the current transaction, which is written after the commit. No effect without an audit log. */
export const noteInTransaction = (entry: AuditEntry): void => void underWay.getStore()?.push(entry)

/** Runs a transaction, and writes the entries of its last attempt. `run` executes each attempt through `attempt`. */
export async function auditedTransaction<Result>(
  audit: Audit,
  run: (attempt: <Tried>(work: () => Tried) => Tried) => Promise<Result>,
): Promise<Result> {
  let noted: AuditEntry[] = []
  const result = await run((work) => {
    noted = []
    return underWay.run(noted, work)
  })
  for (const entry of noted) audit.note(entry)
  return result
}

/** Opens an audit log. `write` receives lines as data. */
export const openAudit = (write: (line: Readonly<Record<string, unknown>>) => void): Audit => ({
  note: (entry) => write(lineOf(entry, requests.getStore())),
  within: (request, work) => {
    const audited = { ...request, isOver: false }
    requests.run(audited, work)
    return () => {
      audited.isOver = true
    }
  },
})

/** A line without its time. Documents are known by their documentId, everything else by its id. */
function lineOf({ actor, action, type, id, fields, locales, result, address }: AuditEntry, request: AuditedRequest | undefined) {
  const current = request?.isOver === false ? request : undefined
  const isDocument = type?.includes('::') === true
  return {
    audit: true,
    actor,
    action,
    type,
    ...(id !== undefined && id !== '' && { [isDocument ? 'documentId' : 'id']: id }),
    fields,
    locales,
    result: result ?? 'success',
    requestId: current?.requestId,
    ip: address ?? current?.address,
  }
}

/** An audit log with what ends it. */
interface OpenedAudit {
  readonly audit: Audit
  close(): Promise<void>
}

interface AuditFailureLog {
  error(details: object, message: string): void
  warn(details: object, message: string): void
}

/**
 * Opens the audit log. `target`: `stdout`, where `writeLine` writes, or a path.
 * @throws ConfigError if the file cannot be opened
 */
export async function openAuditOutput(target: string, log: AuditFailureLog, writeLine: (line: object) => void): Promise<OpenedAudit> {
  if (target === 'stdout') return { audit: openAudit(writeLine), close: async () => {} }
  const file = await openAppendedFile(target, {
    bytes: maxWaitingLogBytes,
    failed: (error) => log.error({ err: error, auditLog: target }, 'the audit log cannot be written; its lines wait'),
    recovered: (lost) => log.warn({ lost, auditLog: target }, 'the audit log is written again; lines that had no room are lost'),
  }).catch((error: Error) => {
    throw new ConfigError(`The audit log cannot be written to ${target} (auditLog, OCTAVO_AUDIT_LOG): ${error.message}.`)
  })
  return { audit: openAudit((line) => file.add(formatAuditLine(line))), close: file.close }
}

export const formatAuditLine = (line: object): string => JSON.stringify({ level: 30, time: Date.now(), ...line, msg: 'audit' })

/** A file that only grows, until somebody moves it away. */
interface AppendedFile {
  /** Appends a line, without its end. Waits for nothing. */
  add(line: string): void
  /** Resolves when all lines are written, or cannot be. */
  close(): Promise<void>
}

/** Options of an append-only file. */
interface AppendedFileOptions {
  /** Bytes of lines that wait at most. */
  readonly bytes: number
  /** Lines cannot be written; they wait. Called once, until they can. */
  failed(error: unknown): void
  /** Writing works again. `lost`: lines that did not fit in the buffer. */
  recovered(lost: number): void
}

/** Milliseconds between two looks whether the file was moved away, and after a failure until the next attempt. */
const [lookEvery, retryAfter] = [1_000, 1_000]

/** Opens a file, which only its owner can read where it is new. @throws Error if it cannot be opened */
export async function openAppendedFile(path: string, { bytes, failed, recovered }: AppendedFileOptions): Promise<AppendedFile> {
  const file = await openFollowed(path)
  const waiting: string[] = []
  /** The unwritten rest of earlier lines. */
  let rest: Buffer = Buffer.alloc(0)
  let [size, lost] = [0, 0]
  let isFailing = false
  let writing: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined

  async function writeAll(): Promise<void> {
    while (rest.length > 0 || waiting.length > 0) {
      if (rest.length === 0) rest = Buffer.from(waiting.splice(0).join(''))
      try {
        const written = await file.write(rest)
        rest = rest.subarray(written)
        size -= written
        if (isFailing || lost > 0) recovered(lost)
        ;[isFailing, lost] = [false, 0]
      } catch (error) {
        if (!isFailing) failed(error)
        isFailing = true
        timer = setTimeout(start, retryAfter)
        timer.unref()
        return
      }
    }
  }

  function start(): void {
    writing ??= writeAll().finally(() => {
      writing = null
    })
  }

  return {
    add: (line) => {
      const added = Buffer.byteLength(line) + 1
      if (size + added > bytes) {
        lost++
        return
      }
      size += added
      waiting.push(`${line}\n`)
      if (!isFailing) start()
    },
    close: async () => {
      clearTimeout(timer)
      await writing
      start()
      await writing
      clearTimeout(timer)
      await file.close()
    },
  }
}

const openOwn = (path: string): Promise<FileHandle> => open(path, 'a', 0o600)

/** The file at a path, reopened after rotation. */
interface FollowedFile {
  /** Appends bytes, and resolves to how many of them. */
  write(bytes: Uint8Array): Promise<number>
  close(): Promise<void>
}

/** Opens a file, and reopens it once it has been moved away. */
async function openFollowed(path: string): Promise<FollowedFile> {
  let handle = await openOwn(path)
  let looked = performance.now()

  async function follow(): Promise<void> {
    if (performance.now() - looked < lookEvery) return
    looked = performance.now()
    const [there, own] = [await stat(path).catch(() => null), await handle.stat()]
    if (there !== null && there.ino === own.ino && there.dev === own.dev) return
    const next = await openOwn(path)
    await handle.close().catch(() => {})
    handle = next
  }

  return {
    write: async (bytes) => {
      await follow()
      return (await handle.write(bytes)).bytesWritten
    },
    close: () => handle.close(),
  }
}
