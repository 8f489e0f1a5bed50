// Upper bound for a service on Fastify: answers every bench request from memory, with the exact bytes and headers of another
// server, sent to the socket past Fastify's own serialization, and logs one line for each. Started with PORT and SOURCE, the origin of the
// server whose responses it repeats.

import { fastify } from 'fastify'
import { pino } from 'pino'
import { answersOf } from './kept-answers.mjs'

const answers = await answersOf(String(process.env.SOURCE))
const logger = pino({ base: undefined }, pino.destination({ dest: 1, sync: false, minLength: 8_192 }))
const app = fastify({ loggerInstance: logger, disableRequestLogging: true, childLoggerFactory: () => logger })

app.addHook('onResponse', (request, reply, done) => {
  const { method, routeOptions, ip, id } = request
  const milliseconds = Math.round(reply.elapsedTime * 100) / 100
  logger.info({ requestId: id, method, route: routeOptions.url, status: reply.statusCode, milliseconds, ip }, 'request')
  done()
})
app.get('/_health', (_request, reply) => reply.status(204).send())
app.get('/*', (request, reply) => {
  const answer = answers.get(request.url)
  if (answer === undefined) return reply.status(404).send()
  reply.status(answer.status).headers(answer.headers).hijack()
  reply.raw.writeHead(reply.statusCode, /** @type {import('node:http').OutgoingHttpHeaders} */ (reply.getHeaders()))
  reply.raw.end(answer.body)
  return reply
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
