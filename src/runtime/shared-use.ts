// Uses of something side by side, and work that has to be alone with it: it waits until the uses under way have ended, and later ones wait for it.
import { ApiError } from '../errors/errors.js'
import { elapsed } from './clock.js'

/** Something that is used side by side. */
export interface SharedUse {
  /**
   * Begins a use; the result ends it, and may be called more than once. `isNested`: it may be part of another use, so it waits only while the
   * work that is alone runs, not while that waits for uses under way.
   */
  begin(isNested: boolean): (() => void) | Promise<() => void>
  /**
   * Runs `work` while nothing is in use.
   * @throws ApiError 503 if the uses under way do not end within `wait` milliseconds; `work` has not begun then
   */
  alone<Result>(wait: number, work: () => Promise<Result>): Promise<Result>
}

/** What uses are let through. */
type Admitted = 'all' | 'nested' | 'none'

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

/** Opens it. One work at a time may ask to be alone. */
export function openSharedUse(): SharedUse {
  let uses = 0
  let admitted: Admitted = 'all'
  let waiting: (() => void)[] = []
  let settled: (() => void) | null = null

  function count(): () => void {
    uses++
    return once(() => {
      uses--
      if (uses === 0) settled?.()
    })
  }

  const isAdmitted = (isNested: boolean): boolean => admitted === 'all' || (isNested && admitted === 'nested')

  async function whenAdmitted(isNested: boolean): Promise<() => void> {
    while (!isAdmitted(isNested)) await new Promise<void>((go) => waiting.push(go))
    return count()
  }

  function admit(next: Admitted): void {
    admitted = next
    const now = waiting
    waiting = []
    for (const go of now) go()
  }

  /** Resolves to whether nothing is in use, after `wait` milliseconds at most. */
  async function unused(wait: number): Promise<boolean> {
    const deadline = elapsed() + wait
    while (uses > 0 && elapsed() < deadline) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((go) => {
        settled = go
        timer = setTimeout(go, deadline - elapsed())
      })
      clearTimeout(timer)
      settled = null
    }
    return uses === 0
  }

  return {
    begin: (isNested) => (isAdmitted(isNested) ? count() : whenAdmitted(isNested)),
    alone: async (wait, work) => {
      admitted = 'nested'
      try {
        if (!(await unused(wait)))
          throw new ApiError('ServiceUnavailableError', 'Requests under way did not end in time. Nothing was changed; try again')
        admitted = 'none'
        return await work()
      } finally {
        admit('all')
      }
    },
  }
}
