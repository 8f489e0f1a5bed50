// Sends e-mails through SMTP. Without an SMTP server it logs that an e-mail was not sent, and in development also its text.
import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { onceDone } from '../../foundation/runtime/coalesce.js'
import { openTurns } from '../../foundation/runtime/queues.js'
import { bodyMembers, type FieldError, fieldError, fieldErrors, isEmailAddress } from './input.js'

/** The section `mail` of the configuration. */
interface MailSettings {
  /** `smtp://user:password@host:port` or `smtps://…`; null: no e-mails are sent. */
  readonly url: string | null
  /** The default sender. */
  readonly from: string | null
}

/** An e-mail that can be sent. Contents are texts: anything else could name a file or a URL. */
export interface Email {
  readonly to: string | readonly string[]
  readonly cc?: readonly string[]
  readonly bcc?: readonly string[]
  /** Null: the sender of the configuration. */
  readonly from: string | null
  readonly replyTo?: string | readonly string[]
  readonly subject: string
  readonly text?: string
  readonly html?: string
}

/** E-mails of callers and of code of the project that are sent concurrently, and that may wait. */
const maxConcurrent = 5
const maxQueue = 100

/** Sends e-mails in the background. */
export interface Mailer {
  /**
   * Sends an e-mail after a random delay of up to one second, so that the load of sending it does not reveal which request caused it, or
   * that there was an e-mail at all.
   */
  post(email: Email): void
  /**
   * Sends an e-mail now. Callers take turns. Without a mail server it is logged in development.
   * @throws ApiError 501 without a mail server; 503 if the server does not take it in time, or too many are being sent
   */
  send(email: Email, caller: string): Promise<void>
  /** Sends the waiting e-mails and closes the connection. */
  close(): Promise<void>
}

/** The part of the log that a mailer uses. */
interface MailLog {
  error(details: object, message: string): void
  info(message: string): void
  warn(message: string): void
}

/** In milliseconds: the maximum random delay of an e-mail, and how long a shutdown waits for the last ones. */
const maxDelay = 1_000
const closeTimeout = 5_000

/** The sender of a project that has configured none. */
const placeholderSender = 'no-reply@example.com'

/** An e-mail as a line of the log. */
const printedEmail = ({ to, subject, html, text }: Email): string =>
  `E-mail is not configured (SMTP_URL). E-mail "${subject}" to ${[to].flat().join(', ')}: ${html ?? text ?? ''}`

/** The sender of a project that did not choose one. */
const isPlaceholder = /@example\.(com|net|org)>?$/i

/** Says that mail servers will reject a sender. */
const sentenceOn = (sender: string): string =>
  `E-mails leave as ${sender}, which mail servers reject: set the sender of the project (MAIL_FROM)`

/** Time for the mail server to accept an e-mail. */
const mailTimeoutMs = 20_000
const timeouts = { connectionTimeout: mailTimeoutMs, greetingTimeout: mailTimeoutMs, socketTimeout: mailTimeoutMs }

/** Opens a mailer. `logsEmails`: without an SMTP server, the whole e-mail with its code is logged. */
export function openMailer({ url, from }: MailSettings, logsEmails: boolean, log: MailLog): Mailer {
  // Nodemailer is loaded where there is a server to send to.
  const opening = async () => (await import('nodemailer')).createTransport({ url: url!, ...timeouts })
  let opened: Awaited<ReturnType<typeof opening>> | null = null
  const transport = onceDone(async () => {
    opened = await opening()
    return opened
  })
  const sender = from ?? placeholderSender
  if (url !== null && isPlaceholder.test(sender)) log.warn(sentenceOn(sender))
  const waiting = new Map<NodeJS.Timeout, Email>()
  const { run } = openTurns(maxConcurrent, maxQueue, 'Too many e-mails are being sent')

  async function transmit(email: Email): Promise<void> {
    // Contents of files and URLs are never sent.
    const own = { from: email.from ?? sender, disableFileAccess: true, disableUrlAccess: true }
    const { to, cc = [], bcc = [], replyTo = [], ...content } = email
    const addresses = { to: [to].flat(), cc: [...cc], bcc: [...bcc], replyTo: [replyTo].flat() }
    await (await transport()).sendMail({ ...content, ...addresses, ...own })
  }

  async function sendLetter(email: Email): Promise<void> {
    try {
      if (url !== null) await transmit(email)
      else if (logsEmails) log.info(printedEmail(email))
      else log.warn(`E-mail is not configured (SMTP_URL); the e-mail "${email.subject}" was not sent`)
    } catch (error) {
      log.error({ err: error }, 'could not send an e-mail')
    }
  }

  async function send(email: Email, caller: string): Promise<void> {
    if (url === null) {
      if (!logsEmails) throw new ApiError('NotImplementedError', 'E-mail is not configured (SMTP_URL)')
      return log.info(printedEmail(email))
    }
    await run(caller, () => inTime(transmit(email), mailTimeoutMs)).catch((error: unknown) => {
      if (error instanceof ApiError) throw error
      log.error({ err: error }, 'could not send an e-mail')
      throw new ApiError('ServiceUnavailableError', 'The mail server did not take the e-mail')
    })
  }

  return {
    send,
    post: (email) => {
      const timer = setTimeout(() => {
        waiting.delete(timer)
        void sendLetter(email)
      }, Math.random() * maxDelay)
      waiting.set(timer, email)
    },
    close: async () => {
      for (const timer of waiting.keys()) clearTimeout(timer)
      const last = [...waiting.values()].map(sendLetter)
      await Promise.race([Promise.all(last), new Promise((resolve) => setTimeout(resolve, closeTimeout).unref())])
      opened?.close()
    },
  }
}

/** Limits work to `milliseconds`. @throws ApiError 503 beyond them */
async function inTime(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ApiError('ServiceUnavailableError', 'The mail server did not take the e-mail in time')),
      milliseconds,
    )
  })
  await Promise.race([work, end]).finally(() => clearTimeout(timer))
}

/** The e-mails with templates in Strapi's admin panel, by their key. */
type EmailKind = 'reset_password' | 'email_confirmation'

interface Template {
  readonly options?: {
    readonly from?: { readonly name?: string; readonly email?: string }
    readonly response_email?: string
    readonly object?: string
    readonly message?: string
  }
}

/** Renders an e-mail from its stored template. Values are substituted; code in a template is not run. */
export async function renderEmail(
  database: RowReader,
  kind: EmailKind,
  to: string,
  values: Readonly<Record<string, string>>,
): Promise<Email> {
  const stored = (await storedSetting(database, 'plugin_users-permissions_email')) ?? {}
  const templates = stored as Readonly<Partial<Record<EmailKind, Template>>>
  const { from, response_email = '', object = '', message = '' } = templates[kind]?.options ?? {}
  const html = fillIn(message, values, escapeHtml)
  return {
    to,
    from: senderOf(from),
    ...(response_email === '' ? {} : { replyTo: response_email }),
    subject: fillIn(object, values, (value) => value.replaceAll(/[\r\n]/g, ' ')),
    text: textOfHtml(html),
    html,
  }
}

/** The initial senders of templates. */
const firstSenders: readonly string[] = [placeholderSender, 'no-reply@strapi.io']

/** The configured sender of a template; null if there is none. */
function senderOf(from: { readonly name?: string; readonly email?: string } | undefined): string | null {
  const address = from?.email ?? ''
  if (!isEmailAddress(address) || firstSenders.includes(address.toLowerCase())) return null
  const name = (from?.name ?? '').replaceAll(/["\r\n\\]/g, '')
  return name === '' ? address : `"${name}" <${address}>`
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', amp: '&' }

/** Tags after which a line ends. */
const lineEnds = /^(?:br|\/p|\/div|\/li|\/h\d|\/tr)$/

/** The text of a simple HTML page: paragraphs as lines, the address of a link after its text. */
function textOfHtml(html: string): string {
  let text = ''
  let link: { readonly address: string; readonly start: number } | null = null
  const [begin = '', ...pieces] = html.split('<')
  text += begin
  for (const piece of pieces) {
    const close = piece.indexOf('>')
    const tag = piece.slice(0, Math.max(0, close))
    const name = (/^\/?\w{1,20}/.exec(tag)?.[0] ?? '').toLowerCase()
    if (name === 'a') link = { address: hrefOf(tag), start: text.length }
    if (name === '/a' && link !== null) {
      if (link.address !== '' && text.slice(link.start).trim() !== link.address) text += ` (${link.address})`
      link = null
    }
    if (lineEnds.test(name)) text += '\n'
    text += piece.slice(close + 1)
  }
  const lines = text.replaceAll(/&(lt|gt|quot|#39|nbsp|amp);/g, (_, name: string) => entities[name]!).split('\n')
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/** The address in the tag of a link; empty without one. */
function hrefOf(tag: string): string {
  const start = tag.toLowerCase().indexOf('href="')
  return start === -1 ? '' : tag.slice(start + 6).split('"', 1)[0]!
}

/** Replaces each `<%= NAME %>` by its value; unknown names are removed. */
function fillIn(template: string, values: Readonly<Record<string, string>>, escaped: (value: string) => string): string {
  let filled = ''
  let rest = 0
  for (;;) {
    const open = template.indexOf('<%', rest)
    const close = open === -1 ? -1 : template.indexOf('%>', open + 2)
    if (close === -1) return filled + template.slice(rest)
    const name = template
      .slice(open + 2, close)
      .replace(/^[=-]/, '')
      .trim()
    filled += template.slice(rest, open) + (Object.hasOwn(values, name) ? escaped(values[name]!) : '')
    rest = close + 2
  }
}

/** Writes a text so that HTML shows it. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')

/** The page for a new password. */
export const newPasswordPath = '/_octavo/new-password'
/** The target of confirmation links. */
export const confirmedPath = '/_octavo/email-confirmed'

/** The path that a proxy serves the service below; empty without one. */
export const publicPath = (publicUrl: string): string => new URL(publicUrl).pathname.replace(/\/$/, '')

/**
 * The URL of the page for a new password in a template. The code follows the `#`, so browsers do not send it with a request: it is
 * in no access log, no proxy and no `Referer`.
 */
export const newPasswordUrl = (publicUrl: string): string => `${publicUrl}${newPasswordPath}#`

/** Templates add `?code=…` to the URL of a page. After a `#` the question mark has no meaning. */
export function withPlainFragment(letter: Email, url: string): Email {
  const plain = (text: string | undefined) => text?.replaceAll(`${url}?`, url)
  const { text, html } = letter
  return { ...letter, ...(text === undefined ? {} : { text: plain(text)! }), ...(html === undefined ? {} : { html: plain(html)! }) }
}

/** Characters of the longest subject, and of a name before an address. */
const longestSubject = 998
const longestName = 200

const known = ['to', 'cc', 'bcc', 'from', 'replyTo', 'subject', 'text', 'html']

/** Control characters, which would begin another header. */
const controls = /\p{Cc}/u

/** True for `name@example.org` and `Name <name@example.org>`. */
function isMailbox(text: unknown): text is string {
  if (typeof text !== 'string' || controls.test(text)) return false
  const [, name, address] = /^([^<>,;]*)<([^<>]+)>$/.exec(text.trim()) ?? [null, '', text.trim()]
  return name!.length <= longestName && isEmailAddress(address!)
}

/** `to`, `cc` and `bcc` together. */
const maxRecipients = 50

/**
 * Reads an e-mail.
 * @throws ApiError 400 with all that is wrong
 */
export function readEmail(body: unknown): Email {
  const given = bodyMembers(body)
  const errors: FieldError[] = []
  const wrong = (name: string, message: string): void => void errors.push(fieldError(name, message))
  const list = (name: string): readonly string[] => {
    const value = given[name]
    if (value === undefined || value === null || value === '') return []
    const all: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value]
    if (all.length > maxRecipients) {
      wrong(name, `${name} has more than ${maxRecipients} addresses`)
      return []
    }
    if (all.every(isMailbox)) return all.map((one) => one.trim())
    wrong(name, `${name} must be an e-mail address, or several`)
    return []
  }
  const text = (name: string): string | undefined => {
    const value = given[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') return value
    wrong(name, `${name} must be a text`)
    return undefined
  }
  const [to, cc, bcc, replyTo, from] = [list('to'), list('cc'), list('bcc'), list('replyTo'), list('from')]
  const [subject = '', plain, html] = [text('subject'), text('text'), text('html')]
  if (to.length === 0 && !errors.some(({ path }) => path[0] === 'to')) wrong('to', 'to is a required field')
  if (to.length + cc.length + bcc.length > maxRecipients) wrong('to', `An e-mail has at most ${maxRecipients} recipients`)
  if (from.length > 1) wrong('from', 'from must be one e-mail address')
  if (subject === '' && !errors.some(({ path }) => path[0] === 'subject')) wrong('subject', 'subject is a required field')
  if (subject.length > longestSubject || controls.test(subject))
    wrong('subject', `subject must be one line of at most ${longestSubject} characters`)
  if (plain === undefined && html === undefined) wrong('text', 'text or html is a required field')
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    wrong(unknown[0]!, `An e-mail has no ${unknown.slice(0, 10).join(', ').slice(0, 200)}; it has ${known.join(', ')}`)
  if (errors.length > 0) throw fieldErrors(errors)
  return {
    ...{ to, cc, bcc, replyTo, from: from[0] ?? null, subject },
    ...(plain === undefined ? {} : { text: plain }),
    ...(html === undefined ? {} : { html }),
  }
}
