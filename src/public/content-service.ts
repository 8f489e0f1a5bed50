// The public type of what scripts, hooks, routes and schedules read and write content by.
import type { DocumentService } from './documents.js'
import type { Transact } from './transactions.js'
import type { Upload } from './uploads.js'

/** Reads and writes of content. */
export interface ContentService {
  readonly documents: DocumentService
  readonly transaction: Transact
  readonly upload: Upload
}
