// The media library for one administrator: its reads, its writes, and who asks.

import type { DocumentReads } from '../../content/documents/read/find.js'
import type { FileWatch, Library } from '../../content/media/library.js'
import type { Transaction, WriteDatabase } from '../../database/database.js'
import type { Model } from '../../model/schema/types.js'
import type { ActingAdministrator } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'

/** The media library for one administrator, in one request. */
export interface MediaAccess {
  readonly administration: Administration
  readonly administrator: Administrator
  readonly actor: ActingAdministrator
  readonly documents: DocumentReads
  readonly library: Library
  readonly model: Model
  /** Null: nobody listens to what happens to files. */
  readonly watch: FileWatch | null
  /** True if every file in a response states whether its URL is signed. */
  readonly signsAddresses: boolean
}

/** The writer of the administration, which wakes those who listen to what happens to files after a commit. */
export function watchedWriter({ administration, watch }: MediaAccess): WriteDatabase {
  const { writer } = administration
  return {
    ...writer,
    transaction: async <Result>(work: (transaction: Transaction) => Promise<Result>) => {
      const result = await writer.transaction(work)
      watch?.committed()
      return result
    },
  }
}
