// The ceiling of node:http: answers every bench request from memory, with the very bytes that another server answered.
// Started with PORT and SOURCE, the origin of the server whose answers it repeats.

import { createServer } from 'node:http'
import { requests } from '../requests.mjs'

/** Headers that belong to one connection or one moment, not to the answer. */
const momentary = new Set(['connection', 'content-encoding', 'date', 'keep-alive', 'transfer-encoding', 'content-length'])

/** @type {Map<string | undefined, { status: number, headers: Record<string, string | number>, body: Buffer }>} */
const answers = new Map()

for (const { path } of requests) {
  const answer = await fetch(`${process.env.SOURCE}${path}`, { headers: { 'accept-encoding': 'identity' } })
  const body = Buffer.from(await answer.arrayBuffer())
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !momentary.has(name)))
  answers.set(path, { status: answer.status, headers: { ...headers, 'content-length': body.length }, body })
}

createServer((request, response) => {
  const answer = answers.get(request.url)
  if (!answer) {
    response.writeHead(request.url === '/_health' ? 204 : 404).end()
    return
  }
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body)
}).listen(Number(process.env.PORT), '127.0.0.1')
