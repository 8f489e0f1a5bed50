// The mount of the page that describes the API to people.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { descriptionPath } from '../api/description.js'
import { hasVersion } from '../conditional.js'
import { docsPage, docsPolicy, readPageFiles } from '../pages/docs-page.js'
import { type Mount, readMethods } from './mount.js'

const prefix = '/docs'

/** The page for an API below `api`; it has no routes if the API itself is there. */
export const docsMount = (api: string): Mount => ({
  prefix,
  secret: [],
  unlogged: [],
  addTo: (app) => {
    if (api !== prefix && !api.startsWith(`${prefix}/`)) addTo(app, api)
  },
  methodsAt: () => readMethods,
})

function addTo(app: FastifyInstance, api: string): void {
  const page = { type: 'text/html; charset=utf-8', text: docsPage(api, api + descriptionPath) }
  let files: ReturnType<typeof readPageFiles> | undefined
  app.get(prefix, (request, reply) => sendFile(request, reply.header('content-security-policy', docsPolicy), page))
  for (const name of ['page.js', 'page.css'])
    app.get(`${prefix}/${name}`, (request, reply) => {
      files ??= readPageFiles()
      return sendFile(request, reply, files.get(name)!)
    })
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, text }: { readonly type: string; readonly text: string },
): FastifyReply {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
  reply.headers({ etag: tag, 'cache-control': 'no-cache' })
  return hasVersion(request.headers, tag) === true ? reply.status(304).send() : reply.type(type).send(text)
}
