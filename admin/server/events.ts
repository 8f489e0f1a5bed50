// The event stream of the service. One tab of the browser reads it and passes events on to the others, since browsers open few
// connections to one service.
import type { operations } from './api.js'
import { noteConnection, noteResponse } from './connection.js'
import { createEventReader } from './event-text.js'
import { pagePath } from './page-path.js'
import { accessToken, untilSignedIn } from './session.js'

/** An event of the stream. */
export type PageEvent = operations['getEvents']['responses'][200]['content']['text/event-stream']
/** The people at a document. */
export type PresenceEvent = Extract<PageEvent, { event: 'presence' }>

const name = `octavo events ${pagePath}`
const firstDelayMs = 1_000
const maxDelayMs = 30_000

type Message = { readonly kind: 'event'; readonly event: PageEvent } | { readonly kind: 'hello' }

const listeners = new Set<(event: PageEvent) => void>()
/** The people at each document, by `type documentId`. */
const present = new Map<string, PresenceEvent>()
let channel: BroadcastChannel | null = null
let isLeader = false
let running: AbortController | null = null

/** Calls a function for each event; returns a function that ends this. The stream is open while there are listeners. */
export function subscribeToEvents(listener: (event: PageEvent) => void): () => void {
  listeners.add(listener)
  if (running === null) start()
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) stop()
  }
}

/** The people at a document, as the stream last said. */
export const peopleAt = (type: string, document: string): PresenceEvent['people'] => present.get(`${type} ${document}`)?.people ?? nobody
const nobody: PresenceEvent['people'] = []

function start(): void {
  const controller = new AbortController()
  running = controller
  const { signal } = controller
  if (globalThis.navigator?.locks === undefined || typeof BroadcastChannel === 'undefined') {
    void follow(signal)
    return
  }
  channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'event') take(data.event)
    // A tab that has come later learns who is present.
    else if (isLeader) for (const event of present.values()) send({ kind: 'event', event })
  })
  send({ kind: 'hello' })
  navigator.locks
    .request(name, { signal }, async () => {
      isLeader = true
      await follow(signal)
    })
    .catch(() => {})
    .finally(() => {
      if (running === controller) isLeader = false
    })
}

function stop(): void {
  running?.abort()
  running = null
  isLeader = false
  channel?.close()
  channel = null
  present.clear()
}

const send = (message: Message): void => channel?.postMessage(message)

function take(event: PageEvent): void {
  if (event.event === 'presence') {
    const key = `${event.type} ${event.documentId}`
    if (event.people.length === 0) present.delete(key)
    else present.set(key, event)
  }
  for (const listener of listeners) listener(event)
}

/** Reads the stream until the signal, again after each end. */
async function follow(signal: AbortSignal): Promise<void> {
  let last: string | null = null
  let delay = firstDelayMs
  while (!signal.aborted) {
    try {
      for await (const { id, data } of readStream(last, signal)) {
        delay = firstDelayMs
        last = id ?? last
        const event = JSON.parse(data) as PageEvent
        take(event)
        send({ kind: 'event', event })
      }
    } catch {
      // Read again below.
    }
    await pause(delay, signal)
    delay = Math.min(maxDelayMs, 2 * delay)
  }
}

let refused: string | null = null

async function* readStream(last: string | null, signal: AbortSignal) {
  const token = await accessToken(refused)
  if (token === null) {
    await untilSignedIn(signal)
    return
  }
  const headers = { authorization: `Bearer ${token}`, ...(last === null ? {} : { 'last-event-id': last }) }
  const response = await fetch(`${pagePath}/api/events`, { headers, signal, cache: 'no-store' }).catch((error: unknown) => {
    if (!signal.aborted) noteConnection(false)
    throw error
  })
  noteResponse(response)
  refused = response.status === 401 ? token : null
  if (!response.ok || response.body === null) throw new Error(`The stream of events is ${response.status}`)
  const read = createEventReader()
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield* read(decoder.decode(value, { stream: true }))
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
