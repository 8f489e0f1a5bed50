// Starts the thread that reads the code of a project, and waits for the result.
import { Worker } from 'node:worker_threads'
import type { CodeLine, SuggestedDefaults } from './code-report.js'
import type { ProjectCodeInput } from './project-code-thread.js'

export interface ProjectCode {
  readonly lines: readonly CodeLine[]
  readonly suggestions: readonly SuggestedDefaults[]
}

/** Milliseconds after which reading is given up. */
const patience = 30_000

/** Reads the code of a project. The thread does not keep the process alive. @throws Error if it fails or takes too long */
export async function readProjectCode(input: ProjectCodeInput): Promise<ProjectCode> {
  const worker = new Worker(new URL('./project-code-thread.js', import.meta.url), {
    workerData: input,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  worker.unref()
  const timer = setTimeout(() => void worker.terminate(), patience).unref()
  try {
    return await new Promise<ProjectCode>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error(`reading it took more than ${patience} ms`)))
    })
  } finally {
    clearTimeout(timer)
  }
}
