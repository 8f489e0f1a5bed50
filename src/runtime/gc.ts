// Tunes V8's garbage collector for a server that stays small (decision 028): short-lived objects need a young generation of a few
// megabytes, not the 32 that V8 grows to.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Mebibytes that the young generation of the main thread may grow to; more gains no speed that the benchmarks show. */
const enough = 4
/** Mebibytes of each half of the young generation that threads begin with. Half as much doubles the cost of large answers, which then do not fit. */
const halfOfThreads = 2
/** The share of time below which the main thread has nothing to grow for, nor to collect. */
const leastShare = 0.015
/** Milliseconds between two looks at the young generation of the main thread, and while it grows. */
const [lookEvery, lookSoon] = [1_000, 50]

/** `OCTAVO_GC_TUNING=off` leaves the garbage collector as Node configures it. */
const isOff = process.env.OCTAVO_GC_TUNING === 'off'

const grow = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Called first of all: what is made while modules load lives on, and would grow the young generation for nothing. */
export function limitYoungGeneration(): void {
  if (isOff) return
  grow(1)
  // A young generation of this size is collected faster by its own thread than by several that must first find a free processor.
  setFlagsFromString('--no-parallel-scavenge')
  // Threads begin with theirs at full size, which V8 then never shrinks: whether it grows is one switch for all threads.
  setFlagsFromString(`--min-semi-space-size=${halfOfThreads}`)
}

/** Called once the service listens: lets the young generation grow with the load, up to `enough`; V8 shrinks it when there is none. */
export function adaptYoungGeneration(): void {
  if (isOff) return
  const worked = workMeter()
  const look = (): void => {
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? Infinity
    const growing = size < enough * 1024 * 1024 && worked()
    grow(growing ? 2 : 1)
    setTimeout(look, growing ? lookSoon : lookEvery).unref()
  }
  look()
  collectRegularly(workMeter())
}

/** Says whether the main thread has worked for a part of the time since it was asked last. */
function workMeter(): () => boolean {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization > leastShare
  }
}

/** Milliseconds between two looks whether there is something to collect, and looks after which a thread that is always busy is collected. */
const [collectEvery, patience] = [1_000, 10]

/**
 * Collects garbage when the thread that calls this comes to rest, and now and then while it does not, and closes the gaps: left
 * alone, V8 lets old objects of past requests stand until the heap has doubled, and half-empty pages for good. Not more often:
 * each full collection makes V8 forget some of the code that it has optimised. `worked` says whether anything was done since it
 * was asked last.
 */
export function collectRegularly(worked: () => boolean): void {
  if (isOff) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let busy = 0
  setInterval(() => {
    const rests = !worked()
    if (rests && busy === 0) return
    busy = rests ? 0 : (busy + 1) % patience
    if (busy > 0) return
    // For this one alone; the flag is one for all threads, which may therefore miss it now and then.
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
  }, collectEvery).unref()
}
