// A service that suffers what failpoints.mjs is told in a folder of orders, and a client of it.
import { join } from 'node:path'
import type { Child } from './child.js'
import { start } from './child.js'
import type { Ask } from './operations.js'

export interface Faulty {
  readonly child: Child
  readonly ask: Ask
}

/** Starts the service on `project`; `orders` is the folder where tests say what is to fail. */
export async function startFaulty(project: string, orders: string): Promise<Faulty> {
  const child = start(project, {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'failpoints.mjs')}`,
    FAULTS: orders,
    OCTAVO_DATABASE_READERS: '1',
    LOG_LEVEL: 'error',
  })
  return { child, ask: askerOf(await child.origin) }
}

/** Asks; rejects with a TypeError where the connection ends without an answer. */
export function askerOf(origin: string): Ask {
  return async (path, { method = 'GET', headers = {}, token, body } = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null }
  }
}

export async function end({ child }: Faulty): Promise<void> {
  child.process.kill('SIGKILL')
  await child.ended
}
