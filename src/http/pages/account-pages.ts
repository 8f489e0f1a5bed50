// The pages for users that the service has itself: one for a new password, and those that say what became of a confirmation link. They show
// nothing of a request, and name nobody: users know the site that wrote to them, not the service behind it.
import { escapeHtml } from './escape-html.js'

/** What the pages refer to, as paths. */
export interface AccountPageAddresses {
  readonly style: string
  /** The picture of the service; null: it has none. */
  readonly picture: string | null
}

const policyWith = (more: string): string =>
  `default-src 'none'; ${more}style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The policy of the page for a new password: its own script, and requests to this origin. */
export const newPasswordPolicy = policyWith("script-src 'self'; connect-src 'self'; ")
/** The policy of pages without a script. */
export const messagePolicy = policyWith('')

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
export const newPasswordPage = (addresses: AccountPageAddresses, script: string, action: string): string =>
  page(
    'Choose a new password',
    addresses,
    `<script type="module" src="${escapeHtml(script)}"></script>\n`,
    `<p id="unscripted">This page needs JavaScript, which does not run here.</p>
<p id="incomplete" hidden>This page needs the link of the letter: open it once more. It works until the password is set or the link expires.</p>
<form data-action="${escapeHtml(action)}" hidden>
<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" aria-describedby="result" required>
<label for="repeated">New password, once more</label>
<input id="repeated" type="password" autocomplete="new-password" aria-describedby="result" required>
<button>Set the password</button>
</form>
<p id="result" role="status" tabindex="-1"></p>`,
  )

/** What a page without a script says. */
export interface PageMessage {
  readonly title: string
  readonly text: string
}

/** After a confirmation link. */
export const confirmed: PageMessage = {
  title: 'Your e-mail address is confirmed',
  text: 'You can close this page and sign in.',
}

/** After a confirmation link that was refused with this status. */
export function refusedWith(status: number): PageMessage {
  if (status === 429) return { title: 'Too many attempts', text: 'Wait a minute, then open the link again.' }
  if (status === 400)
    return {
      title: 'This link confirms no address',
      text: 'It is not complete, it has expired, or a newer letter has replaced it. Open the link of the last letter. If that does not help, ask for another letter where you signed up.',
    }
  return { title: 'This link cannot be used here', text: 'The service does not confirm addresses this way. Ask the people who run it.' }
}

/** A page that says something. */
export const messagePage = (addresses: AccountPageAddresses, { title, text }: PageMessage): string =>
  page(title, addresses, '', `<p>${text}</p>`)
