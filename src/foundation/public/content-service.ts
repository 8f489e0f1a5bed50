// The public types of what scripts, hooks, routes and schedules read and write content by.
import type { Uid } from './content/content-types.js'
import type { AnyText } from './content/selection.js'
import type { DescribeWrites, DocumentService, DocumentsOf, Transact, TransactionOptions, UidArgument, WrittenAs } from './documents.js'
import type { FileUpload, Upload, UploadedFile } from './uploads.js'

/** Reads and writes of content without restrictions. */
export interface ContentService {
  readonly documents: DocumentService
  readonly transaction: Transact
  readonly upload: Upload
  readonly mail: SendMail
}

/** Reads and writes of content with the permissions, scopes and policies of a caller. */
export interface CallerContentService {
  readonly documents: <Type extends Uid | AnyText | object>(uid: UidArgument<Type>) => DocumentsOf<Type>
  readonly transaction: <const Given>(
    describe: (write: DescribeWrites) => Given,
    options?: Omit<TransactionOptions, 'grants'>,
  ) => Promise<WrittenAs<Given>>
  readonly upload: (file: FileUpload) => Promise<UploadedFile>
  /** Not restricted by permissions of the caller. */
  readonly mail: SendMail
}

/** Writes lines to the log of the service, with the name of the code, and the id of the request where there is one. */
export interface CodeLog {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

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
