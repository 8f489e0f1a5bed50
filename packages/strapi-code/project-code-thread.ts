// Reads the code of a project on a separate thread: parsing does not delay requests, and its memory is released.
import { parentPort, workerData } from 'node:worker_threads'
import { type Configured, suggestDefaults, toLines } from './code-report.js'
import { readCode } from './found-code.js'

export interface ProjectCodeInput {
  readonly folder: string
  /** The names of all attributes of the model. */
  readonly attributes: readonly string[]
  readonly configured: Configured
}

const { folder, attributes, configured } = workerData as ProjectCodeInput
const found = readCode(folder, new Set(attributes))
parentPort!.postMessage({ lines: toLines(found, configured), suggestions: suggestDefaults(found, configured) })
