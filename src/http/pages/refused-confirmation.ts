// The refusal of a confirmation link as a page, for a browser that has opened it from a letter. All other clients get it as JSON, and so does
// everybody where the settings name a page of the project.
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Refused } from '../request-context.js'
import { noteFailure } from '../request-log.js'
import { refusedWith } from './account-pages.js'
import { sendMessage } from './account-pages-route.js'

/** Responds to a refused confirmation link. @throws the error, if it is not for a page */
export async function refuseConfirmation({ error, request, reply, config, settings }: Refused): Promise<FastifyReply> {
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  if (request.method !== 'GET' || !prefersPages(request.headers.accept)) throw error
  if ((await settings()).confirmationRedirection !== null) throw error
  noteFailure(request, error)
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  return sendMessage(reply.status(error.status), config, refusedWith(error.status))
}

/** Whether an `Accept` header names HTML, and does not name JSON as at least as good. Ranges such as any type stand for neither. */
const prefersPages = (accept = ''): boolean => weightOf(accept, 'text/html') > weightOf(accept, 'application/json')

/** The weight that an `Accept` header gives a media type by its name; 0 if it does not name it. */
function weightOf(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}
