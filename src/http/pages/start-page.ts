// The start page at /: the content-types, requests to try, and their responses. A list of links; its script shows the responses in place.

import { commandLine } from '../../foundation/runtime/command-line.js'
import type { ContentType } from '../../model/schema/types.js'
import { escapeHtml } from './escape-html.js'
import { openTypes } from './examples.js'
import { firstTypeHtml } from './first-type.js'
import { closedType, commandHtml, openType, type ShownTypes } from './start-page-types.js'

/** What the start page shows. */
export interface StartPageContent extends ShownTypes {
  /** Null: not shown. */
  readonly version: string | null
  /** Null: not shown. */
  readonly contract: string | null
  /** Codes, the default one first; null: not shown. */
  readonly locales: readonly string[] | null
  /** The page may create content-types. */
  readonly creates: boolean
  /** Further pages of the service. */
  readonly links: readonly PageLink[]
  /** Addresses of the script and the style, with their versions. */
  readonly script: string
  readonly style: string
}

/** Another page of the service. */
export interface PageLink {
  readonly href: string
  readonly text: string
}

/** What the request is before one is chosen: the first type, whoever may read it. */
function firstPath(content: StartPageContent): string {
  const { prefix, showsAll } = content
  const path = openTypes(content)[0]?.[0] ?? (showsAll ? listedTypes(content)[0]?.[0] : undefined)
  return path === undefined ? prefix : `${prefix}/${path}`
}

/** What the page may load and do: its own script and style, and requests to its own service. */
export const startPagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Renders the start page. */
export function startPage(content: StartPageContent): string {
  const { script, style } = content
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="description" content="The content-types of this service, with requests to try."><title>Octavo</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml"><link rel="stylesheet" href="${style}"><script type="module" src="${script}"></script></head>
<body data-path="${escapeHtml(firstPath(content))}"${content.showsAll ? ' data-follows' : ''}><header><h1><img src="/favicon.svg" alt="" width="32" height="32">Octavo</h1>${factsHtml(content)}</header>
<main><nav aria-label="Content-types">${typesHtml(content)}</nav>${answerHtml(content)}</main></body></html>`
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
  const open = openTypes(content)
  const closed = showsAll ? listedTypes(content).filter((entry) => !open.some(([path]) => path === entry[0])) : []
  const [collections, singles] = [open.filter(([, type]) => !type.singleType), open.filter(([, type]) => type.singleType)]
  const first = open[0]?.[0]
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['Collections', collections.map(([path, type]) => openType(path, type, content, path === first))],
    ['Single types', singles.map(([path, type]) => openType(path, type, content, path === first))],
    [
      open.length === 0 ? 'Types' : 'Closed to the public',
      closed.map(([path, type], index) => closedType(path, type, content, open.length === 0 && index === 0)),
    ],
  ]
  const shown = groups
    .filter(([, types]) => types.length > 0)
    .map(([title, types]) => `<section><h2>${title}</h2>${types.join('')}</section>`)
  return `${open.length === 0 ? nothingPublic(closed[0]?.[1], content) : ''}${shown.join('')}`
}

function nothingPublic(type: ContentType | undefined, { showsAll, folder, creates }: StartPageContent): string {
  if (!showsAll) return '<p class="note">No content is public. Send an API token, or sign in.</p>'
  if (type === undefined) return firstTypeHtml(creates)
  return `<p class="note">No content is public yet: the command of a type opens it to everybody. This one prints an API token that reads and writes everything:</p>${commandHtml(commandLine('tokens create --name Desk --type full-access', folder))}`
}

/** The place for responses, which only the script fills. */
function answerHtml(content: StartPageContent): string {
  const { showsAll } = content
  const hidden = showsAll && listedTypes(content).length === 0 ? ' hidden' : ''
  const token = showsAll
    ? '<label class="token">API token <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="none: the public role"></label>'
    : ''
  return `<section id="answer"${hidden} aria-label="Request and response"><form id="request"><label class="method" for="address">GET</label><input id="address" spellcheck="false" autocomplete="off" autocapitalize="off"><button id="send">Send</button>${token}<span class="copy">Copy as <button type="button" data-copy="curl">curl</button><button type="button" data-copy="fetch">fetch</button></span></form>
<p id="status" role="status"></p><p id="hint" hidden></p><div id="body"></div></section>`
}
