// Talks to the management port of a service, whose address is in its log.
import { type Answer, type Asked, askAt } from './serve.js'

/** Settings of a service with a management port of its own. */
export const managed = { management: { port: 0 } } as const

/** The origin of the management port that these lines of a log name; null: none does. */
export function managementOrigin(log: readonly string[]): string | null {
  const line = log.find((each) => each.includes('the management port listens'))
  return line === undefined ? null : `http://127.0.0.1:${(JSON.parse(line) as { readonly port: number }).port}`
}

/** Sends a request to the management port. */
export function askManagement({ log }: { readonly log: readonly string[] }, path: string, asked?: Asked): Promise<Answer> {
  const origin = managementOrigin(log)
  if (origin === null) throw new Error('the log names no management port')
  return askAt(origin, path, asked)
}
