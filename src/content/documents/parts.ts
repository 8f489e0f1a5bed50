// What the document service works with: the reads and writes of the installation in force.
import type { DocumentBatch } from './batch.js'
import type { DocumentReads as Reads } from './read/find.js'
import type { DocumentWrites } from './write.js'

/** The reads and writes of one installation. */
export interface Parts {
  readonly documents: Reads
  readonly writes: DocumentWrites
  readonly batch: DocumentBatch
}

/** Runs work with the installation in force, which lasts until the work has ended. */
export type WithParts = <Result>(work: (parts: Parts) => Promise<Result>) => Promise<Result>
