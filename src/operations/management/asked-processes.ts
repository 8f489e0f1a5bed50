// How the main process asks a service process how it is: one question at a time, and another one once it has waited in vain, so that little queues for a process that is busy.
import type { Worker } from 'node:cluster'
import { managementLimits } from '../../foundation/config/management.js'
import { within } from '../../foundation/runtime/clock.js'
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
  const open = new Map<number, (report: ServingReport | null) => void>()
  const waiting = new Map<boolean, Promise<ServingReport | null>>()
  const end = (id: number, report: ServingReport | null): void => {
    open.get(id)?.(report)
    open.delete(id)
  }
  worker.on('message', (message: ServingReport) => {
    if (message.kind !== 'report') return
    last = message.metrics ?? last
    if (message.id !== null) end(message.id, message)
  })
  worker.on('exit', () => {
    for (const id of open.keys()) end(id, null)
  })

  function ask(metrics: boolean): Promise<ServingReport | null> {
    if (!worker.isConnected()) return Promise.resolve(null)
    const id = ++asked
    return new Promise((resolve) => {
      open.set(id, resolve)
      worker.send({ kind: 'question', id, metrics } satisfies ReportQuestion, (error) => {
        if (error !== null) end(id, null)
      })
    })
  }

  return {
    ask: (metrics) => {
      const before = waiting.get(metrics)
      if (before !== undefined) return before
      const answer = ask(metrics)
      waiting.set(metrics, answer)
      // A question that got lost must not keep the next one from being asked.
      void within(managementLimits.reportWait, answer).then(() => waiting.delete(metrics))
      return answer
    },
    lastMetrics: () => last,
  }
}
