// Interface to the traces that a project collects. Without tracing, parts have null instead.
import type { IncomingHttpHeaders } from 'node:http'

/** Attributes of a span. Nothing of a URL, a header or a body is one. */
export type TraceAttributes = Readonly<Record<string, string | number>>

/** Ids of a trace in the log. */
export interface TraceIds {
  readonly trace_id: string
  readonly span_id: string
}

/** The span of a request. */
interface RequestTrace {
  /** Null: the trace has no valid ids. */
  readonly ids: TraceIds | null
  /** Runs work and its asynchronous continuations as a part of the request. */
  within(work: () => void): void
  /** Ends the span. `isFailed`: by a failure of the service. */
  end(name: string, attributes: TraceAttributes, isFailed: boolean): void
}

/** A part of a request with a separate span. */
type TracedPart = 'auth' | 'plan' | 'serialize' | 'db query' | 'db transaction'

/** Adds spans to traces. */
export interface Tracing {
  /** Begins the span of a request, in the trace that its headers name; a `traceparent` that is not valid is ignored. */
  request(headers: IncomingHttpHeaders, method: string, attributes: TraceAttributes): RequestTrace
  /** Runs work as a part of the request that is under way; outside of one it is only run. `attributes` is called for a span only. */
  part<Result>(name: TracedPart, attributes: () => TraceAttributes, work: () => Result): Result
  /**
   * Runs `send` as a separate trace, with the headers that let the receiver continue it. `ended` returns the attributes of its result, and
   * whether it failed.
   */
  outgoing<Result>(
    name: string,
    attributes: TraceAttributes,
    send: (headers: readonly (readonly [name: string, value: string])[]) => Promise<Result>,
    ended: (result: Result) => { readonly attributes: TraceAttributes; readonly isFailed: boolean },
  ): Promise<Result>
}
