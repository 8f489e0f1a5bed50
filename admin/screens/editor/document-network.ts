// The requests of a document's saver, with the outcome of each response.
import type { Outcome, SaverNetwork, ServerDocument } from '../../form/saver.js'
import type { Entry } from '../../form/values.js'
import { ApiFailure, type Data, request } from '../../server/client.js'
import { sessionState, subscribeToSession } from '../../server/session.js'
import { type Person, personName } from '../../words/format.js'

/** A document in a response of the API. */
export type DocumentView = Data<'/content/{type}/{document}', 'GET'>

/** Facts in the response to a write. */
interface DocumentFacts {
  readonly documentId: string
  readonly state: DocumentView['state']
  readonly updatedAt: string | null
}

/** The parts of a document that a saver needs. */
export function toServerDocument({ documentId, revision, draft }: DocumentView): ServerDocument {
  const savedAt = typeof draft?.updatedAt === 'string' ? draft.updatedAt : null
  return { documentId, revision, draft: draft as Entry | null, savedAt, savedBy: personName((draft?.updatedBy ?? {}) as Person) || null }
}

/** The header that names the state of the document that a write starts from. */
export const stateHeader = (revision: string | null): Readonly<Record<string, string>> =>
  revision === null ? { 'if-none-match': '*' } : { 'if-match': `"${revision}"` }

/** The outcome of a request that failed. */
export function toOutcome(error: unknown): Outcome {
  if (!(error instanceof ApiFailure)) return { kind: 'lost' }
  const { status, message, errors, details, retryAfter } = error
  if (status === 412 && details.document !== undefined)
    return { kind: 'stale', document: toServerDocument(details.document as DocumentView) }
  if (status === 401) return { kind: 'signedOut' }
  if (status === 404) return { kind: 'gone' }
  if (status === 409 || status === 429 || status >= 500)
    return { kind: 'lost', ...(retryAfter === null ? {} : { retryAfter: retryAfter * 1_000 }) }
  if (status === 400) return { kind: 'refused', message, errors: errors.map((one) => ({ ...one, path: one.path ?? [] })) }
  return { kind: 'failed', message }
}

type Refused = NonNullable<Extract<Outcome, { kind: 'stored' }>['refused']>

interface WrittenData {
  readonly documentId: string
  readonly revision: string | null
  readonly state: DocumentView['state']
  readonly updatedAt: string | null
  readonly ids?: Readonly<Record<string, number>>
  readonly uids?: Readonly<Record<string, string>>
}

/** The response to a write; `refused`: the errors of the values that were left out. */
interface WrittenResponse {
  readonly data: unknown
  readonly refused?: unknown
}

const prefer = { prefer: 'return=minimal, handling=lenient' }

/** Ends when the session does: a request would wait for the next sign-in. */
async function untilSessionEnds<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const control = new AbortController()
  const check = () => {
    const { kind } = sessionState()
    if (kind === 'ended' || kind === 'replaced' || kind === 'signedOut') control.abort()
  }
  const end = subscribeToSession(check)
  check()
  try {
    return await work(control.signal)
  } finally {
    end()
  }
}

/** Receivers of what responses contain apart from values of the form. */
interface DocumentListener {
  noteFacts(facts: DocumentFacts): void
  noteView(view: DocumentView): void
}

/** The requests of a document's saver. */
export function createDocumentNetwork(type: string, locale: string | null, { noteFacts, noteView }: DocumentListener): SaverNetwork {
  const query = locale === null ? {} : { locale }
  const write = async (send: (signal: AbortSignal) => Promise<WrittenResponse>): Promise<Outcome> => {
    if (sessionState().kind === 'ended') return { kind: 'signedOut' }
    try {
      const { data, refused = [] } = await untilSessionEnds(send)
      const { documentId, revision, state, updatedAt, ids = {}, uids = {} } = data as WrittenData
      noteFacts({ documentId, state, updatedAt })
      return { kind: 'stored', documentId, revision, ids, values: uids, refused: refused as Refused }
    } catch (error) {
      const outcome = toOutcome(error)
      if (outcome.kind === 'stale') noteView((error as ApiFailure).details.document as DocumentView)
      return outcome
    }
  }
  return {
    create: (body, key) =>
      write((signal) =>
        request('POST', '/content/{type}', {
          path: { type },
          query,
          body: { data: body } as never,
          headers: { ...prefer, 'idempotency-key': key },
          signal,
        }),
      ),
    change: (document, body, revision) =>
      write((signal) =>
        request('PATCH', '/content/{type}/{document}', {
          path: { type, document },
          query,
          body: body as never,
          headers: { ...prefer, ...stateHeader(revision) },
          signal,
        }),
      ),
    load: async (document) => {
      try {
        const { data } = await untilSessionEnds((signal) =>
          request('GET', '/content/{type}/{document}', { path: { type, document }, query, signal }),
        )
        noteView(data)
        return toServerDocument(data)
      } catch {
        return null
      }
    },
  }
}
