// Reads the code of a project on a thread of its own, so that parsing does not hold up requests, and its memory is given back.
import { parentPort, workerData } from 'node:worker_threads'
import { type Configured, linesOf, suggestionsOf } from './code-report.js'
import { readCode } from './found-code.js'

/** What the thread is given. */
export interface ProjectCodeInput {
  readonly folder: string
  /** The names of all attributes of the model. */
  readonly attributes: readonly string[]
  readonly configured: Configured
}

const { folder, attributes, configured } = workerData as ProjectCodeInput
const found = readCode(folder, new Set(attributes))
parentPort!.postMessage({ lines: linesOf(found, configured), suggestions: suggestionsOf(found, configured) })
