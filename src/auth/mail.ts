// Letters: through SMTP where it is configured; without it they are written to the log, with their codes in development only.
import type { DirectDatabase } from '../database/database.js'
import { storedSetting } from './settings.js'

export interface MailSettings {
  /** `smtp://user:password@host:port` or `smtps://…`; null: there is no mail. */
  readonly url: string | null
  /** Replaces the sender that the letter's template names. */
  readonly from: string | null
}

export interface Letter {
  readonly to: string
  readonly from: string
  readonly replyTo?: string
  readonly subject: string
  readonly html: string
}

export interface Mail {
  send(letter: Letter): Promise<void>
  close(): void
}

/** What a mailer tells whoever runs the service. */
interface Log {
  info(message: string): void
  warn(message: string): void
}

export function openMail({ url, from }: MailSettings, production: boolean, log: Log): Mail {
  if (url === null) {
    return {
      send: async (letter) => {
        if (production) log.warn(`No mail is configured (SMTP_URL): the letter "${letter.subject}" was not sent`)
        else log.info(`No mail is configured (SMTP_URL). The letter "${letter.subject}" to ${letter.to} would say: ${letter.html}`)
      },
      close: () => {},
    }
  }
  // Loaded with the first letter: a start need not wait for it.
  const opening = (address: string) => import('nodemailer').then(({ createTransport }) => createTransport(address))
  let transport: ReturnType<typeof opening> | undefined
  return {
    send: async (letter) => {
      transport ??= opening(url)
      await (await transport).sendMail({ ...letter, from: from ?? letter.from })
    },
    close: () => void transport?.then((opened) => opened.close()),
  }
}

/** The letters that Strapi's admin has templates for, by their key there. */
export type LetterKind = 'reset_password' | 'email_confirmation'

interface Template {
  readonly options?: {
    readonly from?: { readonly name?: string; readonly email?: string }
    readonly response_email?: string
    readonly object?: string
    readonly message?: string
  }
}

/** Fills a letter's template in. Values are substituted, nothing in a template is run. */
export async function writeLetter(
  database: Pick<DirectDatabase, 'rows'>,
  kind: LetterKind,
  to: string,
  values: Readonly<Record<string, string>>,
): Promise<Letter> {
  const stored = (await storedSetting(database, 'plugin_users-permissions_email')) ?? {}
  const templates = stored as Readonly<Partial<Record<LetterKind, Template>>>
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
  return template.replaceAll(/<%[=-]?\s*([\s\S]*?)\s*%>/g, (_, name: string) => (Object.hasOwn(values, name) ? escaped(values[name]!) : ''))
}

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
