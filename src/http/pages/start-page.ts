// The start page at /: the content-types and some example requests. Static HTML without scripts.
import type { Grants } from '../../grants.js'
import type { ContentType, Model } from '../../model/types.js'
import { escapeHtml } from './escape-html.js'
import { examplesOf } from './examples.js'

/** The start page. */
export interface StartPage {
  readonly html: string
  /** Its Content-Security-Policy. */
  readonly policy: string
}

const style = `
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5b6675;--line:#d9dee5;--back:#fbfaf7;--card:#fff;--accent:#0b6e69}
@media(prefers-color-scheme:dark){:root{--ink:#e8ebef;--soft:#98a3b1;--line:#2b333d;--back:#14181d;--card:#1b2026;--accent:#5cc4bd}}
*{box-sizing:border-box}body{margin:0;background:var(--back);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:3rem 1.25rem 4rem}h1{font-size:2.1rem;margin:0}h1+p{color:var(--soft);margin:.3rem 0 2rem;max-width:44rem}
h2{font-size:1.05rem;margin:2.4rem 0 .8rem;color:var(--soft);font-weight:600}ul{list-style:none;margin:0;padding:0}
.types{display:grid;gap:.8rem;grid-template-columns:repeat(auto-fill,minmax(18rem,1fr))}.types li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.9rem 1rem}
.types b{display:block}.types small{color:var(--soft)}.types a,.try a{display:block;overflow-wrap:anywhere}a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
code,.types a,.try a{font:.85rem/1.7 ui-monospace,monospace}.try li{padding:.35rem 0;border-bottom:1px solid var(--line)}.try small{color:var(--soft);display:block}
.closed{opacity:.6}`

const link = (href: string): string => `<a href="${escapeHtml(href)}">${escapeHtml(href)}</a>`

/** Renders the start page with links to the types that `visitor` may read; `showsAll`: also lists the other types. */
export function startPage(model: Model, visitor: Grants, prefix: string, showsAll: boolean): StartPage {
  const types = [...model.paths].filter(([, type]) => showsAll || visitor.may(`${type.uid}.find`)).sort(([a], [b]) => (a < b ? -1 : 1))
  const cards = types.map(([path, type]) => card(type, `${prefix}/${path}`, visitor.may(`${type.uid}.find`)))
  const tries = examplesOf(model, visitor, prefix).map(({ href, what }) => `<li>${link(href)}<small>${escapeHtml(what)}</small></li>`)
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Octavo</title><style>${style}</style></head><body><main>
<h1>Octavo</h1><p>This content service is running. It serves the Content REST API below <code>${escapeHtml(prefix)}</code>.</p>
${tries.length === 0 ? nothingPublic(types[0]?.[1], showsAll) : `<h2>Try</h2><ul class="try">${tries.join('')}</ul>`}
${cards.length === 0 ? '' : `<h2>Content-types</h2><ul class="types">${cards.join('')}</ul>`}</main></body></html>`
  return { html, policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'" }
}

function nothingPublic(type: ContentType | undefined, showsAll: boolean): string {
  if (type === undefined && !showsAll) return '<p>No content is public. Send an API token, or sign in.</p>'
  if (type === undefined) return '<p>There are no content-types yet. Add one below <code>src/api</code> and restart.</p>'
  const command = `octavo roles grant public ${type.uid}.find`
  return `<p>No content is public yet. Make a type public with <code>${escapeHtml(command)}</code>, or send an API token.</p>`
}

function card(type: ContentType, href: string, isOpen: boolean): string {
  const features = [
    type.singleType ? 'single type' : 'collection type',
    ...(type.draftAndPublish ? ['drafts'] : []),
    ...(type.localized ? ['locales'] : []),
    ...(isOpen ? [] : ['needs a permission']),
  ]
  return `<li${isOpen ? '' : ' class="closed"'}><b>${escapeHtml(type.displayName)}</b><small>${features.join(' · ')}</small>${link(href)}</li>`
}
