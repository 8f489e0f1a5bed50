// The built-in pages for users: one for a new password, and those for confirmation links. E-mails link to them unless the settings name
// others. They do not show data of a request or the name of the service: users know the site that wrote to them.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Config } from '../../foundation/config/config.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { confirmedPath, newPasswordPath, publicPath } from '../../identity/accounts/email.js'
import { getPagePolicy } from '../headers-and-cors.js'
import type { RefusedRequest } from '../request-context.js'
import { noteFailure } from '../request-context.js'
import { assetFolder, escapeHtml, getAssetUrl, sendAsset } from './assets.js'

interface AccountPageAddresses {
  readonly style: string
  /** The picture of the service; null: it has none. */
  readonly picture: string | null
}

const policyWith = (more: string): string =>
  `default-src 'none'; ${more}style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The policy of the page for a new password: its own script, and requests to this origin. */
const newPasswordPolicy = policyWith("script-src 'self'; connect-src 'self'; ")
const messagePolicy = policyWith('')

const page = (title: string, { style, picture }: AccountPageAddresses, head: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${picture === null ? '' : `<link rel="icon" href="${escapeHtml(picture)}" type="image/svg+xml">\n`}<link rel="stylesheet" href="${escapeHtml(style)}">
${head}</head>
<body>
<header><h1>${picture === null ? '' : `<img src="${escapeHtml(picture)}" alt="" width="32" height="32">`}${title}</h1></header>
<main>
${main}
</main>
</body>
</html>
`

/** The page for a new password. Only its script sends the form, so its fields have no names. `action`: where it is sent. */
const newPasswordPage = (addresses: AccountPageAddresses, script: string, action: string): string =>
  page(
    'Choose a new password',
    addresses,
    `<script type="module" src="${escapeHtml(script)}"></script>\n`,
    `<p id="unscripted">This page needs JavaScript, which does not run here.</p>
<p id="incomplete" hidden>This page needs the link from the e-mail: open it again. It works until the password is set or the link expires.</p>
<form data-action="${escapeHtml(action)}" hidden>
<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" aria-describedby="result" required>
<label for="repeated">New password, once more</label>
<input id="repeated" type="password" autocomplete="new-password" aria-describedby="result" required>
<button>Set the password</button>
</form>
<p id="result" role="status" tabindex="-1"></p>`,
  )

interface PageMessage {
  readonly title: string
  readonly text: string
}

/** After a confirmation link. */
const confirmed: PageMessage = {
  title: 'Your e-mail address is confirmed',
  text: 'You can close this page and sign in.',
}

/** After a confirmation link that was refused with this status. */
function getRefusalMessage(status: number): PageMessage {
  if (status === 429) return { title: 'Too many attempts', text: 'Wait a minute, then open the link again.' }
  if (status === 400)
    return {
      title: 'This link confirms no address',
      text: 'It is not complete, it has expired, or a newer e-mail has replaced it. Open the link in the last e-mail. If that does not help, request another e-mail where you signed up.',
    }
  return { title: 'This link cannot be used here', text: 'The service does not confirm addresses this way. Ask the people who run it.' }
}

const messagePage = (addresses: AccountPageAddresses, { title, text }: PageMessage): string => page(title, addresses, '', `<p>${text}</p>`)

const script = 'new-password.js'
const style = 'account-pages.css'

/** The parts of the configuration that the pages depend on. */
type AccountPageConfig = Pick<Config, 'publicUrl' | 'rest' | 'responseHeaders' | 'startPage'>

/** Adds the routes of the pages, their script and their style. */
export function addAccountPages(app: FastifyInstance, config: AccountPageConfig): void {
  const below = publicPath(config.publicUrl)
  const policy = getPagePolicy(config, newPasswordPolicy)
  const action = `${below}${config.rest.prefix}/auth/reset-password`
  app.get(newPasswordPath, async (_request, reply) => {
    const html = newPasswordPage(await getAddresses(config), below + (await getAssetUrl(script)), action)
    return sendPage(reply, policy, html)
  })
  app.get(confirmedPath, (_request, reply) => sendMessage(reply, config, confirmed))
  for (const name of [script, style]) app.get(`${assetFolder}/${name}`, (_request, reply) => sendAsset(reply, name))
}

async function sendMessage(reply: FastifyReply, config: AccountPageConfig, message: PageMessage): Promise<FastifyReply> {
  return sendPage(reply, getPagePolicy(config, messagePolicy), messagePage(await getAddresses(config), message))
}

async function getAddresses({ publicUrl, startPage }: AccountPageConfig): Promise<AccountPageAddresses> {
  const below = publicPath(publicUrl)
  return { style: below + (await getAssetUrl(style)), picture: startPage ? `${below}/favicon.svg` : null }
}

const sendPage = (reply: FastifyReply, policy: string, html: string): FastifyReply =>
  reply.type('text/html; charset=utf-8').headers({ 'content-security-policy': policy, 'cache-control': 'no-store' }).send(html)

/** Responds to a refused confirmation link. @throws the error, if it is not for a page */
export async function refuseConfirmation({ error, request, reply, config, settings }: RefusedRequest): Promise<FastifyReply> {
  if (!(error instanceof ApiError) || error.status >= 500) throw error
  if (request.method !== 'GET' || !prefersPages(request.headers.accept)) throw error
  if ((await settings()).confirmationRedirection !== null) throw error
  noteFailure(request, error)
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  return sendMessage(reply.status(error.status), config, getRefusalMessage(error.status))
}

/** True if an `Accept` header prefers HTML to JSON by name; wildcards count for neither. */
export const prefersPages = (accept = ''): boolean => getWeight(accept, 'text/html') > getWeight(accept, 'application/json')

/** The weight that an `Accept` header gives a media type by its name; 0 if it does not name it. */
function getWeight(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}
