// The service's own pages for users, to which letters and links lead as long as the settings of the project name no others.
import type { Email } from './email.js'

/** Where users choose a new password. */
export const newPasswordPath = '/_octavo/new-password'
/** Where a confirmation link leads. */
export const confirmedPath = '/_octavo/email-confirmed'

/** The path that a proxy serves the service below; empty without one. */
export const publicPath = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '')

/**
 * What a template has as the URL of the page for a new password. The code comes behind the `#`, so no browser sends it with a request: it is
 * in no access log, no proxy and no `Referer`.
 */
export const newPasswordUrl = (publicUrl: string): string => `${publicUrl}${newPasswordPath}#`

/** Templates add `?code=…` to the URL of a page. The question mark says nothing behind a `#`. */
export function withPlainFragment(letter: Email, url: string): Email {
  const plain = (text: string | undefined) => text?.replaceAll(`${url}?`, url)
  const { text, html } = letter
  return { ...letter, ...(text === undefined ? {} : { text: plain(text)! }), ...(html === undefined ? {} : { html: plain(html)! }) }
}
