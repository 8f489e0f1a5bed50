// What scripts, hooks, routes and schedules read and write content by: documents, transactions and uploads, for one actor; and their e-mails.
import type { Config } from '../config/config.js'
import type { Actor } from '../documents/actor.js'
import { openService } from '../documents/service.js'
import { openTransactions } from '../documents/transaction.js'
import type { ContentService } from '../public/content-service.js'
import type { SendMail } from '../public/mail.js'
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
