// The metrics of a service. The only file that uses prom-client.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { databaseErrorClasses } from '../../database/errors.js'
import { limiters, type Metrics, measuredResults, rejectionReasons, webhookResults } from '../../foundation/runtime/metrics.js'
import type { BuildInfo, MetricSources } from './scraped-metrics.js'
import { addScrapedMetrics } from './scraped-metrics.js'

interface MetricsRegistry {
  readonly metrics: Metrics
  readonly contentType: string
  /** Renders all metrics. `milliseconds`: time limit for values from the database, which are omitted if it expires. */
  scrape(sources: MetricSources | null, milliseconds: number): Promise<string>
}

/** Buckets of requests, and of the shorter database operations, in seconds. */
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const databaseSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const imageSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const planNodes = [1, 2, 3, 5, 8, 13, 21, 34, 55, 100]
const bodyBytes = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

/** Opens the metrics of a service and its process. `isReady`: as reported by `/ready`. */
export function openRegistry({ version, system, isOneOfSeveral }: BuildInfo, isReady: () => boolean): MetricsRegistry {
  const registry = new Registry()
  if (isOneOfSeveral) registry.setDefaultLabels(processLabel())
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'octavo_build_info',
    help: 'The version of the service, of Node.js, and the kind of database; always 1',
    labelNames: ['version', 'node', 'engine'],
    registers: [registry],
  }).set({ version, node: process.versions.node, engine: system }, 1)
  new Gauge({
    name: 'octavo_ready',
    help: '1: the process serves and reaches its database',
    registers: [registry],
    collect() {
      this.set(isReady() ? 1 : 0)
    },
  })
  const { update, notModified } = addScrapedMetrics(registry)
  const updated = (sources: MetricSources | null, milliseconds: number): Promise<void> =>
    sources === null ? Promise.resolve() : update(sources, milliseconds)
  let scraping: Promise<string> | null = null
  return {
    metrics: { ...requestMetrics(registry), ...contentMetrics(registry, system), ...durationMetrics(registry), notModified },
    contentType: registry.contentType,
    // Concurrent scrapes share one result.
    scrape: (sources, milliseconds) => {
      scraping ??= updated(sources, milliseconds)
        .then(() => registry.metrics())
        .finally(() => {
          scraping = null
        })
      return scraping
    },
  }
}

type RequestMetric = 'requestBegan' | 'requestEnded' | 'requestRefused'

function requestMetrics(registry: Registry): Pick<Metrics, RequestMetric> {
  const registers = [registry]
  const ofRequest = ['http_request_method', 'http_route'] as const
  const seconds = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Seconds from the headers of a request until its response was sent or its connection closed; without event streams',
    labelNames: [...ofRequest, 'http_response_status_code', 'error_type'],
    buckets: requestSeconds,
    registers,
  })
  const streams = counter(registry, 'octavo_event_streams_total', 'Event streams that have ended', ['http_route'])
  const active = new Gauge({ name: 'http_server_active_requests', help: 'Requests that are being handled', registers })
  const requestBytes = new Histogram({
    name: 'http_server_request_body_size_bytes',
    help: 'Bytes of request bodies that arrived',
    labelNames: ofRequest,
    buckets: bodyBytes,
    registers,
  })
  const responseBytes = new Histogram({
    name: 'http_server_response_body_size_bytes',
    help: 'Bytes of response bodies, compressed where they are; without streams',
    labelNames: ofRequest,
    buckets: bodyBytes,
    registers,
  })
  const rejected = counter(registry, 'octavo_requests_rejected_total', 'Requests that were refused without doing their work', ['reason'])
  for (const reason of rejectionReasons) rejected.inc({ reason }, 0)
  return {
    requestBegan: () => active.inc(),
    requestEnded: (request) => {
      active.dec()
      const labels = { http_request_method: request.method, http_route: request.route }
      if (request.seconds === null) streams.inc({ http_route: request.route })
      else {
        const error = request.error === null ? {} : { error_type: request.error }
        seconds.observe({ ...labels, http_response_status_code: request.status, ...error }, request.seconds)
      }
      if (request.requestBytes !== null) requestBytes.observe(labels, request.requestBytes)
      if (request.responseBytes !== null) responseBytes.observe(labels, request.responseBytes)
      if (request.rejection !== null) rejected.inc({ reason: request.rejection })
    },
    requestRefused: (reason) => rejected.inc({ reason }),
  }
}

function contentMetrics(registry: Registry, system: BuildInfo['system']): Omit<Metrics, RequestMetric | DurationMetric | 'notModified'> {
  const registers = [registry]
  const operations = new Histogram({
    name: 'db_client_operation_duration_seconds',
    help: 'Seconds of reads, transactions and small statements, waiting included',
    labelNames: ['db_system_name', 'db_operation_name', 'octavo_purpose', 'db_role'],
    buckets: databaseSeconds,
    registers,
  })
  const nodes = new Histogram({
    name: 'octavo_plan_nodes',
    help: 'Statements of executed read plans: the documents, their total, and each populated relation',
    buckets: planNodes,
    registers,
  })
  const conflicts = counter(
    registry,
    'octavo_unique_conflicts_total',
    'Writes of documents and users that were refused because the value of a unique attribute is taken',
    [],
  )
  const errors = counter(registry, 'octavo_db_errors_total', 'Operations of the database that failed', ['class'])
  const unknown = counter(registry, 'octavo_db_commit_unknown_total', 'Transactions that were lost and may have been committed', [])
  const written = counter(registry, 'octavo_documents_written_total', 'Writes of documents that were committed', ['type', 'action'])
  const uploads = counter(registry, 'octavo_uploads_total', 'Files that were uploaded', ['result'])
  const uploadedBytes = counter(registry, 'octavo_uploads_bytes_total', 'Bytes of files that were stored', [])
  const attempts = counter(registry, 'octavo_auth_attempts_total', 'Attempts at routes of sign-ins and accounts', ['kind', 'result'])
  const limited = counter(registry, 'octavo_rate_limited_total', 'Attempts that a rate limit refused', ['limiter'])
  // Initialized to 0, because a counter that starts at 1 shows no increase.
  for (const name of databaseErrorClasses) errors.inc({ class: name }, 0)
  for (const result of measuredResults) uploads.inc({ result }, 0)
  for (const limiter of limiters) limited.inc({ limiter }, 0)
  return {
    databaseOperation: (operation, purpose, role, seconds) =>
      operations.observe({ db_system_name: system, db_operation_name: operation, octavo_purpose: purpose, db_role: role }, seconds),
    planExecuted: (statements) => nodes.observe(statements),
    databaseFailed: (errorClass) => {
      errors.inc({ class: errorClass })
      if (errorClass === 'commit_unknown') unknown.inc()
    },
    documentWritten: (type, action) => written.inc({ type, action }),
    uniqueConflict: () => conflicts.inc(),
    filesStored: (files, bytes) => {
      uploads.inc({ result: 'success' }, files)
      uploadedBytes.inc(bytes)
    },
    filesNotStored: (files, result) => uploads.inc({ result }, files),
    signInAttempt: (kind, result) => attempts.inc({ kind, result }),
    rateLimited: (limiter) => limited.inc({ limiter }),
  }
}

type DurationMetric = 'cacheValidated' | 'webhookAttempted' | 'imageProcessed'

function durationMetrics(registry: Registry): Pick<Metrics, DurationMetric> {
  const registers = [registry]
  const validations = new Histogram({
    name: 'octavo_cache_validation_duration_seconds',
    help: 'Time for which reads waited to validate cached responses',
    buckets: databaseSeconds,
    registers,
  })
  const deliveries = new Histogram({
    name: 'octavo_webhook_duration_seconds',
    help: 'Duration of attempts to deliver an event to a webhook',
    labelNames: ['result'],
    buckets: requestSeconds,
    registers,
  })
  const images = new Histogram({
    name: 'octavo_image_processing_duration_seconds',
    help: 'Seconds for measuring an image and making its formats or a crop, without the queue',
    buckets: imageSeconds,
    registers,
  })
  const webhooks = counter(registry, 'octavo_webhook_deliveries_total', 'Attempts to deliver an event to a webhook', ['result'])
  // Initialized to 0, because a counter that starts at 1 shows no increase.
  for (const result of webhookResults) webhooks.inc({ result }, 0)
  return {
    cacheValidated: (seconds) => validations.observe(seconds),
    webhookAttempted: (result, seconds) => {
      webhooks.inc({ result })
      deliveries.observe({ result }, seconds)
    },
    imageProcessed: (seconds) => images.observe(seconds),
  }
}

const counter = <Label extends string>(registry: Registry, name: string, help: string, labelNames: readonly Label[]) =>
  new Counter<Label>({ name, help, labelNames, registers: [registry] })

/** Labels the metrics of one process among several with its id, as in the log. */
const processLabel = () => ({ process: String(process.pid) })

/** Metrics of a main process, which serves no requests itself. */
export function createProcessMetrics(): { readonly contentType: string; readonly scrape: () => Promise<string> } {
  const registry = new Registry()
  registry.setDefaultLabels(processLabel())
  collectDefaultMetrics({ register: registry })
  return { contentType: registry.contentType, scrape: () => registry.metrics() }
}

/** Joins the metrics of several processes: all series of a metric follow its description. */
export function joinMetrics(texts: readonly string[]): string {
  const series = new Map<string, string>()
  for (const metric of texts.flatMap((text) => text.trimEnd().split('\n\n'))) {
    const [help = '', type = '', ...lines] = metric.split('\n')
    const description = `${help}\n${type}`
    series.set(description, [series.get(description) ?? description, ...lines].join('\n'))
  }
  return `${[...series.values()].join('\n\n')}\n`
}
