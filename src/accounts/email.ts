// Letters: through SMTP where it is configured; without it the log tells that there was one, and what it says in development only.

import { storedSetting } from '../access/account-settings.js'
import type { MainConnection } from '../database/database.js'

export interface MailSettings {
  /** `smtp://user:password@host:port` or `smtps://…`; null: there is no mail. */
  readonly url: string | null
  /** Replaces the sender that the letter's template names. */
  readonly from: string | null
}

export interface Email {
  readonly to: string
  readonly from: string
  readonly replyTo?: string
  readonly subject: string
  readonly html: string
}

export interface Mailer {
  /**
   * Sends a letter within a second, at a moment left to chance: what the service does besides tells nobody whose request it was, or
   * that there was a letter at all.
   */
  post(letter: Email): void
  /** Sends what is still waiting, and ends. */
  close(): Promise<void>
}

/** What a mailer tells whoever runs the service. */
interface Log {
  error(details: object, message: string): void
  info(message: string): void
  warn(message: string): void
}

/** Milliseconds within which a letter is sent, and that the end of the service waits for the last ones. */
const spread = 1_000
const patience = 5_000

/** `logsEmails`: without SMTP they are written to the log, codes and all. */
export function openMailer({ url, from }: MailSettings, logsEmails: boolean, log: Log): Mailer {
  // Loaded with the first letter: a start need not wait for it.
  const opening = (address: string) => import('nodemailer').then(({ createTransport }) => createTransport(address))
  let transport: ReturnType<typeof opening> | undefined
  const waiting = new Map<NodeJS.Timeout, Email>()

  async function send(letter: Email): Promise<void> {
    try {
      if (url !== null) {
        transport ??= opening(url)
        await (await transport).sendMail({ ...letter, from: from ?? letter.from })
      } else if (logsEmails) {
        log.info(`No mail is configured (SMTP_URL). The letter "${letter.subject}" to ${letter.to} would say: ${letter.html}`)
      } else log.warn(`No mail is configured (SMTP_URL): the letter "${letter.subject}" was not sent`)
    } catch (error) {
      log.error({ err: error }, 'a letter could not be sent')
    }
  }

  return {
    post: (letter) => {
      const timer = setTimeout(() => {
        waiting.delete(timer)
        void send(letter)
      }, Math.random() * spread)
      waiting.set(timer, letter)
    },
    close: async () => {
      for (const timer of waiting.keys()) clearTimeout(timer)
      const last = [...waiting.values()].map(send)
      await Promise.race([Promise.all(last), new Promise((resolve) => setTimeout(resolve, patience).unref())])
      ;(await transport)?.close()
    },
  }
}

/** The letters that Strapi's admin has templates for, by their key there. */
export type EmailKind = 'reset_password' | 'email_confirmation'

interface Template {
  readonly options?: {
    readonly from?: { readonly name?: string; readonly email?: string }
    readonly response_email?: string
    readonly object?: string
    readonly message?: string
  }
}

/** Fills a letter's template in. Values are substituted, nothing in a template is run. */
export async function renderEmail(
  database: Pick<MainConnection, 'rows'>,
  kind: EmailKind,
  to: string,
  values: Readonly<Record<string, string>>,
): Promise<Email> {
  const stored = (await storedSetting(database, 'plugin_users-permissions_email')) ?? {}
  const templates = stored as Readonly<Partial<Record<EmailKind, Template>>>
  const { from, response_email = '', object = '', message = '' } = templates[kind]?.options ?? {}
  const name = (from?.name ?? '').replaceAll(/["\r\n\\]/g, '')
  const address = from?.email ?? 'no-reply@example.com'
  return {
    to,
    from: name === '' ? address : `"${name}" <${address}>`,
    ...(response_email === '' ? {} : { replyTo: response_email }),
    subject: fillIn(object, values, (value) => value.replaceAll(/[\r\n]/g, ' ')),
    html: fillIn(message, values, escapeHtml),
  }
}

/** `<%= NAME %>` becomes the value; unknown names vanish. */
export function fillIn(template: string, values: Readonly<Record<string, string>>, escaped: (value: string) => string): string {
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

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
