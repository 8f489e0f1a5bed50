// The project's listeners as consumers: each gets every event in order, one at a time. A failed event is retried.
import type { ContentEvent, EventListener } from '../../foundation/public/events.js'
import type { Consumer, DeliveryOutcome } from './consumer.js'
import type { RecordedEvent } from './event-log.js'

interface ListenerOptions {
  /** Maximum attempts per event. */
  readonly attempts: number
  /** Time limit of a listener, in milliseconds. */
  readonly timeout: number
  /** Runs a listener within its time limit. */
  inTime(name: string, run: () => unknown): Promise<void>
  failed(name: string, error: unknown): void
}

/** First and maximum pause before a retry, in milliseconds. */
const firstPause = 1_000
const longestPause = 60_000

export const listenerConsumers = (listeners: readonly EventListener[], options: ListenerOptions): readonly Consumer[] => {
  const names = namesOf(listeners)
  return listeners.map((listener, index) => listenerConsumer(names[index]!, listener, options))
}

function listenerConsumer(name: string, listener: EventListener, { attempts, timeout, inTime, failed }: ListenerOptions): Consumer {
  const settle = (sequence: number, attempt: number): DeliveryOutcome => {
    if (attempt < attempts)
      return { kind: 'failed', logStatement: null, pause: Math.min(longestPause, firstPause * 2 ** (attempt - 1)), consumerPause: 0 }
    failed(name, new Error(`Event ${sequence} failed ${attempts} times and is skipped`))
    return { kind: 'given-up', logStatement: null }
  }
  return {
    name,
    concurrency: 1,
    // A single ordering key: no event can overtake a pending one.
    mostWaiting: 1,
    longestAttempt: timeout,
    longestPause,
    wants: () => true,
    orderingKeyOf: () => '',
    deliver: async (event, attempt, signal) => {
      try {
        await orAborted(
          inTime(name, () => listener(contentOf(event))),
          signal,
        )
        return { kind: 'delivered', logStatement: null }
      } catch (error) {
        if (signal.aborted) throw error
        failed(name, error)
        return settle(event.sequence, attempt)
      }
    },
    missed: (sequence) => {
      failed(name, new Error(`Event ${sequence} was deleted from the outbox before it was delivered (limits.outboxEvents)`))
      return { kind: 'given-up', logStatement: null }
    },
  }
}

const contentOf = ({ sequence, payload }: RecordedEvent): ContentEvent => ({ sequence, ...(JSON.parse(payload) as object) }) as ContentEvent

/** Rejects once `signal` is aborted, without waiting for `run`. */
function orAborted(run: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    run.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** A listener is named after its function, or by its position if that name is missing or not unique. */
function namesOf(listeners: readonly EventListener[]): readonly string[] {
  const names = listeners.map(({ name }) => name)
  return names.map((name, index) => (name !== '' && names.indexOf(name) === names.lastIndexOf(name) ? name : `events.listeners[${index}]`))
}
