// What scripts, hooks, routes and schedules read and write content by: documents, transactions and uploads, for one actor.
import type { Actor } from '../documents/actor.js'
import { openService } from '../documents/service.js'
import { openTransactions } from '../documents/transaction.js'
import type { ContentService } from '../public/content-service.js'
import { openUploadService, type UploadOptions } from './upload.js'

/** What content is read and written with. */
export interface ContentOptions extends UploadOptions {
  /** The most writes of one transaction. */
  readonly maxWrites: number
}

/** Returns the content service of an actor. */
export type ContentServices = (actor: Actor) => ContentService

/** Opens the content services of a project's code. */
export function openContentServices(options: ContentOptions): ContentServices {
  const { withInstallation, maxWrites } = options
  return (actor) => ({
    documents: openService(withInstallation, actor, maxWrites),
    transaction: openTransactions(withInstallation, actor, maxWrites),
    upload: openUploadService(options, actor),
  })
}
