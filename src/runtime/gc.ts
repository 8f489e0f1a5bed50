// Tunes V8's garbage collector for a service that stays small (decision 028): a young generation of a few megabytes is enough, while V8
// would grow it to 32.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The maximum young generation of the main thread in mebibytes; a larger one does not improve the benchmarks. */
const maxYoungGeneration = 4
/** The initial semi-space of threads in mebibytes. Half as much doubles the cost of large responses, which then do not fit. */
const threadSemiSpace = 2
/** The event-loop utilization below which the main thread counts as idle. */
const idleUtilization = 0.015
/** Milliseconds between two checks of the young generation, and between checks while it grows. */
const [checkInterval, growInterval] = [1_000, 50]

/** `OCTAVO_GC_TUNING=off` leaves the garbage collector as Node configures it. */
const isOff = process.env.OCTAVO_GC_TUNING === 'off'

const setGrowth = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Called first: objects created while modules load are long-lived and would needlessly grow the young generation. */
export function limitYoungGeneration(): void {
  if (isOff) return
  setGrowth(1)
  // A small young generation is collected faster by its own thread than by several that must first get a CPU.
  setFlagsFromString('--no-parallel-scavenge')
  // Threads start with the full size, which V8 never shrinks, because the growth factor applies to all threads.
  setFlagsFromString(`--min-semi-space-size=${threadSemiSpace}`)
}

/** Called once the service listens: lets the young generation grow with the load up to the maximum; V8 shrinks it without load. */
export function adaptYoungGeneration(): void {
  if (isOff) return
  const wasBusy = workMeter()
  const check = (): void => {
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? Infinity
    const growing = size < maxYoungGeneration * 1024 * 1024 && wasBusy()
    setGrowth(growing ? 2 : 1)
    setTimeout(check, growing ? growInterval : checkInterval).unref()
  }
  check()
  collectRegularly(workMeter())
}

/** Returns a function that reports whether the main thread was busy since its last call. */
function workMeter(): () => boolean {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization > idleUtilization
  }
}

/** Milliseconds between two checks for garbage collection, and the number of checks after which a busy thread is collected anyway. */
const [collectInterval, maxBusyChecks] = [1_000, 10]

/**
 * Runs a compacting garbage collection when the calling thread becomes idle, and occasionally while it is busy. Otherwise V8 keeps old
 * objects until the heap has doubled, and half-empty pages forever. More frequent full collections would discard optimised code. `worked`
 * reports whether the thread was busy since its last call.
 */
export function collectRegularly(worked: () => boolean): void {
  if (isOff) return
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let busy = 0
  setInterval(() => {
    const isIdle = !worked()
    if (isIdle && busy === 0) return
    busy = isIdle ? 0 : (busy + 1) % maxBusyChecks
    if (busy > 0) return
    // Set for this collection only; the flag is shared by all threads, so a thread may occasionally miss it.
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
  }, collectInterval).unref()
}
