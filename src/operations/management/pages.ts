// What the management port says of the service: whether the process runs, and whether the service serves.
import type { EventLoopLag } from './event-loop-lag.js'
import { jsonResponse, type ManagementPage } from './server.js'

/** A part of the service that keeps it from serving. */
export interface FailingPart {
  readonly part: 'service' | 'database'
  /** A sentence for the operator. */
  readonly problem: string
}

/** What readiness depends on. */
export interface ServingState {
  /** `starting`: it does not listen yet; `draining`: it is about to stop. */
  service(): 'starting' | 'serving' | 'draining'
  /** Null while the database can be used; otherwise a sentence about the problem. */
  database(): string | null
}

/** Why a service that is not serving does not. */
export const stateProblems = { starting: 'The service does not listen yet', draining: 'The service is stopping' } as const

/** The parts that keep the service from serving; empty while it serves. */
export function failingParts({ service, database }: ServingState): readonly FailingPart[] {
  const [state, trouble] = [service(), database()]
  return [
    ...(state === 'serving' ? [] : [{ part: 'service', problem: stateProblems[state] } as const]),
    ...(trouble === null ? [] : [{ part: 'database', problem: trouble } as const]),
  ]
}

/** Responds 200 while the event loop is at most `most` milliseconds late. */
export const livePage =
  (lag: EventLoopLag, most: number): ManagementPage =>
  () => {
    const late = Math.round(lag.now())
    return jsonResponse(late <= most ? 200 : 503, { status: late <= most ? 'live' : 'late', eventLoopLag: late })
  }

/** Responds 200 while the service serves, and otherwise 503 with the failing parts. */
export const readyPage =
  (state: ServingState): ManagementPage =>
  () => {
    const failing = failingParts(state)
    return failing.length === 0 ? jsonResponse(200, { status: 'ready' }) : jsonResponse(503, { status: 'not ready', failing })
  }
