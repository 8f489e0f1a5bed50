// Reports of a service process to the main process, which has the management port.
import { managementLimits } from '../../foundation/config/management.js'
import { pause } from '../../foundation/runtime/clock.js'
import type { ProcessMetrics } from '../metrics/registry.js'
import type { FailingPart } from './server.js'

/** The main process asks. `metrics`: for these too. */
export interface ReportQuestion {
  readonly kind: 'question'
  readonly id: number
  readonly metrics: boolean
}

/** The answer; without a question when the process ends. */
export interface ServingReport {
  readonly kind: 'report'
  /** Null: the process ends. */
  readonly id: number | null
  /** Lag of the event loop in milliseconds. */
  readonly lag: number
  /** The parts that keep the service from serving. */
  readonly failing: readonly FailingPart[]
  /** Null: not requested. */
  readonly metrics: ProcessMetrics | null
}

export interface ReportParts {
  lag(): number
  failing(): readonly FailingPart[]
  /** `isLast`: the service is closed, and is asked nothing. */
  metrics(isLast: boolean): Promise<ProcessMetrics>
}

/** Responds to the main process until it is closed, then sends the last counts. */
export function reportToMain({ lag, failing, metrics }: ReportParts): {
  readonly listen: () => Promise<void>
  readonly close: () => Promise<void>
} {
  const send = (report: Omit<ServingReport, 'kind' | 'lag' | 'failing'>): Promise<void> =>
    new Promise((resolve) => {
      const sent = process.send?.({ kind: 'report', lag: lag(), failing: failing(), ...report } satisfies ServingReport, () => resolve())
      if (sent === undefined) resolve()
    })
  const answer = async (message: ReportQuestion): Promise<void> => {
    if (message.kind === 'question') await send({ id: message.id, metrics: message.metrics ? await metrics(false) : null })
  }
  process.on('message', answer)
  return {
    listen: async () => {},
    close: async () => {
      process.off('message', answer)
      const last = metrics(true).then((values) => send({ id: null, metrics: values }))
      await Promise.race([last, pause(managementLimits.closing)])
    },
  }
}
