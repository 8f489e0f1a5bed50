// A monotonic clock for deadlines, intervals and limits. It stops while the process is paused, so that a pause of the machine does not
// time out waiting requests.

/** A gap between two readings, in milliseconds, beyond which the process was paused. */
const longestGap = 1_000
/** Milliseconds between two automatic readings. */
const interval = 200

let seen = performance.now()
let paused = 0
let isTicking = false

/** Returns the running time of this thread in milliseconds; only differences are meaningful. */
export function elapsed(): number {
  if (!isTicking) {
    isTicking = true
    seen = performance.now()
    setInterval(elapsed, interval).unref()
  }
  const now = performance.now()
  const gap = now - seen
  if (gap > longestGap) paused += gap - interval
  seen = now
  return now - paused
}

/** The result of a promise, or null after a timeout. @throws as the promise does */
export async function within<Result>(milliseconds: number, promise: Promise<Result>): Promise<Result | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after that many milliseconds. */
export const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
