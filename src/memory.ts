// Keeps the heap of a server small: short-lived objects need a nursery of a few megabytes, not the 32 that V8 grows to.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes at which the nursery of the main thread stops growing. More gains no speed that the benchmarks show. */
const enough = 4 * 1024 * 1024
/** Milliseconds between two looks while it grows. */
const lookEvery = 50

const grow = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Called first of all: what is made while modules load lives on, and would grow the nursery for nothing. */
export function holdNursery(): void {
  grow(1)
  // A nursery of this size is collected faster by its own thread than by several that must first find a free processor.
  setFlagsFromString('--no-parallel-scavenge')
}

/** Called once the service listens: lets the nursery grow with the load, up to `enough`. */
export function releaseNursery(): void {
  grow(2)
  const timer = setInterval(() => {
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? enough
    if (size < enough) return
    grow(1)
    clearInterval(timer)
  }, lookEvery)
  timer.unref()
  let before = performance.eventLoopUtilization()
  collectRegularly(() => {
    const now = performance.eventLoopUtilization()
    const { active } = performance.eventLoopUtilization(now, before)
    before = now
    return active > leastWork
  })
}

/** Milliseconds of work below which the main thread has nothing to collect. */
const leastWork = 50

/** Milliseconds between two full collections of a thread that has something to do. */
const collectEvery = 3_000

/**
 * Collects garbage now and then on the thread that calls this: left alone, V8 lets old objects of past requests stand until
 * the heap has doubled. `worked` says whether anything was done since it was asked last.
 */
export function collectRegularly(worked: () => boolean): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  setInterval(() => worked() && collect(), collectEvery).unref()
}
