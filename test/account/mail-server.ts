// A mail server that accepts one message after the other and records the commands that it received.
import { createServer, type Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'

export interface MailServer {
  readonly url: string
  /** Every line that it was sent. */
  readonly heard: string[]
  /** The last message, decoded. Waits until there are `count`. */
  letter(count: number): Promise<string>
  close(): void
}

/** Starts a mail server. `begun`: resolves when it may greet its clients. */
export function listenForMail(begun: Promise<void> = Promise.resolve()): Promise<MailServer> {
  const heard: string[] = []
  const server: Server = createServer((socket) => {
    let inData = false
    void begun.then(() => socket.write('220 test\r\n'))
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\r\n').slice(0, -1)) {
        heard.push(line)
        if (inData && line !== '.') continue
        if (line === 'QUIT') socket.end('221 bye\r\n')
        else socket.write(line === 'DATA' ? '354 go on\r\n' : '250 ok\r\n')
        inData = line === 'DATA'
      }
    })
  })
  const letter = async (count: number): Promise<string> => {
    for (let tries = 0; tries < 300; tries++) {
      const letters = heard.join('\n').split(/^\.$/m).slice(0, -1)
      if (letters.length >= count) return decoded(letters.at(-1)!)
      await setTimeout(30)
    }
    throw new Error(`there are fewer than ${count} letters`)
  }
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      resolve({ url: `smtp://127.0.0.1:${port}`, heard, letter, close: () => server.close() })
    })
  })
}

/** Text that may be quoted-printable. */
const decoded = (text: string): string =>
  text.replaceAll('=\n', '').replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
