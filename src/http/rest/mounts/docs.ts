// The mount of the page that describes the API to people.
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../foundation/config/config.js'
import { policyOfPage } from '../../headers-and-cors.js'
import { assetNamed, sendAsset } from '../../pages/assets.js'
import { docsPage, docsPath, docsPolicy } from '../../pages/docs-page.js'
import { descriptionPath } from '../api/description.js'
import { type Mount, readMethods } from './mount.js'

/** The files of the page, which `src/http/pages/browser/docs-page` becomes. */
const [script, style] = ['page.js', 'page.css']

/** The parts of the configuration that the page depends on. */
type DocsConfig = Pick<Config, 'rest' | 'responseHeaders' | 'startPage'>

/** The page of a project's API. */
export const docsMount = (config: DocsConfig): Mount => ({
  ...{ prefix: docsPath, secret: [], unlogged: [] },
  addTo: (app) => addTo(app, config),
  methodsAt: () => readMethods,
})

function addTo(app: FastifyInstance, config: DocsConfig): void {
  const { prefix } = config.rest
  const policy = policyOfPage(config, docsPolicy)
  const asset = (name: string): string => `docs-page/${name}`
  const addressOf = async (name: string): Promise<string> => `${docsPath}/${name}?${(await assetNamed(asset(name))).version}`
  app.get(docsPath, async (_request, reply) => {
    const page = docsPage({
      ...{ prefix, description: prefix + descriptionPath, hasStartPage: config.startPage },
      ...{ script: await addressOf(script), style: await addressOf(style) },
    })
    return reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' }).send(page)
  })
  for (const name of [script, style]) app.get(`${docsPath}/${name}`, (_request, reply) => sendAsset(reply, asset(name)))
}
