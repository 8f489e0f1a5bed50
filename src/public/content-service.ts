// The public types of what scripts, hooks, routes and schedules read and write content by.
import type { Document, DocumentService, Documents } from './documents.js'
import type { DescribeWrites, Transact, TransactionOptions, WrittenAs } from './transactions.js'
import type { FileUpload, Upload, UploadedFile } from './uploads.js'

/** Reads and writes of content without restrictions. */
export interface ContentService {
  readonly documents: DocumentService
  readonly transaction: Transact
  readonly upload: Upload
}

/** Reads and writes of content with the permissions, scopes and policies of a caller. */
export interface CallerContentService {
  readonly documents: <Shape = Document>(uid: string) => Documents<Shape>
  readonly transaction: <const Given>(
    describe: (write: DescribeWrites) => Given,
    options?: Omit<TransactionOptions, 'grants'>,
  ) => Promise<WrittenAs<Given>>
  readonly upload: (file: FileUpload) => Promise<UploadedFile>
}
