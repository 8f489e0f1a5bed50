// What requests do beside content, for the audit log. Writes of documents are noted where they are made.
import type { FastifyInstance } from 'fastify'
import type { Audit } from '../foundation/runtime/audit.js'
import type { Reply, RequestContext, Route } from './request-context.js'

/** Lets all that is noted from now on know its request. */
export function auditRequests(app: FastifyInstance, audit: Audit): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once(
      'close',
      audit.within({ requestId: request.id, address: request.ip }, () => done()),
    )
  })
}

/** Accounts are signed in to by GET too. */
const isAudited = ({ method, action }: Route): boolean => method !== 'GET' || action.startsWith('plugin::users-permissions.auth.')

/** The same route, whose success is noted under its action. */
export function auditedHandle(audit: Audit | null, route: Route): Route['handle'] {
  if (audit === null || !isAudited(route)) return route.handle
  return async (context) => {
    const reply = await route.handle(context)
    if (reply.status >= 300) return reply
    const actor = actorOf(context, reply)
    for (const id of reply.changed?.map(String) ?? [context.params.id]) audit.note({ actor, action: route.action, id })
    return reply
  }
}

/** Who did it: after a sign-in, the user who is signed in. */
function actorOf({ asker: { caller } }: RequestContext, { value }: Reply) {
  const { user } = (value ?? {}) as { readonly user?: { readonly id?: unknown } }
  return caller.kind === 'public' && typeof user?.id === 'number' ? { kind: 'user', id: user.id } : caller
}
