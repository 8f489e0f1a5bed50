// The threads of the pool, in two shares: for light reads and for heavy ones. A thread that has ended leaves its share.
import { elapsed } from '../../../foundation/runtime/clock.js'
import { unavailable } from '../../unavailable.js'
import { type Job, refuse } from './job.js'
import type { ReaderData } from './protocol.js'
import { openReader, type ReaderEvents, type ReaderThread } from './reader.js'

/** The threads for one kind of reads. */
export interface Share {
  readonly readers: readonly ReaderThread[]
  readonly maxThreads: number
  /** Starts a thread; resolves when it can read. */
  start(): Promise<void>
  /** Starts a thread unless there are enough, or one has just failed to open the database. */
  grow(): void
}

/** The events of a thread that the share passes on. */
export type ShareEvents = Pick<ReaderEvents, 'ended' | 'free' | 'failed'>

/** What the threads of a share need, and whom they notify. */
export interface ShareOptions {
  readonly data: Omit<ReaderData, 'shared'>
  readonly maxThreads: number
  /** Common to both shares: what prevents one thread from opening the database prevents the others as well. */
  readonly backoff: Backoff
  readonly events: ShareEvents
  /** A thread has ended without having begun these jobs. */
  lost(notBegun: readonly Job[]): void
}

/** Opens a share without threads. */
export function openShare({ data, maxThreads, backoff, events, lost }: ShareOptions): Share {
  const readers: ReaderThread[] = []

  function start(): Promise<void> {
    let hasOpened = false
    const reader = openReader(data, {
      ...events,
      lost: (working, notBegun) => {
        readers.splice(readers.indexOf(reader), 1)
        if (!hasOpened) backoff.failed()
        // The job that ended this thread would end the next one as well.
        if (working !== null)
          refuse(working, unavailable('The database cannot be read at the moment', new Error('A reader thread ended at its work')))
        lost(notBegun)
      },
    })
    readers.push(reader)
    return reader.opened.then(() => {
      hasOpened = true
      backoff.succeeded()
    })
  }

  return {
    readers,
    maxThreads,
    start,
    grow: () => {
      if (readers.length < maxThreads && !backoff.isPausing()) start().catch(events.failed)
    },
  }
}

/** A pause after each attempt that failed, twice as long as the one before. */
export interface Backoff {
  isPausing(): boolean
  failed(): void
  succeeded(): void
}

/** In milliseconds. */
const [shortestPause, longestPause] = [25, 5_000]

/** Opens a backoff without failures. */
export function openBackoff(): Backoff {
  let [failures, nextAttempt] = [0, 0]
  return {
    isPausing: () => elapsed() < nextAttempt,
    failed: () => {
      nextAttempt = elapsed() + Math.min(longestPause, shortestPause * 2 ** failures++)
    },
    succeeded: () => {
      failures = 0
    },
  }
}
