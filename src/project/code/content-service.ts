// What scripts, hooks, routes and schedules read and write content by: documents, transactions and uploads, for one actor; and their e-mails.

import type { Actor } from '../../content/documents/actor.js'
import { openService } from '../../content/documents/service.js'
import { openTransactions } from '../../content/documents/transaction.js'
import type { Config } from '../../foundation/config/config.js'
import type { ContentService } from '../../foundation/public/content-service.js'
import type { SendMail } from '../../foundation/public/mail.js'
import { openUploadService, type UploadServiceOptions } from './upload.js'

/** Returns the content service of an actor. */
export type ContentServices = (actor: Actor) => ContentService

/** Opens the content services of a project's code. */
export function openContentServices(
  { folder, limits }: Config,
  mail: SendMail,
  options: Omit<UploadServiceOptions, 'folder'>,
): ContentServices {
  const { withInstallation } = options
  const maxWrites = limits.transactionOperations
  return (actor) => ({
    documents: openService(withInstallation, actor, maxWrites),
    transaction: openTransactions(withInstallation, actor, maxWrites),
    upload: openUploadService({ ...options, folder }, actor),
    mail,
  })
}
