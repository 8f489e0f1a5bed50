// The page at /docs: an empty frame, which its script fills from the description of the API.
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../foundation/config/config.js'
import { getPagePolicy } from '../headers-and-cors.js'
import { descriptionPath } from '../rest/description.js'
import { type Mount, readMethods } from '../rest/mount.js'
import { escapeHtml, getAsset, sendAsset } from './assets.js'

export const docsPath = '/docs'

/** False if the page is switched off, or if the API has its path. */
export const hasDocsPage = ({ docs, rest }: Pick<Config, 'docs' | 'rest'>): boolean =>
  docs.enabled && rest.prefix !== docsPath && !rest.prefix.startsWith(`${docsPath}/`)

interface DocsPageAddresses {
  /** Of the API. */
  readonly prefix: string
  readonly description: string
  readonly script: string
  readonly style: string
  /** The service has a start page, and with it the mark. */
  readonly hasStartPage: boolean
}

/** Nothing runs or is loaded but the page's own files, and requests go to this origin only. */
const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const docsPage = ({ prefix, description, script, style, hasStartPage }: DocsPageAddresses): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="The operations of this content API, with requests to try.">
<title>API · Octavo</title>
${hasStartPage ? '<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n' : ''}<link rel="stylesheet" href="${escapeHtml(style)}">
<script type="module" src="${escapeHtml(script)}"></script>
</head>
<body data-prefix="${escapeHtml(prefix)}" data-description="${escapeHtml(description)}">
<a class="skip" href="#main">To the contents</a>
<header>
<h1>${hasStartPage ? '<a href="/"><img src="/favicon.svg" alt="" width="32" height="32">Octavo</a>' : '<a href="#">Octavo</a>'}</h1>
${hasStartPage ? '<a href="/">Start page</a>\n' : ''}<a href="#">Overview</a>
<form id="token-form" autocomplete="off">
<small id="token-state" role="status">Showing public operations</small>
<input aria-label="Token" id="token" type="password" autocomplete="off" placeholder="API token or JWT">
<button>Use</button>
<button type="button" id="forget" hidden>Forget</button>
</form>
</header>
<div class="page">
<details id="menu" open>
<summary>Operations</summary>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search operations">
<nav id="list" aria-label="Operations"></nav>
</details>
<main id="main"><noscript><p>This page needs JavaScript. The same for programs: <a href="${escapeHtml(description)}">openapi.json</a>.</p></noscript></main>
</div>
</body>
</html>
`

/** The files of the page, which `src/http/pages/browser/docs-page` becomes. */
const script = 'page.js'
const style = 'page.css'

/** The parts of the configuration that the page depends on. */
type DocsConfig = Pick<Config, 'rest' | 'responseHeaders' | 'startPage'>

/** The page of a project's API. */
export const docsMount = (config: DocsConfig): Mount => ({
  prefix: docsPath,
  secret: [],
  unlogged: [],
  addTo: (app) => addTo(app, config),
  methodsAt: () => readMethods,
})

function addTo(app: FastifyInstance, config: DocsConfig): void {
  const { prefix } = config.rest
  const policy = getPagePolicy(config, docsPolicy)
  const asset = (name: string): string => `docs-page/${name}`
  const getUrl = async (name: string): Promise<string> => `${docsPath}/${name}?${(await getAsset(asset(name))).version}`
  app.get(docsPath, async (_request, reply) => {
    const page = docsPage({
      prefix,
      description: prefix + descriptionPath,
      hasStartPage: config.startPage,
      script: await getUrl(script),
      style: await getUrl(style),
    })
    return reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' }).send(page)
  })
  for (const name of [script, style]) app.get(`${docsPath}/${name}`, (_request, reply) => sendAsset(reply, asset(name)))
}
