// Work that has to be alone with something that is otherwise used side by side: it waits until the uses under way have ended, and later ones
// wait for it.
import { elapsed } from './clock.js'

/** Uses wait while there is one. Whoever has it counts the uses. */
export interface Exclusion {
  /**
   * Whether a use may begin. `isNested`: it may be part of another use, so it waits only while the work runs, not while that waits for uses
   * under way.
   */
  admits(isNested: boolean): boolean
  /** Resolves when a use that is not admitted may try again. */
  change(): Promise<void>
  /** Is told how many uses are left when one has ended. */
  ended(uses: number): void
  /** Resolves to whether nothing is in use, after `wait` milliseconds at most. From then on nothing is admitted, if so. */
  alone(uses: number, wait: number): Promise<boolean>
  /** Lets those that wait try again. */
  end(): void
}

/** Begins one. */
export function beginExclusion(): Exclusion {
  let isAlone = false
  let waiting: (() => void)[] = []
  let settled: (() => void) | null = null
  return {
    admits: (isNested) => isNested && !isAlone,
    change: () => new Promise((go) => waiting.push(go)),
    ended: (uses) => {
      if (uses === 0) settled?.()
    },
    alone: async (uses, wait) => {
      let left = uses
      const deadline = elapsed() + wait
      while (left > 0 && elapsed() < deadline) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((go) => {
          settled = () => {
            left = 0
            isAlone = true
            go()
          }
          timer = setTimeout(go, deadline - elapsed())
        })
        clearTimeout(timer)
        settled = null
      }
      isAlone ||= left === 0
      return isAlone
    },
    end: () => {
      const now = waiting
      waiting = []
      for (const go of now) go()
    },
  }
}
