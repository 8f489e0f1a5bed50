// The public types of e-mails by code of a project.

/** One address or several, each as `name@example.org` or `Name <name@example.org>`. */
export type MailAddresses = string | readonly string[]

/** An e-mail. It has a text, HTML or both. */
export interface Mail {
  readonly to: MailAddresses
  readonly cc?: MailAddresses
  readonly bcc?: MailAddresses
  /** Default: the sender of the project (`MAIL_FROM`). */
  readonly from?: string
  readonly replyTo?: MailAddresses
  readonly subject: string
  readonly text?: string
  readonly html?: string
}

/**
 * Sends an e-mail through the mail server of the project, and resolves when that has taken it. In development without a mail server it is
 * logged. Throws an `ApiError`: 400 for an e-mail that cannot be, 501 without a mail server, 503 if it does not take the e-mail.
 */
export type SendMail = (mail: Mail) => Promise<void>
