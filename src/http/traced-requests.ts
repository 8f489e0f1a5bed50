// Requests as spans, where traces are collected. No attribute is a part of a URL, a header or a body.
import type { FastifyInstance } from 'fastify'
import type { Tracing } from '../foundation/runtime/tracing.js'
import { onceClosed } from './once-closed.js'
import type { LoggedRequest } from './request-log.js'
import { finalStatus, knownMethod, knownRoute } from './request-outcome.js'

/** Traces all requests of a server from now on. `untraced`: routes whose requests are not. */
export function traceRequests(app: FastifyInstance, tracing: Tracing, untraced: ReadonlySet<string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (untraced.has(request.routeOptions.url ?? '')) return done()
    const method = knownMethod(request)
    const traced = tracing.request(request.headers, method, {
      'http.request.method': method,
      // A proxy may have sent any text.
      'url.scheme': request.protocol === 'https' ? 'https' : 'http',
      'network.protocol.version': request.raw.httpVersion,
    })
    if (traced.ids !== null) (request as LoggedRequest).trace = traced.ids
    // Comes after every response, also one that was not sent to its end.
    onceClosed(reply.raw, () => {
      const [status, route] = [finalStatus(reply), knownRoute(request)]
      const attributes = { 'http.route': route, 'http.response.status_code': status }
      const { uid } = request as LoggedRequest
      const isFailed = status >= 500
      traced.end(
        `${method} ${route}`,
        { ...attributes, ...(uid !== undefined && { 'octavo.type': uid }), ...(isFailed && { 'error.type': String(status) }) },
        isFailed,
      )
    })
    traced.within(done)
  })
}
