// The page at /admin for editors, built from admin/ into dist/admin and read with its first request.
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bucketOf, fileUrl } from '../../content/media/storage/s3-address.js'
import type { Config } from '../../foundation/config/config.js'
import type { PreviewConfig } from '../../foundation/config/preview.js'
import type { StorageConfig } from '../../foundation/config/storage.js'
import { notFound } from '../../foundation/errors/errors.js'
import { onceDone } from '../../foundation/runtime/coalesce.js'
import { publicPath } from '../../identity/accounts/email.js'
import { createCodingChoice } from '../compression.js'
import { getPagePolicy } from '../headers-and-cors.js'
import { type Mount, readMethods } from '../rest/mount.js'
import { prefersPages } from './account-pages.js'
import { escapeHtml } from './assets.js'

/** The path of the page. */
export const adminPagePath = '/admin'
const assetPath = `${adminPagePath}/assets/`

/** The built page, next to the bundle. */
const folder = new URL('admin/', import.meta.url)

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The names of files end with a compression, if any: `list-4f3c.js.br`. */
const endings = { br: '.br', gzip: '.gz' } as const

/**
 * Trusted Types refuse markup from strings, except through two policies: `default` of the page allows the empty text, with which React Aria
 * empties an element, and ProseMirror's own is for pasted HTML.
 */
const policyFor = (storage: string, frames: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:${storage}; media-src 'self' blob:${storage}; font-src 'self'; connect-src 'self';${frames} base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default ProseMirrorClipboard`

/** The origins of files outside of this service, each after a space. */
function storageOrigins(storage: StorageConfig): string {
  if (storage.provider !== 'aws-s3') return ''
  const origins = new Set([bucketOf(storage).origin, new URL(fileUrl(storage, '')).origin])
  return [...origins].map((origin) => ` ${origin}`).join('')
}

/** The part of the policy for previews of documents. */
function framesFor(preview: PreviewConfig | null): string {
  if (preview === null) return ''
  return ` frame-src ${[...(preview.isOwn ? ["'self'"] : []), ...preview.origins].join(' ')};`
}

type AdminPageConfig = Pick<Config, 'admin' | 'publicUrl' | 'responseHeaders' | 'storage'>

/** The page of administrators. Every address below it that is not a file is one of its screens. */
export function adminPageMount(config: AdminPageConfig): Mount {
  const open = onceDone(() => openPage(config))
  return {
    prefix: adminPagePath,
    secret: [],
    unlogged: [],
    methodsAt: () => readMethods,
    addTo: (app) => {
      const handle = async (request: FastifyRequest, reply: FastifyReply) => (await open())(request, reply)
      app.get(adminPagePath, handle)
      app.get(`${adminPagePath}/*`, handle)
    },
  }
}

async function openPage(config: AdminPageConfig) {
  const { storage } = config
  const policy = getPagePolicy(config, policyFor(storageOrigins(storage), framesFor(config.admin.preview)))
  const base = escapeHtml(publicPath(config.publicUrl) + adminPagePath)
  const built = await readFile(new URL('index.html', folder), 'utf8')
  // The build has relative addresses: with a public URL below a path the page is below it too.
  const html = built
    .replaceAll('"./', `"${base}/`)
    .replace('<meta name="octavo-path" content="/admin"', `<meta name="octavo-path" content="${base}"`)
  const files = new Map(
    (await readdir(new URL('assets/', folder))).map((name) => [name, onceDone(() => readFile(new URL(`assets/${name}`, folder)))]),
  )
  const choose = createCodingChoice()

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [path = ''] = (request.raw.url ?? '').split('?', 1)
    if (path.startsWith(assetPath)) return sendFile(request, reply, path.slice(assetPath.length))
    // Programs that ask for the routes of Strapi's panel get an error they understand.
    if (!prefersPages(request.headers.accept)) throw notFound()
    return reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': policy, 'cache-control': 'no-store' }).send(html)
  }

  async function sendFile(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
    const type = contentTypes[extname(name)]
    const plain = files.get(name)
    if (type === undefined || plain === undefined) throw notFound()
    const coding = choose(String(request.headers['accept-encoding'] ?? ''))
    const compressed = coding === null ? undefined : files.get(name + endings[coding])
    reply.type(type).headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
    if (coding !== null && compressed !== undefined) reply.header('content-encoding', coding)
    return reply.send(await (compressed ?? plain)())
  }
}
