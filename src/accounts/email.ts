// Sends e-mails through SMTP. Without an SMTP server it logs that an e-mail was not sent, and in development also its text.

import type { RowReader } from '../database/database.js'
import { storedSetting } from '../documents/store/settings.js'
import { onceDone } from '../runtime/once-done.js'

/** The section `mail` of the configuration. */
export interface MailSettings {
  /** `smtp://user:password@host:port` or `smtps://…`; null: no e-mails are sent. */
  readonly url: string | null
  /** Overrides the sender in the template. */
  readonly from: string | null
}

/** A rendered e-mail. */
export interface Email {
  readonly to: string
  readonly from: string
  readonly replyTo?: string
  readonly subject: string
  readonly html: string
}

/** Sends e-mails in the background. */
export interface Mailer {
  /**
   * Sends an e-mail after a random delay of up to one second, so that the load of sending it does not reveal which request caused it, or
   * that there was an e-mail at all.
   */
  post(email: Email): void
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

/** Opens a mailer. `logsEmails`: without an SMTP server, the whole e-mail with its code is logged. */
export function openMailer({ url, from }: MailSettings, logsEmails: boolean, log: MailLog): Mailer {
  // Nodemailer is loaded where there is a server to send to.
  const opening = async () => (await import('nodemailer')).createTransport(url!)
  let opened: Awaited<ReturnType<typeof opening>> | null = null
  const transport = onceDone(async () => {
    opened = await opening()
    return opened
  })
  const waiting = new Map<NodeJS.Timeout, Email>()

  async function send(email: Email): Promise<void> {
    try {
      if (url !== null) {
        await (await transport()).sendMail({ ...email, from: from ?? email.from })
      } else if (logsEmails) {
        log.info(`E-mail is not configured (SMTP_URL). E-mail "${email.subject}" to ${email.to}: ${email.html}`)
      } else log.warn(`E-mail is not configured (SMTP_URL); the e-mail "${email.subject}" was not sent`)
    } catch (error) {
      log.error({ err: error }, 'could not send an e-mail')
    }
  }

  return {
    post: (email) => {
      const timer = setTimeout(() => {
        waiting.delete(timer)
        void send(email)
      }, Math.random() * maxDelay)
      waiting.set(timer, email)
    },
    close: async () => {
      for (const timer of waiting.keys()) clearTimeout(timer)
      const last = [...waiting.values()].map(send)
      await Promise.race([Promise.all(last), new Promise((resolve) => setTimeout(resolve, closeTimeout).unref())])
      opened?.close()
    },
  }
}

/** The e-mails with templates in Strapi's admin panel, by their key. */
export type EmailKind = 'reset_password' | 'email_confirmation'

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

/** Replaces each `<%= NAME %>` by its value; unknown names are removed. */
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

/** Writes a text so that HTML shows it. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
