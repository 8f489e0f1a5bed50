// Examines a project while its service runs: in a separate process, one at a time, with a time limit.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { type DoctorReport, type DoctorSettings, doctorTimeout, type FromDoctorProcess, type ToDoctorProcess } from './examine.js'

export interface Doctor {
  /**
   * Runs all checks; concurrent callers share one report.
   * @throws ApiError 503 after `limits.routeTimeout`, at least 30 seconds; Error if the checks failed to run
   */
  examine(model: Model): Promise<DoctorReport>
  /** Aborts an examination. */
  close(): void
}

export function openDoctor({ database, uploadsFolder, limits }: DoctorSettings): Doctor {
  let running: { readonly child: ChildProcess; readonly report: Promise<DoctorReport> } | null = null

  function begin(model: Model): Promise<DoctorReport> {
    const child = start()
    const report = reportOfProcess(child, { settings: { database, uploadsFolder, limits }, model }).finally(() => {
      child.kill('SIGKILL')
      running = null
    })
    running = { child, report }
    return report
  }

  return {
    examine: (model) => running?.report ?? begin(model),
    close: () => void running?.child.kill('SIGKILL'),
  }
}

function start(): ChildProcess {
  const file = fileURLToPath(new URL('./doctor-process.js', import.meta.url))
  return spawn(process.execPath, [file], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
}

function reportOfProcess(child: ChildProcess, asked: ToDoctorProcess): Promise<DoctorReport> {
  const time = doctorTimeout(asked.settings.limits)
  return new Promise((resolve, reject) => {
    const late = `The checks took longer than ${time} milliseconds (limits.routeTimeout, at least 30000); run npx octavo doctor`
    const timer = setTimeout(() => reject(new ApiError('ServiceUnavailableError', late)), time)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      settle()
    }
    child.on('message', (message: FromDoctorProcess) =>
      end(() => ('report' in message ? resolve(message.report) : reject(new Error(`octavo doctor: ${message.failure}`)))),
    )
    child.on('error', (error) => end(() => reject(error)))
    child.on('exit', (code, signal) => {
      const stopped = new ApiError('ServiceUnavailableError', 'The checks were ended before they were through')
      end(() => reject(signal === 'SIGKILL' ? stopped : new Error(`octavo doctor ended with ${signal ?? `status ${code}`}`)))
    })
    child.send(asked, (error) => error !== null && end(() => reject(error)))
  })
}
