// One keep-alive connection that sends one request after the other, and records which of them were sent in full
// and which of them were answered in full.
import { connect } from 'node:net'

export interface Exchange {
  readonly path: string
  /** When the last byte had been handed to the system. */
  readonly sent: number
  /** The status of a complete response; null: there was none. */
  status: number | null
  milliseconds: number
}

export interface Connection {
  readonly exchanges: readonly Exchange[]
  /** Stops sending; resolves when all requests are answered or the connection is gone. */
  stop(): Promise<void>
  /** Ends the connection. */
  close(): void
}

/** Requests the paths that `next` names, until stopped. */
export function converse(origin: string, next: () => string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const exchanges: Exchange[] = []
    const socket = connect(Number(new URL(origin).port), '127.0.0.1')
    let received = Buffer.alloc(0)
    let stopping = false
    let over: () => void = () => undefined
    const idle = new Promise<void>((done) => {
      over = done
    })

    function request(): void {
      if (stopping || socket.destroyed) {
        over()
        return
      }
      const path = next()
      const started = performance.now()
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, (error) => {
        if (error) over()
        else exchanges.push({ path, sent: performance.now(), status: null, milliseconds: performance.now() - started })
      })
    }

    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes])
      const end = received.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = received.subarray(0, end).toString('latin1')
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (received.length < end + 4 + length) return
      received = received.subarray(end + 4 + length)
      const exchange = exchanges.at(-1)!
      exchange.status = Number(head.slice(9, 12))
      exchange.milliseconds = performance.now() - exchange.sent
      if (/^connection: close/im.test(head)) over()
      else request()
    })
    socket.on('connect', () => {
      request()
      resolve({
        exchanges,
        stop: () => {
          stopping = true
          if (exchanges.at(-1)?.status !== null) over()
          return idle
        },
        close: () => socket.destroy(),
      })
    })
    socket.on('error', reject)
    socket.on('close', () => over())
  })
}
