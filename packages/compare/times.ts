// Response times as a histogram of constant size, from which the median and the 95th percentile are read.

/** Each bucket is so much wider than the one before: values are exact to two percent. */
const growth = 1.04
/** Milliseconds of the first bucket. */
const smallest = 0.05

/** The times of one service in milliseconds; null without any. */
export interface ResponseTimes {
  readonly median: number | null
  readonly p95: number | null
}

/** Collects times. */
export interface Stopwatch {
  add(milliseconds: number): void
  times(): ResponseTimes
}

/** Opens an empty histogram. */
export function openStopwatch(): Stopwatch {
  const buckets = new Map<number, number>()
  let total = 0
  const percentile = (part: number): number | null => {
    let left = Math.ceil(total * part)
    for (const [bucket, count] of [...buckets].sort(([one], [other]) => one - other)) {
      left -= count
      if (left <= 0) return smallest * growth ** bucket
    }
    return null
  }
  return {
    add(milliseconds) {
      const bucket = Math.max(0, Math.round(Math.log(milliseconds / smallest) / Math.log(growth)))
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
      total++
    },
    times: () => ({ median: percentile(0.5), p95: percentile(0.95) }),
  }
}
