// The port that the main process of a cluster listens on. Node closes it with the last process that listens, and resets the connections
// that wait in it; this closes it before, and passes them on.
import { subscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'
import { pause } from '../../../foundation/runtime/clock.js'

/** The part of Node's handle of a socket that is used here; it has no public API. */
interface ListeningHandle {
  listen(length: number): number
  close(): void
}

/** A port that processes share. */
export interface SharedPort {
  /** Stops listening and passes on every connection that was accepted. */
  close(): Promise<void>
}

/** Milliseconds for connections that were accepted to reach a process. */
const passingTime = 100

/** Finds the next port that this process listens on, from the moment at which it does. */
export function findSharedPort(): SharedPort {
  let handle: ListeningHandle | null = null
  let closing: Promise<void> | null = null
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { readonly server: Server & { readonly _handle?: ListeningHandle } }
    handle = server._handle ?? null
  })
  const close = async (): Promise<void> => {
    // A client that finds the queue full tries again, and is refused then, before it has sent anything.
    handle?.listen(0)
    await nextTurn()
    handle?.close()
    await pause(passingTime)
  }
  return {
    close: () => {
      closing ??= close()
      return closing
    },
  }
}

/** Resolves when everything was accepted that had arrived. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
