// The metrics of several processes as those of one service: each is summed, averaged or taken once, as it says itself.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { addProcessMetrics } from './process-metrics.js'

/** The metrics of a process as values. */
export type ProcessMetrics = readonly MetricObjectWithValues<MetricValue<string>>[]

/** The metrics of all processes of a service. */
export interface SummedMetrics {
  readonly contentType: string
  /** Keeps what a process has counted that has ended, so that no sum becomes less. */
  keep(ended: ProcessMetrics): Promise<void>
  /** All metrics as text: of these processes, of this one, and of those that have been kept by now. */
  text(running: readonly ProcessMetrics[]): Promise<string>
}

/** The kinds of metrics that only become more. */
const counting = new Set(['counter', 'histogram', 'summary'])

const summed = (all: readonly ProcessMetrics[]): Registry =>
  AggregatorRegistry.aggregate(all as MetricObjectWithValues<MetricValue<string>>[][])

/** Opens the sum, with the default metrics of this process. */
export function openSummedMetrics(): SummedMetrics {
  const own = new Registry()
  addProcessMetrics(own)
  let past: Promise<ProcessMetrics> = Promise.resolve([])
  return {
    contentType: own.contentType,
    keep: async (ended) => {
      const counted = ended.filter(({ type }) => counting.has(String(type)))
      past = past.then((before) =>
        summed([before, counted])
          .getMetricsAsJSON()
          .catch(() => before),
      )
      await past
    },
    // `past` is read at the moment of the call, so that nothing is in both.
    text: async (running) => summed([await past, ...running, await own.getMetricsAsJSON()]).metrics(),
  }
}
