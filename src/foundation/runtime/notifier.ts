// Wakes up work that waits: a wake-up that comes before the wait ends it at once.

/** Wakes up one waiting piece of work. */
export interface WakeUp {
  /** Ends the wait, or the next one. */
  now(): void
  /** Forgets a pending wake-up. */
  forget(): void
  /** Resolves to true when woken up, to false after `milliseconds`. */
  wait(milliseconds: number): Promise<boolean>
}

/** The longest that a timer can wait, in milliseconds. */
const longestTimer = 2_147_483_647

export function openWakeUp(): WakeUp {
  let isDue = false
  let waiting: ((isWoken: boolean) => void) | null = null
  return {
    now: () => {
      isDue = true
      waiting?.(true)
    },
    forget: () => {
      isDue = false
    },
    wait: async (milliseconds) => {
      const isWoken = isDue || (await waitFor(milliseconds, (end) => (waiting = end)))
      waiting = null
      isDue = false
      return isWoken
    },
  }
}

function waitFor(milliseconds: number, register: (end: (isWoken: boolean) => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), Math.max(0, Math.min(longestTimer, milliseconds)))
    timer.unref()
    register((isWoken) => {
      clearTimeout(timer)
      resolve(isWoken)
    })
  })
}
