// The start page at /: the content-types, requests to try, and their responses. Without its script it is a list of links.
import type { FastifyInstance } from 'fastify'
import { localeCodes } from '../../content/documents/read/service-reads.js'
import type { Config } from '../../foundation/config/config.js'
import type { Grants } from '../../foundation/grants.js'
import { onceDone } from '../../foundation/runtime/coalesce.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import type { AccessState } from '../../identity/access/identify.js'
import { publicPath } from '../../identity/accounts/email.js'
import { isAlwaysRequired } from '../../model/schema/conditions.js'
import { createExcludedRoutes } from '../../model/schema/type-routes.js'
import { type Attribute, assertNever, type ContentType, type Model } from '../../model/schema/types.js'
import { holding } from '../../project/installation.js'
import type { MountContext } from '../backend.js'
import { getPagePolicy } from '../headers-and-cors.js'
import { adminPagePath } from './admin-page.js'
import { assetFolder, escapeHtml, getAssetUrl, sendAsset } from './assets.js'
import { docsPath, hasDocsPage } from './docs-page.js'
import { getTypeExamples, listReadableTypes, type ReadableTypes } from './examples.js'
import { addNewTypeRoute, canCreateTypes, firstTypeHtml } from './first-type.js'

interface StartPageContent extends ShownTypes {
  /** Null: not shown. */
  readonly version: string | null
  /** Null: not shown. */
  readonly contract: string | null
  /** Codes, the default one first; null: not shown. */
  readonly locales: readonly string[] | null
  readonly creates: boolean
  readonly links: readonly PageLink[]
  /** Addresses of the script and the style, with their versions. */
  readonly script: string
  readonly style: string
}

interface PageLink {
  readonly href: string
  readonly text: string
}

/** The initial request: the list of the first type, even if it is not public. */
function firstPath(content: StartPageContent): string {
  const { prefix, showsAll } = content
  const path = listReadableTypes(content)[0]?.[0] ?? (showsAll ? listedTypes(content)[0]?.[0] : undefined)
  return path === undefined ? prefix : `${prefix}/${path}`
}

/** The page may load its own script and style, and send requests to its own service. */
const startPagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Renders the start page. */
function startPage(content: StartPageContent): string {
  const { script, style } = content
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="description" content="The content-types of this service, with requests to try."><title>Octavo</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="${style}"><script type="module" src="${script}"></script></head>
<body data-path="${escapeHtml(firstPath(content))}"${content.showsAll ? ' data-follows' : ''}><header><h1><img src="/favicon.svg" alt="" width="32" height="32">Octavo</h1>${factsHtml(content)}</header>
<main><nav aria-label="Content-types">${typesHtml(content)}</nav>${responseHtml(content)}</main></body></html>`
}

function factsHtml({ version, contract, locales, links, prefix }: StartPageContent): string {
  const facts = [
    ['API', `<code>${escapeHtml(prefix)}</code>`],
    ...(locales === null || locales.length === 0
      ? []
      : [
          [
            locales.length === 1 ? 'Locale' : 'Locales',
            locales.map((code, index) => (index === 0 ? `<b>${escapeHtml(code)}</b>` : escapeHtml(code))).join(', '),
          ],
        ]),
    ...(contract === null ? [] : [['Contract', escapeHtml(contract)]]),
    ...(version === null ? [] : [['Version', escapeHtml(version)]]),
  ]
  const more = links.map(({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`)
  return `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>${more.length === 0 ? '' : `<p class="links">${more.join('')}</p>`}`
}

/** The types that have a route to read them, in the order of their paths. */
const listedTypes = ({ model, leftOut }: StartPageContent): readonly (readonly [string, ContentType])[] =>
  [...model.paths].filter(([, { uid }]) => leftOut?.(uid, 'find') !== true).sort(([a], [b]) => (a < b ? -1 : 1))

function typesHtml(content: StartPageContent): string {
  const { showsAll } = content
  const open = listReadableTypes(content)
  const closed = showsAll ? listedTypes(content).filter((entry) => !open.some(([path]) => path === entry[0])) : []
  const collections = open.filter(([, type]) => !type.singleType)
  const singles = open.filter(([, type]) => type.singleType)
  const first = open[0]?.[0]
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['Collections', collections.map(([path, type]) => readableTypeHtml(path, type, content, path === first))],
    ['Single types', singles.map(([path, type]) => readableTypeHtml(path, type, content, path === first))],
    [
      open.length === 0 ? 'Types' : 'Closed to the public',
      closed.map(([path, type], index) => closedTypeHtml(path, type, content, open.length === 0 && index === 0)),
    ],
  ]
  const shown = groups
    .filter(([, types]) => types.length > 0)
    .map(([title, types]) => `<section><h2>${title}</h2>${types.join('')}</section>`)
  return `${open.length === 0 ? noPublicTypesHtml(closed[0]?.[1], content) : ''}${shown.join('')}`
}

function noPublicTypesHtml(type: ContentType | undefined, { showsAll, folder, creates }: StartPageContent): string {
  if (!showsAll) return '<p class="note">No content is public. Send an API token, or sign in.</p>'
  if (type === undefined) return firstTypeHtml(creates)
  return `<p class="note">No content is public yet: the command of a type opens it to everybody. This one prints an API token that reads and writes everything:</p>${commandHtml(commandLine('tokens create --name Desk --type full-access', folder))}`
}

/** The panel for responses, which only the script fills. */
function responseHtml(content: StartPageContent): string {
  const { showsAll } = content
  const hidden = showsAll && listedTypes(content).length === 0 ? ' hidden' : ''
  const token = showsAll
    ? '<label class="token">API token <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="none: the public role"></label>'
    : ''
  return `<section id="answer"${hidden} aria-label="Request and response"><form id="request"><label class="method" for="address">GET</label><input id="address" spellcheck="false" autocomplete="off" autocapitalize="off"><button id="send">Send</button>${token}<span class="copy">Copy as <button type="button" data-copy="curl">curl</button><button type="button" data-copy="fetch">fetch</button></span></form>
<p id="status" role="status"></p><p id="hint" hidden></p><div id="body"></div></section>`
}

const script = 'start-page.js'
const style = 'start-page.css'

/** Adds the routes of the start page. */
export function addStartPage(app: FastifyInstance, parts: MountContext): void {
  const { config, backend } = parts
  const policy = getPagePolicy(config, startPagePolicy)
  const leftOut = createExcludedRoutes(config.types)
  let last: { readonly key: string; readonly html: () => Promise<string> } | null = null

  async function render(model: Model, { public: visitor }: AccessState, locales: readonly string[]): Promise<string> {
    const { production, contract, rest, folder: project } = config
    return startPage({
      model,
      visitor,
      leftOut,
      prefix: rest.prefix,
      showsAll: !production,
      folder: project,
      links: pageLinks(config),
      creates: canCreateTypes(config),
      version: production ? null : backend.version,
      contract: production || contract !== 'strapi' ? null : contract,
      locales: !production || visitor.may('plugin::i18n.locales.listLocales') ? locales : null,
      script: await getAssetUrl(script),
      style: await getAssetUrl(style),
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

interface ShownTypes extends ReadableTypes {
  /** Of the API. */
  readonly prefix: string
  /** Also what the visitor may not read: closed types, private attributes, relations to closed types. */
  readonly showsAll: boolean
  /** Of the project, for commands. */
  readonly folder: string
}

/** A command with a button that copies it. */
const commandHtml = (command: string): string =>
  `<p class="command"><code>${escapeHtml(command).replaceAll(',', ',<wbr>')}</code><button type="button" data-copy="${escapeHtml(command)}">Copy</button></p>`

/** A type that the visitor may read; `isOpen`: its requests are unfolded. */
function readableTypeHtml(path: string, type: ContentType, shown: ShownTypes, isOpen: boolean): string {
  const href = `${shown.prefix}/${path}`
  const requests = getTypeExamples(type, shown.visitor, href).map(
    (example) =>
      `<li><a class="request" data-request href="${escapeHtml(example.href)}">${escapeHtml(example.what)}<code class="query">${queryHtml(example.href)}</code></a></li>`,
  )
  const list = type.singleType ? '' : ` data-list="${escapeHtml(href)}" data-count="${type.draftAndPublish ? 'published' : 'documents'}"`
  return `<details class="type"${list}${isOpen ? ' open' : ''}><summary class="name"><b>${escapeHtml(type.displayName)}</b>${badges(type)}<span class="count"></span><code class="path">${escapeHtml(href)}</code></summary>
<ul class="requests">${requests.join('')}</ul>${attributesHtml(type, shown)}</details>`
}

/** A type that the visitor may not read, with the command that lets everybody; `isOpen`: the command is unfolded. */
function closedTypeHtml(path: string, type: ContentType, shown: ShownTypes, isOpen: boolean): string {
  const actions = (type.singleType ? (['find'] as const) : (['find', 'findOne'] as const)).filter(
    (action) => shown.leftOut?.(type.uid, action) !== true,
  )
  const command = commandLine(`roles grant public ${actions.map((action) => `${type.uid}.${action}`).join(',')}`, shown.folder)
  return `<details class="type"${isOpen ? ' open' : ''}><summary class="name"><b>${escapeHtml(type.displayName)}</b>${badges(type)}<code class="path">${escapeHtml(`${shown.prefix}/${path}`)}</code></summary>
${commandHtml(command)}${attributesHtml(type, shown)}</details>`
}

function badges({ draftAndPublish, localized }: ContentType): string {
  const words = [...(draftAndPublish ? ['drafts'] : []), ...(localized ? ['locales'] : [])]
  return words.map((word) => `<small>${word}</small>`).join('')
}

/** The query of an address, where it may break: before each parameter. */
const queryHtml = (href: string): string => {
  const [, query] = href.split('?')
  return query === undefined ? '' : escapeHtml(`?${query}`).replaceAll('&#38;', '<wbr>&#38;')
}

function attributesHtml({ attributes }: ContentType, { model, visitor, showsAll }: ShownTypes): string {
  const isShown = (attribute: Attribute): boolean =>
    !/^(?:created|updated)By$/.test(attribute.name) &&
    (showsAll || (!attribute.private && !isSecret(attribute) && mayFollow(attribute, visitor)))
  const rows = [...attributes.values()].filter(isShown).map((attribute) => {
    const notes = [...(isAlwaysRequired(attribute) ? ['required'] : []), ...(attribute.private ? ['private'] : [])]
    return `<dt>${escapeHtml(attribute.name)}</dt><dd>${escapeHtml(describeKind(model, attribute))}${notes.map((note) => ` <i>${note}</i>`).join('')}</dd>`
  })
  return `<details class="attributes"><summary>${rows.length} attributes</summary><dl>${rows.join('')}</dl></details>`
}

const isSecret = (attribute: Attribute): boolean => attribute.kind === 'scalar' && attribute.type === 'password'
const mayFollow = (attribute: Attribute, visitor: Grants): boolean =>
  (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom') || visitor.may(`${attribute.target}.find`)

/** Values of an enumeration that are listed. */
const maxChoices = 6

function listChoices({ source }: Attribute): string {
  const choices: readonly unknown[] = Array.isArray(source.enum) ? source.enum : []
  const more = choices.length > maxChoices ? ', …' : ''
  return `enumeration: ${choices.slice(0, maxChoices).join(', ')}${more}`
}

function describeKind(model: Model, attribute: Attribute): string {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.type === 'enumeration' ? listChoices(attribute) : attribute.type
    case 'relation':
    case 'morphFrom':
      return `${attribute.many ? 'relations' : 'relation'} to ${model.types.get(attribute.target)?.singularName ?? attribute.target}`
    case 'morphTo':
      return attribute.many ? 'relations to several types' : 'relation to several types'
    case 'media':
      return attribute.many ? 'files' : 'file'
    case 'component':
      return `${attribute.repeatable ? 'components' : 'component'} ${attribute.component}`
    case 'dynamiczone':
      return `dynamic zone of ${attribute.components.length} components`
    default:
      return assertNever(attribute)
  }
}

/** The pages, in the order of their links. */
const pageLinks = (config: Config): readonly PageLink[] => [
  ...(config.admin.enabled ? [{ href: publicPath(config.publicUrl) + adminPagePath, text: 'Edit content' }] : []),
  ...(hasDocsPage(config) ? [{ href: docsPath, text: 'API documentation' }] : []),
]
