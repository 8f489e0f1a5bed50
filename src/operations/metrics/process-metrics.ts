// The metrics of a process itself: CPU, memory, file descriptors, its event loop.
import { collectDefaultMetrics, type Registry } from 'prom-client'

/** Of the event loops of several processes the average hides the one that is late: of these, the largest value counts. */
const ofEventLoop = /^nodejs_eventloop_lag_(?!min_)/

/** Adds the metrics of this process. */
export function addProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray())
    if (ofEventLoop.test(name)) Object.assign(registry.getSingleMetric(name)!, { aggregator: 'max' })
}
