// The website of the magazine: one page for each story, at a secret address, since it shows drafts. The editor at /admin has it next to the form.
import { randomUUID } from 'node:crypto'
import { connectPreview } from 'octavo/client/preview'

const type = 'api::article.article'
const secret = process.env.PREVIEW_SECRET ?? randomUUID()

/** The address of a story, for `admin.preview`. */
export const preview = { url: { [type]: `/website/${secret}/{documentId}?locale={locale}&status={status}` } }

const populate = { cover: true, author: { fields: ['name'] }, category: { fields: ['name'] } }

/** The page. Elements name the field that they show, so that a click leads to it. */
export const website = {
  method: 'GET',
  path: '/website/:secret/:documentId',
  base: 'root',
  auth: false,
  summary: 'A story as the website shows it',
  handle: async ({ params, query, unrestricted }) => {
    const { documentId } = params
    const { locale = 'en', status = 'draft' } = query
    const story = params.secret === secret ? await unrestricted.documents(type).findOne({ documentId, locale, status, populate }) : null
    if (story === null) throw Object.assign(new Error('Not Found'), { name: 'NotFoundError' })
    const field = (path) => `data-octavo-source="${html(new URLSearchParams({ documentId, locale, path }))}"`
    const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': policy }
    return new Response(render(story, field, locale), { headers })
  },
}

const policy = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'self'"

const render = ({ title, kicker, summary, body, cover, author, category }, field, locale) => `<!doctype html>
<html lang="${html(locale)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(title)} · Tidewright</title>
<style>
body { margin: 0 auto; padding: 2rem 1.5rem 5rem; max-width: 40rem; font: 1.1rem/1.6 Georgia, serif; color: #1c2530; background: #fbf9f4 }
header { font: 0.85rem/1.4 system-ui; letter-spacing: 0.08em; text-transform: uppercase; color: #7a4a21 }
h1 { margin: 0.3rem 0 1rem; font-size: 2.4rem; line-height: 1.15 }
.summary { font-size: 1.25rem; color: #4a5563 }
img { width: 100%; height: auto; border-radius: 4px }
blockquote { margin: 2rem 0; padding-left: 1.2rem; border-left: 3px solid #c9a36a; font-style: italic }
a { color: inherit }
</style>
<header><span ${field('category')}>${html(category?.name ?? 'Tidewright')}</span> · <span ${field('kicker')}>${html(kicker)}</span></header>
<h1 ${field('title')}>${html(title)}</h1>
<p class="summary" ${field('summary')}>${html(summary)}</p>
${cover ? `<img src="${html(cover.url)}" alt="${html(cover.alternativeText)}" ${field('cover')}>` : ''}
<p ${field('author')}>${html(author?.name)}</p>
<main ${field('body')}>${(body ?? []).map(block).join('\n')}</main>
<script>(${connectPreview})({ origin: location.origin })</script>
</html>`

const html = (text) => String(text ?? '').replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])

/** HTML of a block or of a text in it. */
function block(node) {
  const inside = (node.children ?? []).map(block).join('')
  switch (node.type) {
    case 'text':
      return node.bold ? `<strong>${html(node.text)}</strong>` : node.italic ? `<em>${html(node.text)}</em>` : html(node.text)
    case 'heading':
      return `<h${node.level + 1}>${inside}</h${node.level + 1}>`
    case 'list':
      return node.format === 'ordered' ? `<ol>${inside}</ol>` : `<ul>${inside}</ul>`
    case 'list-item':
      return `<li>${inside}</li>`
    case 'quote':
      return `<blockquote>${inside}</blockquote>`
    case 'code':
      return `<pre>${inside}</pre>`
    case 'image':
      return `<img src="${html(node.image.url)}" alt="${html(node.image.alternativeText)}">`
    case 'link':
      return `<a href="${html(/^(https?:|mailto:|\/)/.test(node.url) ? node.url : '#')}">${inside}</a>`
    default:
      return `<p>${inside}</p>`
  }
}
