// One comparison: the two services, the callers, and what has been found so far.
import { type ComparedCaller, hider } from './callers.js'
import { type Group, openGroups } from './groups.js'
import type { RequestRecorder } from './record.js'
import type { CompareReport } from './report.js'
import type { PairResult, RunOptions, Servers } from './run.js'
import { shownPath } from './shown.js'
import { openStopwatch } from './times.js'
import { type Verified, verify } from './verify.js'

/** What a comparison needs. */
export interface SessionOptions {
  readonly servers: Servers
  readonly callers: readonly ComparedCaller[]
  readonly run: RunOptions
  /** Examples for each cause. */
  readonly show: number
  readonly recorder: RequestRecorder | null
  /** Called for each result that opens a group of its own, with a line that names it. */
  readonly announce: (line: string) => void
}

/** A comparison in progress. */
export interface CompareSession extends SessionOptions {
  /** Adds a result. */
  add(result: PairResult): void
  /** Counts what is not compared; 0: the number is not known. */
  leave(reason: string, count?: number): void
  /** The number of results so far. */
  readonly count: number
  /** Ends the comparison; `checks`: suggested defaults are checked by further requests. */
  end(checks: boolean): Promise<CompareReport>
}

/** Opens a comparison. */
export function openSession(options: SessionOptions): CompareSession {
  const { servers, callers, run, recorder } = options
  const hide = hider(callers)
  const groups = openGroups(options.show, hide)
  const stopwatches = { strapi: openStopwatch(), octavo: openStopwatch() }
  const [failed, leftOut] = [new Map<string, number>(), new Map<string, number>()]
  const increase = (map: Map<string, number>, key: string, by = 1): void => void map.set(key, (map.get(key) ?? 0) + by)
  let count = 0
  return {
    ...options,
    get count() {
      return count
    },
    add(result) {
      count += 1
      if (result.kind === 'failed') return increase(failed, `${names[result.side]}: ${result.message}`)
      const { request, caller } = result.judgement.pair
      recorder?.add(request, caller)
      stopwatches.strapi.add(result.milliseconds.strapi)
      stopwatches.octavo.add(result.milliseconds.octavo)
      const cause = groups.add(result.judgement)
      if (cause !== null) options.announce(`${cause.title}: ${request.method} ${hide(shownPath(request.path))}`)
    },
    leave: (reason, by) => increase(leftOut, reason, by),
    async end(checks) {
      const findings = groups.findings()
      const verified = new Map<Group, Verified>()
      if (checks)
        for (const group of findings.groups) if (group.defaults !== null) verified.set(group, await verify(group, callers, servers, run))
      return {
        ...{ findings, failed, leftOut, verified },
        times: { strapi: stopwatches.strapi.times(), octavo: stopwatches.octavo.times() },
        files: new Map(),
      }
    },
  }
}

const names = { strapi: 'Strapi', octavo: 'Octavo' } as const
