// When a service process that has ended is replaced, and when it is no use to go on.

/** Milliseconds and counts; see `limits` in the configuration. */
export interface FailureLimits {
  readonly processSettled: number
  readonly processPause: number
  readonly processLongestPause: number
  readonly processFailures: number
}

/** What follows from the end of a process. */
export interface Consequence {
  /** Failures in a row, this one included; 0: it had served for long enough. */
  readonly failures: number
  /** Milliseconds until it is replaced. */
  readonly pause: number
  /** As many have failed as may in a row. */
  readonly isHopeless: boolean
}

/** What follows from the end of a process that served for `served` milliseconds (null: never), after `before` failures in a row. */
export function consequenceOf(served: number | null, before: number, limits: FailureLimits): Consequence {
  if (served !== null && served >= limits.processSettled) return { failures: 0, pause: 0, isHopeless: false }
  const failures = before + 1
  return {
    failures,
    pause: Math.min(limits.processLongestPause, limits.processPause * 2 ** Math.min(before, 30)),
    isHopeless: failures >= limits.processFailures,
  }
}
