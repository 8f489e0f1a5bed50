// A service with failpoints.mjs, controlled by a folder of orders, and a client of it.
import { once } from 'node:events'
import { type Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestResponse } from '../support/serve.js'
import type { Child } from './child.js'
import { start } from './child.js'
import type { SendRequest } from './operations.js'

export interface Faulty {
  readonly child: Child
  readonly request: SendRequest
}

/** Starts the service on `project`; `orders` is the folder in which tests request faults. */
export async function startFaulty(project: string, orders: string, environment: Readonly<Record<string, string>> = {}): Promise<Faulty> {
  const child = start(project, {
    ...environment,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'failpoints.mjs')}`,
    FAULTS: orders,
    OCTAVO_DATABASE_READER_THREADS: '1',
    LOG_LEVEL: 'error',
  })
  return { child, request: clientOf(await child.origin) }
}

/** Sends a request; rejects with a TypeError if the connection ends without a response. */
export function clientOf(origin: string): SendRequest {
  return async (path, { method = 'GET', headers = {}, token, body } = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body }),
    })
    return answerOf(response.status, response.headers, await response.text())
  }
}

const answerOf = (status: number, headers: Headers, text: string): TestResponse => ({
  status,
  headers,
  text,
  body: /^[[{]/.test(text) ? JSON.parse(text) : null,
})

/** The same through an agent, which says how many connections there may be; bodies are texts. */
export function clientThrough(agent: Agent, origin: string): SendRequest {
  return async (path, { method = 'GET', headers = {}, token, body } = {}) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const asked = request(origin + path, { agent, method, headers: { ...headers, ...authorization } })
    asked.end(body)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return answerOf(response.statusCode!, new Headers(response.headers as Record<string, string>), await text(response))
  }
}

export async function end({ child }: Faulty): Promise<void> {
  child.process.kill('SIGKILL')
  await child.ended
}
