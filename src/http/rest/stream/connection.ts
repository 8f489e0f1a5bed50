// One open event stream as a connection: writes blocks of text, waits for slow clients, and notices when they leave.
import type { ServerResponse } from 'node:http'
import { isClosed, onceClosed } from '../../once-closed.js'

/** An open stream. */
export interface StreamConnection {
  isOpen(): boolean
  /** Resolves when the client can take more, or has left. */
  write(block: string): Promise<void>
  /** Calls `left` once, when the connection has ended. */
  onEnd(left: () => void): void
  /** Ends it with its connection, so that the client makes another one. */
  end(): void
}

/** Milliseconds for a client to take what was sent. */
const drainTimeout = 30_000

/** Begins the response. `most`: unsent bytes beyond which the connection is closed. */
export function openStreamConnection(raw: ServerResponse, most: number): StreamConnection {
  const { socket } = raw.req
  const isOpen = (): boolean => !raw.destroyed && !raw.writableEnded && !isClosed(raw)
  return {
    isOpen,
    write: async (block) => {
      if (!isOpen()) return
      const isTaken = raw.write(block)
      if (raw.writableLength > most) socket.destroy()
      else if (!isTaken) await drained(raw)
    },
    onEnd: (left) => {
      onceClosed(raw, left)
    },
    end: () => {
      if (isOpen()) raw.end(() => socket.destroySoon())
    },
  }
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => raw.req.socket.destroy(), drainTimeout)
    const end = () => {
      clearTimeout(timer)
      raw.off('drain', end)
      stop()
      resolve()
    }
    raw.once('drain', end)
    const stop = onceClosed(raw, end)
  })
}
