// Saving of one document: its times, one request at a time, and the consequences of each outcome.
import type { ServerError } from './errors.js'
import type { ChangedBy } from './merge.js'
import { isEmptyPatch, type Patch, type PatchBody } from './patch.js'
import type { DocumentStore } from './store.js'
import type { Received } from './storing.js'
import { type Entry, isKeyed } from './values.js'

/** A document in a response. */
export interface ServerDocument {
  readonly documentId: string
  readonly revision: string | null
  readonly draft: Entry | null
  /** The date of the last change. */
  readonly savedAt?: string | null
  /** The administrator of the last change. */
  readonly savedBy?: string | null
}

/** The last change of a document. */
export const changeOf = ({ savedBy = null, savedAt = null }: Omit<ServerDocument, 'documentId'>): ChangedBy => ({
  ...{ person: savedBy, time: savedAt },
})

/** Outcome of a request. */
export type Outcome =
  /** Stored, except for the values of `refused`. */
  | {
      readonly kind: 'stored'
      readonly revision: string | null
      readonly documentId?: string
      readonly refused?: readonly ServerError[]
      /** Ids of new entries by their paths in the request. */
      readonly ids?: Readonly<Record<string, number>>
      /** Values that the server has chosen, such as a uid, by path. */
      readonly values?: Readonly<Record<string, unknown>>
      /** The whole document, if the response has it. */
      readonly document?: ServerDocument
    }
  /** The draft has another revision. */
  | { readonly kind: 'stale'; readonly document: ServerDocument }
  /** Nothing was stored because of these values. */
  | { readonly kind: 'refused'; readonly errors: readonly ServerError[]; readonly message: string }
  /** The document was deleted, or may not be seen. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'signedOut' }
  /** Nothing was stored, and the same request would be refused again. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string }
  /** No response: whether the request was carried out is unknown. */
  | { readonly kind: 'lost'; readonly retryAfter?: number }

/** The requests of a saver. They never throw. */
export interface SaverNetwork {
  create(data: Entry, idempotencyKey: string): Promise<Outcome>
  change(documentId: string, body: PatchBody, revision: string | null): Promise<Outcome>
  load(documentId: string): Promise<ServerDocument | null>
}

/** A clock, for tests an invented one. */
export interface Clock {
  now(): number
  /** Calls back after a time in milliseconds. Returns the end of waiting. */
  wait(milliseconds: number, callback: () => void): () => void
}

/** Phases of saving. `waiting`: there are changes; `held`: only values that wait for a decision or a correction remain. */
export type SaverPhase = 'saved' | 'waiting' | 'saving' | 'held' | 'offline' | 'signedOut' | 'gone' | 'failed'

/** The state of saving. */
export interface SaverState {
  readonly phase: SaverPhase
  readonly documentId: string | null
  readonly revision: string | null
  /** The time of the last save, in milliseconds. */
  readonly savedAt: number | null
  readonly message: string | null
}

/** A request without a response, which is repeated as it was. */
export interface DoubtfulRequest {
  readonly body: unknown
  readonly idempotencyKey: string | null
  readonly inserted: readonly (readonly [string, string])[]
}

/** Saves the changes of a form. */
export interface Saver {
  readonly state: SaverState
  subscribe(this: void, listener: () => void): () => void
  /** Saves now, also values that were refused. Resolves when everything is stored, or cannot be at present. */
  save(): Promise<void>
  /** Saves without waiting for the end of the pause, as when a field is left. */
  hurry(): void
  /** Tries again at once: the network is back, or the administrator is signed in. */
  resume(): void
  /** Loads and merges the document that others have changed. */
  refresh(): Promise<void>
  /** Runs another request on the document, such as a publication, when no save is under way; its document is merged. */
  act(work: (documentId: string, revision: string | null) => Promise<ServerDocument | null>): Promise<void>
  /** Prepares a document that was deleted to be created again with my values. */
  createAgain(): void
  /** The request without a response, for the copy in the browser. */
  readonly doubtful: DoubtfulRequest | null
  stop(): void
}

/** The surroundings of a saver. */
export interface SaverOptions {
  readonly store: DocumentStore
  readonly network: SaverNetwork
  readonly clock: Clock
  /** Null: the document does not exist yet. */
  readonly documentId: string | null
  readonly revision: string | null
  /** False for types without drafts, whose saving makes public. */
  readonly isAutomatic: boolean
  readonly newIdempotencyKey: () => string
  readonly doubtful?: DoubtfulRequest | null
  /** Called before a request that changes something, with everything that a copy has to know about it. */
  readonly beforeRequest?: () => Promise<void>
  /** Called after a merge with what others have changed. */
  readonly onReceived?: (received: Received, document: ServerDocument) => void
  readonly onCreated?: (documentId: string) => void
}

/** Pause after the last change, in milliseconds. */
export const savingPause = 1_200
/** Longest time without saving during uninterrupted typing, in milliseconds. */
const longestPause = 10_000
/** Pauses between attempts without a response, in milliseconds. */
const retryPauses = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000] as const
/** Requests in a row before a pause. */
const maxRounds = 12

interface SaverCore {
  readonly options: SaverOptions
  state: SaverState
  doubtful: DoubtfulRequest | null
  /** Number of edits that have been noticed. */
  edits: number
  isRunning: boolean
  isStopped: boolean
  /** True for a save on request: refused values are sent too, and a new document is created without an edit. */
  isAsked: boolean
  isRefreshing: boolean
  /** True after a response that left the stored document unclear: it is loaded before anything else. */
  mustLoad: boolean
  /** Attempts without a response, one after the other. */
  losses: number
  waitingSince: number | null
  stopWaiting: () => void
  readonly listeners: Set<() => void>
  waiters: (() => void)[]
}

/** Creates the saver of a form. */
export function createSaver(options: SaverOptions): Saver {
  const { store, documentId, revision } = options
  const core: SaverCore = {
    options,
    state: { phase: 'saved', documentId, revision, savedAt: null, message: null },
    doubtful: options.doubtful ?? null,
    edits: 0,
    isRunning: false,
    isStopped: false,
    isAsked: false,
    isRefreshing: false,
    mustLoad: false,
    losses: 0,
    waitingSince: null,
    stopWaiting: () => {},
    listeners: new Set(),
    waiters: [],
  }
  const unsubscribe = store.subscribe('', () => noteEdit(core))
  if (core.doubtful !== null || store.changes().length > 0) update(core, { phase: 'waiting' })
  if (core.state.phase === 'waiting' && (core.doubtful !== null || documentId !== null || store.edits > 0)) plan(core)
  const finish = () => new Promise<void>((resolve) => core.waiters.push(resolve))
  return {
    get state() {
      return core.state
    },
    get doubtful() {
      return core.doubtful
    },
    subscribe(listener) {
      core.listeners.add(listener)
      return () => core.listeners.delete(listener)
    },
    save() {
      core.isAsked = true
      const finished = finish()
      void run(core)
      return finished
    },
    hurry() {
      if (core.state.phase === 'waiting' && options.isAutomatic) void run(core)
    },
    resume() {
      core.losses = 0
      const { phase } = core.state
      const isBlocked = phase === 'offline' || phase === 'signedOut' || phase === 'failed'
      if (isBlocked && (options.isAutomatic || core.doubtful !== null)) void run(core)
      else if (isBlocked) rest(core)
    },
    refresh() {
      core.isRefreshing = true
      const finished = finish()
      void run(core)
      return finished
    },
    act: (work) => act(core, work),
    createAgain() {
      if (core.isRunning) return
      core.doubtful = null
      store.detach()
      update(core, { phase: 'waiting', documentId: null, revision: null, message: null })
      plan(core)
    },
    stop() {
      core.isStopped = true
      core.stopWaiting()
      unsubscribe()
    },
  }
}

function update(core: SaverCore, changes: Partial<SaverState>): void {
  const entries = Object.entries(changes) as [keyof SaverState, unknown][]
  if (entries.every(([name, value]) => core.state[name] === value)) return
  core.state = { ...core.state, ...changes }
  for (const listener of [...core.listeners]) listener()
}

function noteEdit(core: SaverCore): void {
  const { store, clock } = core.options
  if (core.isStopped || core.edits === store.edits) return
  core.edits = store.edits
  core.waitingSince ??= clock.now()
  const { phase } = core.state
  // An edit does not end these phases.
  if (phase === 'signedOut' || phase === 'gone' || phase === 'offline' || phase === 'saving') return
  update(core, { phase: 'waiting' })
  if (!core.isRunning) plan(core)
}

/** Plans the next attempt. */
function plan(core: SaverCore, pause = savingPause): void {
  const { clock, isAutomatic } = core.options
  core.stopWaiting()
  if (core.isStopped || (!isAutomatic && core.doubtful === null)) return
  const waited = core.waitingSince === null ? 0 : clock.now() - core.waitingSince
  core.stopWaiting = clock.wait(Math.max(0, Math.min(pause, longestPause - waited)), () => void run(core))
}

/** Sets the phase after the end of requests, and plans what remains. */
function rest(core: SaverCore): void {
  const { store } = core.options
  const isOpen = hasChanges(core)
  const isHeld = store.isChanged() || store.conflicts().length > 0
  update(core, { phase: isOpen ? 'waiting' : isHeld && core.state.documentId !== null ? 'held' : 'saved', message: null })
  if (isOpen) plan(core)
  else core.waitingSince = null
}

function hasChanges({ options: { store }, state: { documentId } }: SaverCore): boolean {
  return documentId === null ? store.edits > 0 && store.isChanged() : !isEmptyPatch(store.patch())
}

/** The consequence of an outcome: another round, or the end of this attempt. */
type Next = 'again' | 'rest' | 'blocked'

async function run(core: SaverCore): Promise<void> {
  if (core.isRunning || core.isStopped) return
  core.isRunning = true
  core.stopWaiting()
  core.waitingSince = null
  let next: Next = 'again'
  try {
    for (let rounds = 0; next === 'again' && !core.isStopped && rounds < maxRounds; rounds++) next = await round(core)
  } finally {
    core.isRunning = false
    core.edits = core.options.store.edits
    const isDone = core.isStopped || next === 'blocked'
    if (!isDone) rest(core)
    // Requests of callers during the last round.
    if (!isDone && (core.isRefreshing || core.isAsked)) void run(core)
    else release(core)
  }
}

function release(core: SaverCore): void {
  const { waiters } = core
  core.waiters = []
  for (const resolve of waiters) resolve()
}

/** One request: the repetition of one without a response, the loading of the document, or a save. */
async function round(core: SaverCore): Promise<Next> {
  const { network } = core.options
  if (core.mustLoad) return loadAgain(core)
  if (core.doubtful !== null) return repeat(core, core.doubtful)
  if (core.isRefreshing && core.state.documentId !== null) {
    core.isRefreshing = false
    const loaded = await network.load(core.state.documentId)
    if (core.isStopped) return 'blocked'
    if (loaded !== null && loaded.revision !== core.state.revision) take(core, loaded)
    return 'again'
  }
  return send(core)
}

/** Loads the document after a response that left it unclear. The form knows the request, and settles it. */
async function loadAgain(core: SaverCore): Promise<Next> {
  const loaded = await core.options.network.load(core.state.documentId ?? '')
  if (core.isStopped) return 'blocked'
  if (loaded === null) return waitForNetwork(core)
  core.mustLoad = false
  core.losses = 0
  take(core, loaded)
  return 'again'
}

function waitForNetwork(core: SaverCore, pause: number = retryPauses[Math.min(core.losses, retryPauses.length - 1)]!): Next {
  core.losses += 1
  update(core, { phase: 'offline' })
  core.stopWaiting()
  core.stopWaiting = core.options.clock.wait(pause, () => void run(core))
  return 'blocked'
}

/** A request with its outcome for the form. */
interface SentRequest {
  readonly body: unknown
  readonly next: Entry
  readonly inserted: ReadonlyMap<string, string>
  readonly idempotencyKey: string | null
}

async function send(core: SaverCore): Promise<Next> {
  const { store, newIdempotencyKey } = core.options
  const { documentId } = core.state
  const isAsked = core.isAsked
  core.isAsked = false
  let request: SentRequest
  if (documentId === null) {
    if (!isAsked && !hasChanges(core)) return 'rest'
    const { data, next } = store.newDocument(isAsked)
    request = { body: data, next, inserted: new Map(), idempotencyKey: newIdempotencyKey() }
  } else {
    const patch: Patch = store.patch(isAsked)
    if (isEmptyPatch(patch)) return 'rest'
    request = { ...patch, idempotencyKey: null }
  }
  store.sending(request.next)
  core.doubtful = { body: request.body, idempotencyKey: request.idempotencyKey, inserted: [...request.inserted] }
  update(core, { phase: 'saving', message: null })
  await core.options.beforeRequest?.()
  return core.isStopped ? 'blocked' : perform(core, request)
}

/** The same request again: its outcome is unknown. */
function repeat(core: SaverCore, { body, idempotencyKey, inserted }: DoubtfulRequest): Promise<Next> {
  const next = core.options.store.sent
  if (next === null) {
    core.doubtful = null
    return Promise.resolve('again')
  }
  update(core, { phase: 'saving' })
  return perform(core, { body, idempotencyKey, next, inserted: new Map(inserted) })
}

async function perform(core: SaverCore, request: SentRequest): Promise<Next> {
  const { network } = core.options
  const { documentId, revision } = core.state
  const outcome = await (documentId === null
    ? network.create(request.body as Entry, request.idempotencyKey ?? core.options.newIdempotencyKey())
    : network.change(documentId, request.body as PatchBody, revision))
  return core.isStopped ? 'blocked' : conclude(core, request, outcome)
}

function conclude(core: SaverCore, request: SentRequest, outcome: Outcome): Next {
  const { store } = core.options
  if (outcome.kind === 'lost') return waitForNetwork(core, outcome.retryAfter)
  core.losses = 0
  core.doubtful = null
  switch (outcome.kind) {
    case 'stored':
      return concludeStored(core, request, outcome)
    case 'stale':
      take(core, outcome.document)
      return 'again'
    case 'refused':
      return concludeRefused(core, request, outcome)
    case 'gone':
    case 'signedOut':
      store.sending(null)
      update(core, { phase: outcome.kind })
      return 'blocked'
    case 'failed':
      store.sending(null)
      update(core, { phase: 'failed', message: outcome.message })
      return 'blocked'
  }
}

function concludeStored(core: SaverCore, { next, inserted }: SentRequest, outcome: Extract<Outcome, { kind: 'stored' }>): Next {
  const { store, clock, onCreated } = core.options
  const { refused = [], ids = {}, values = {}, document } = outcome
  const errors = store.placeErrors('refused', refused, { next, inserted })
  // An error of a whole list does not say which of its operations were carried out.
  if (core.state.documentId !== null && errors.some(({ path }) => path !== '' && isKeyed(store.baseAt(path)))) {
    store.refuse(errors, next)
    store.sending(next)
    core.mustLoad = true
    return 'again'
  }
  store.stored({ next, inserted, refused: errors, ids })
  if (document?.draft != null) store.learnIds(document.draft)
  store.fill(values)
  const isNew = core.state.documentId === null
  const documentId = core.state.documentId ?? outcome.documentId ?? document?.documentId ?? null
  update(core, { documentId, revision: outcome.revision, savedAt: clock.now() })
  if (isNew && documentId !== null) onCreated?.(documentId)
  // Later changes wait for the end of their pause, unless a caller waits for them.
  return core.waiters.length > 0 || core.isRefreshing ? 'again' : 'rest'
}

function concludeRefused(core: SaverCore, { next, inserted, body }: SentRequest, outcome: Extract<Outcome, { kind: 'refused' }>): Next {
  const { store } = core.options
  store.refuse(store.placeErrors('refused', outcome.errors, { next, inserted }), next)
  const rest = core.state.documentId === null ? store.newDocument().data : store.patch().body
  // The rest is saved; if nothing could be left out, the same request would be refused again.
  if (JSON.stringify(rest) !== JSON.stringify(body)) return 'again'
  update(core, { phase: 'failed', message: outcome.message })
  return 'blocked'
}

/** Merges a document of the server. */
function take(core: SaverCore, document: ServerDocument): void {
  const { store, onReceived } = core.options
  const received = store.receive(document.draft ?? {}, changeOf(document))
  core.doubtful = null
  update(core, { documentId: document.documentId, revision: document.revision })
  onReceived?.(received, document)
}

async function act(core: SaverCore, work: Parameters<Saver['act']>[0]): Promise<void> {
  while (core.isRunning) await new Promise<void>((resolve) => core.waiters.push(resolve))
  const { documentId, revision } = core.state
  if (documentId === null || core.isStopped) return
  core.isRunning = true
  core.stopWaiting()
  try {
    const document = await work(documentId, revision)
    if (document !== null && !core.isStopped) {
      take(core, document)
      update(core, { savedAt: core.options.clock.now() })
    }
  } finally {
    core.isRunning = false
    core.edits = core.options.store.edits
    if (!core.isStopped) rest(core)
    if (!core.isStopped && (core.isRefreshing || core.isAsked)) void run(core)
    else release(core)
  }
}
