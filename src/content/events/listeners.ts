// The project's listeners as consumers: each gets every event in order, one at a time. One that fails gets the event again.
import type { ContentEvent, EventListener } from '../../foundation/public/events.js'
import type { Consumer, DeliveryOutcome } from './consumer.js'
import type { RecordedEvent } from './event-log.js'

export interface ListenerOptions {
  /** Attempts to deliver an event to a listener that fails. */
  readonly attempts: number
  /** The longest that a listener may take, in milliseconds. */
  readonly timeout: number
  /** Runs a listener with its time limit. */
  inTime(name: string, run: () => unknown): Promise<void>
  /** Reports failures of listeners. */
  failed(name: string, error: unknown): void
}

/** In milliseconds: the first and the longest pause before another attempt. */
const [firstPause, longestPause] = [1_000, 60_000]

/** The listeners by their names. */
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
    // All events have the same ordering key, so that none can overtake the one that waits.
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
      failed(name, new Error(`Event ${sequence} was deleted from the outbox before it was delivered (limits.outboxBacklog)`))
      return { kind: 'given-up', logStatement: null }
    },
  }
}

const contentOf = ({ sequence, payload }: RecordedEvent): ContentEvent => ({ sequence, ...(JSON.parse(payload) as object) }) as ContentEvent

/** Does not wait any longer once `signal` is aborted. */
function orAborted(run: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    run.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Listeners have the names of their functions; those that have none, or share it, have the name of their position. */
function namesOf(listeners: readonly EventListener[]): readonly string[] {
  const names = listeners.map(({ name }) => name)
  return names.map((name, index) => (name !== '' && names.indexOf(name) === names.lastIndexOf(name) ? name : `events.listeners[${index}]`))
}
