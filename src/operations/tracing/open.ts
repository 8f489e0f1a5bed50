// Spans in the OpenTelemetry API, for an SDK registered by project code. The only file that uses this API.

import {
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Database, MainConnection, WriteDatabase } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { DatabasePurpose } from '../../foundation/runtime/metrics.js'
import type { TraceAttributes, TraceIds, Tracing } from '../../foundation/runtime/tracing.js'

export function openTracing(version: string): Tracing {
  const tracer = trace.getTracer('octavo', version)
  return {
    request: (headers, method, attributes) => {
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parentOf(headers))
      return {
        ids: idsOf(span),
        within: (work) => context.with(trace.setSpan(context.active(), span), work),
        end: (name, ended, isFailed) => {
          span.updateName(name).setAttributes(ended)
          if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    part: (name, attributes, work) => {
      const request = trace.getActiveSpan()
      // Background work of a request outlives its span and is not part of it.
      if (request?.isRecording() !== true) return work()
      const kind = name.startsWith('db ') ? SpanKind.CLIENT : SpanKind.INTERNAL
      const span = tracer.startSpan(name, { kind, attributes: attributes() })
      return endingWith(span, () => context.with(trace.setSpan(context.active(), span), work))
    },
    outgoing: async (name, attributes, send, ended) => {
      const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, root: true, attributes })
      const own = trace.setSpan(ROOT_CONTEXT, span)
      const headers: Record<string, string> = {}
      propagation.inject(own, headers)
      return endingWith(span, async () => {
        const result = await context.with(own, () => send(Object.entries(headers)))
        const { attributes: found, isFailed } = ended(result)
        span.setAttributes(found)
        if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
        return result
      })
    },
  }
}

/** The parent of a request: the active span of the project's instrumentation, or that in its headers. */
const parentOf = (headers: object): Context =>
  trace.getActiveSpan()?.isRecording() === true ? context.active() : propagation.extract(ROOT_CONTEXT, headers)

function idsOf(span: Span): TraceIds | null {
  const { traceId, spanId } = span.spanContext()
  return isSpanContextValid(span.spanContext()) ? { trace_id: traceId, span_id: spanId } : null
}

/** Runs work synchronously or asynchronously, and then ends the span. */
function endingWith<Result>(span: Span, work: () => Result): Result {
  try {
    const result = work()
    if (result instanceof Promise) return endingLater(span, result) as Result
    span.end()
    return result
  } catch (error) {
    return failing(span, error)
  }
}

async function endingLater(span: Span, work: Promise<unknown>): Promise<unknown> {
  try {
    const result = await work
    span.end()
    return result
  } catch (error) {
    return failing(span, error)
  }
}

/** Records an error without its message, which may contain values. @throws the error */
function failing(span: Span, error: unknown): never {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'Error')
  if (!(error instanceof ApiError) || error.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
  throw error
}

interface Described {
  /** The kind of database, as named by OpenTelemetry. */
  readonly system: 'sqlite' | 'postgresql' | 'mysql'
  readonly purpose: DatabasePurpose | null
}

/** Maximum length of a statement in a span. */
const longestText = 4_000

/** Traces a database. `purpose`: that of small statements and transactions; null: documents and other. */
export function tracedDatabase(database: Database, tracing: Tracing, { system, purpose }: Described): Database {
  const { reads, writes, main } = database
  const about = (operation: string, what: DatabasePurpose, text?: string) => (): TraceAttributes => ({
    'db.system.name': system,
    'db.operation.name': operation,
    'octavo.purpose': what,
    ...(text !== undefined && { 'db.query.text': text.slice(0, longestText) }),
  })
  const execute: Database['reads']['execute'] = (known, ...asked) =>
    tracing.part('db query', about('SELECT', 'read', known.plan.root.statement.sql), () => reads.execute(known, ...asked))
  const transaction: WriteDatabase['transaction'] = (work, change) =>
    tracing.part('db transaction', about('transaction', purpose ?? 'write'), () => writes.transaction(work, change))
  const rows: MainConnection['rows'] = (query) => tracing.part('db query', about('SELECT', purpose ?? 'other'), () => main.rows(query))
  return { ...database, reads: { ...reads, execute }, writes: { ...writes, transaction }, main: { ...main, rows } }
}
