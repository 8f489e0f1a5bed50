// Who did what, for the audit log. An act is noted where it is committed; what is taken back is none.
import { AsyncLocalStorage } from 'node:async_hooks'

/** Who does something. */
export interface AuditActor {
  /** `user`, `token` or `administrator` with an id; `public`, `project` (its own code), `nobody` (who is not signed in). */
  readonly kind: string
  readonly id?: number
}

/** What was done. It has names of the service and ids: no value, no token, no text of a client. */
export interface AuditEntry {
  readonly actor: AuditActor
  /** A verb such as `create`, or an action such as `plugin::users-permissions.user.update`. */
  readonly action: string
  /** What it was done to: the uid of a content-type, or a kind such as `token`. */
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

/** The request for which something is done. */
interface AuditedRequest {
  readonly requestId: string
  readonly address: string
  /** What goes on behind the response is not done for it any more. */
  isOver: boolean
}

/** An audit log. */
export interface Audit {
  /** Writes a line. Never throws, and waits for nothing. */
  note(entry: AuditEntry): void
  /** Runs `work`, and what follows from it, for a request. Returns what ends it. */
  within(request: Pick<AuditedRequest, 'requestId' | 'address'>, work: () => void): () => void
}

/** What is done in the transaction under way. */
const underWay = new AsyncLocalStorage<AuditEntry[]>()
const requests = new AsyncLocalStorage<AuditedRequest>()

/** Notes what the transaction under way does. The line is written once it is committed; where there is no audit log, nothing is. */
export const noteInTransaction = (entry: AuditEntry): void => void underWay.getStore()?.push(entry)

/** Runs a transaction, and writes what its last try has noted. `run` executes each try by `attempt`. */
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
