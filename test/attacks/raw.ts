// Bytes on a socket, as no HTTP library would send them, and what came back.
import { connect } from 'node:net'
import { patience } from '../support/until.js'

export interface Heard {
  /** Everything that came, one character for each byte. */
  readonly text: string
  /** True if the other side closed the connection before the timeout. */
  readonly closed: boolean
}

export interface Pace {
  /** Milliseconds after which the connection is given up. */
  readonly timeoutMs?: number
  /** Milliseconds between two pieces. */
  readonly gap?: number
  /** Ends it before its time. */
  readonly leave?: Promise<void>
}

/** Sends pieces, one after the other, and listens until the other side closes. Characters are bytes. */
export function raw(
  origin: string,
  pieces: readonly string[],
  { timeoutMs = patience.timeout, gap = 0, leave }: Pace = {},
): Promise<Heard> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    let text = ''
    const end = (closed: boolean) => {
      clearTimeout(timer)
      clearInterval(sending)
      socket.destroy()
      resolve({ text, closed })
    }
    const timer = setTimeout(() => end(false), timeoutMs)
    leave?.then(() => end(false))
    const rest = [...pieces]
    const send = () => {
      const piece = rest.shift()
      if (piece === undefined) clearInterval(sending)
      else socket.write(Buffer.from(piece, 'latin1'))
    }
    let sending: NodeJS.Timeout | undefined
    socket.on('connect', () => {
      if (gap > 0) sending = setInterval(send, gap)
      else while (rest.length > 0) send()
    })
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    // A reset is a way to close.
    socket.on('error', () => undefined)
    socket.on('close', () => end(true))
  })
}
