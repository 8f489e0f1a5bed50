// The load generator of the write part, a separate process: reads a job as JSON from its input and sends the job's requests in
// turn, each with a unique number in place of every `{n}`. Prints autocannon's figures as JSON.

import { text } from 'node:stream/consumers'
import autocannon from 'autocannon'
import { figuresOf } from './load.mjs'

/**
 * @typedef {object} Job
 * @property {string} origin
 * @property {string} token bearer token of every request
 * @property {number} connections
 * @property {number} seconds
 * @property {string} prefix makes the numbers of this job its own
 * @property {readonly { method: string, path: string, body: object | null }[]} requests
 * @property {number} [rate] requests a second, all connections together; as many as possible where it is missing
 */

const job = /** @type {Job} */ (JSON.parse(await text(process.stdin)))
let sent = 0
/** @type {string[]} */
const refused = []

const instance = autocannon({
  url: job.origin,
  connections: job.connections,
  duration: job.seconds,
  timeout: 120,
  ...(job.rate === undefined ? {} : { overallRate: job.rate }),
  headers: { authorization: `Bearer ${job.token}`, 'content-type': 'application/json' },
  requests: job.requests.map(({ method, path, body }) => {
    const template = body === null ? '' : JSON.stringify(body)
    return {
      method: /** @type {'GET'} */ (method),
      path,
      ...(body === null
        ? {}
        : {
            setupRequest: (/** @type {object} */ request) => {
              sent++
              return { ...request, body: template.replaceAll('{n}', `${job.prefix}-${sent}`) }
            },
          }),
      onResponse: (/** @type {number} */ status, /** @type {string} */ body) => {
        if (status >= 300 && refused.length < 3) refused.push(`${status} ${body.slice(0, 300)}`)
      },
    }
  }),
})
const result = await instance
process.stdout.write(JSON.stringify({ ...figuresOf(result), refused }))
