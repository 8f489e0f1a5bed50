// The public types of what scripts, hooks, routes and schedules read and write content by.
import type { Uid } from './content/content-types.js'
import type { AnyText } from './content/selection.js'
import type { DocumentService, DocumentsOf, UidArgument } from './documents.js'
import type { SendMail } from './mail.js'
import type { DescribeWrites, Transact, TransactionOptions } from './transactions.js'
import type { FileUpload, Upload, UploadedFile } from './uploads.js'
import type { WrittenAs } from './write-results.js'

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
  /** Not restricted: the route decides what it sends. */
  readonly mail: SendMail
}
