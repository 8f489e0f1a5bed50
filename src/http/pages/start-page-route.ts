// Serves the start page, its script, style and picture. The page is rendered again when the model, the public role or the locales change.
import type { FastifyInstance } from 'fastify'
import { localeCodes } from '../../content/documents/read/locales.js'
import { onceDone } from '../../foundation/runtime/once-done.js'
import type { AccessState } from '../../identity/access/access-state.js'
import { leftOutRoutes } from '../../model/schema/type-routes.js'
import type { Model } from '../../model/schema/types.js'
import { holding } from '../../project/installations.js'
import type { MountContext } from '../backend.js'
import { policyOfPage } from '../headers-and-cors.js'
import { assetAddress, assetFolder, sendAsset } from './assets.js'
import { hasDocsPage } from './docs-page.js'
import { pageLinks } from './links.js'
import { addNewTypeRoute, canCreateTypes } from './new-type-route.js'
import { startPage, startPagePolicy } from './start-page.js'

const [script, style] = ['start-page.js', 'start-page.css']

/** Adds the routes of the start page. */
export function addStartPage(app: FastifyInstance, parts: MountContext): void {
  const { config, backend } = parts
  const policy = policyOfPage(config, startPagePolicy)
  const leftOut = leftOutRoutes(config.types)
  let last: { readonly key: string; readonly html: () => Promise<string> } | null = null

  async function render(model: Model, { public: visitor }: AccessState, locales: readonly string[]): Promise<string> {
    const { production, contract, rest, folder: project } = config
    return startPage({
      ...{ model, visitor, leftOut, prefix: rest.prefix, showsAll: !production, folder: project, links: pageLinks(hasDocsPage(config)) },
      creates: canCreateTypes(config),
      version: production ? null : backend.version,
      contract: production || contract !== 'strapi' ? null : contract,
      locales: !production || visitor.may('plugin::i18n.locales.listLocales') ? locales : null,
      script: await assetAddress(script),
      style: await assetAddress(style),
    })
  }

  app.get('/', async (_request, reply) => {
    const access = await backend.identification.access()
    const [model, locales] = await holding(backend.installations.enter(access.defaultLocale), async (installation) => {
      return [installation.model, await localeCodes(installation.documents, access.defaultLocale)] as const
    })
    const key = `${model.version} ${access.public.key} ${locales}`
    if (last?.key !== key) last = { key, html: onceDone(() => render(model, access, locales)) }
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', policy)
      .send(await last.html())
  })
  for (const name of [script, style]) app.get(`${assetFolder}/${name}`, (_request, reply) => sendAsset(reply, name))
  if (canCreateTypes(config)) addNewTypeRoute(app, parts)
  app.get('/favicon.svg', (_request, reply) => sendAsset(reply, 'favicon.svg'))
}
