// How the main process asks a service process how it is: one question at a time, so that nothing queues for a process that hangs.
import type { Worker } from 'node:cluster'
import type { ProcessMetrics } from '../metrics/summed-metrics.js'
import type { ReportQuestion, ServingReport } from './serving-report.js'

/** A service process, as the management port knows it. */
export interface AskedProcess {
  /** Resolves to null if the process ends before it answers; it may take as long as the process hangs. */
  ask(metrics: boolean): Promise<ServingReport | null>
  /** The last metrics that it has reported; null: none. */
  lastMetrics(): ProcessMetrics | null
}

/** Prepares to ask a process. */
export function askedProcess(worker: Worker): AskedProcess {
  let asked = 0
  let last: ProcessMetrics | null = null
  const waiting = new Map<boolean, Promise<ServingReport | null>>()
  worker.on('message', (message: ServingReport) => {
    if (message.kind === 'report') last = message.metrics ?? last
  })

  function ask(metrics: boolean): Promise<ServingReport | null> {
    const id = ++asked
    return new Promise((resolve) => {
      const end = (report: ServingReport | null): void => {
        worker.off('message', received).off('exit', ended)
        waiting.delete(metrics)
        resolve(report)
      }
      const ended = (): void => end(null)
      const received = (message: ServingReport): void => {
        if (message.kind === 'report' && message.id === id) end(message)
      }
      worker.on('message', received).on('exit', ended)
      if (!worker.isConnected()) return ended()
      worker.send({ kind: 'question', id, metrics } satisfies ReportQuestion, (error) => {
        if (error !== null) ended()
      })
    })
  }

  return {
    ask: (metrics) => {
      const answer = waiting.get(metrics) ?? ask(metrics)
      waiting.set(metrics, answer)
      return answer
    },
    lastMetrics: () => last,
  }
}
