// Tunes V8's garbage collector for a service that stays small (decision 028): a young generation of a few megabytes is enough, while V8
// would grow it to 32.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The collection of a thread. */
export interface CollectionProfile {
  /** The maximum young generation in mebibytes. */
  readonly maxYoungGeneration: number
  /** Seconds without work until all garbage is collected. */
  readonly rest: number
  /** Seconds with work after which all garbage is collected without a rest; Infinity: never. */
  readonly maxBusy: number
  /** Mebibytes by which old objects must have grown for a collection after `rest`; without that much, it waits for `longRest` seconds. */
  readonly growth: number
  /** Mebibytes of growth after which all garbage is collected without a rest, every `leastBusy` seconds at most; Infinity: never. */
  readonly maxGrowth: number
}

/** Threads that hand the reads to others, and those others: they forget little of what V8 has optimised when they collect. */
export const smallProfile: CollectionProfile = { maxYoungGeneration: 4, rest: 1, maxBusy: 10, growth: 0, maxGrowth: 4 }
/** The main thread where it returns answers from memory. A full collection makes V8 drop optimised functions, and a fifth of the speed with them. */
const cachingProfile: CollectionProfile = { maxYoungGeneration: 4, rest: 1, maxBusy: Infinity, growth: 4, maxGrowth: Infinity }
/** The main thread where it reads itself: there a full collection costs a third of the speed. */
const fastProfile: CollectionProfile = { maxYoungGeneration: 16, rest: 30, maxBusy: Infinity, growth: 0, maxGrowth: Infinity }

/** The profile of the main thread. `reads`: it reads itself. `caches`: it returns answers from memory. */
export function profileOf(reads: boolean, caches: boolean): CollectionProfile {
  if (reads) return fastProfile
  return caches ? cachingProfile : smallProfile
}

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
  // V8 sets the factor back when it prepares the heap of another thread.
  process.on('worker', (thread) => thread.once('online', () => setGrowth(1)))
  // A small young generation is collected faster by its own thread than by several that must first get a CPU.
  setFlagsFromString('--no-parallel-scavenge')
  // Threads start with the full size, which V8 never shrinks, because the growth factor applies to all threads.
  setFlagsFromString(`--min-semi-space-size=${threadSemiSpace}`)
}

/** Called once the service listens: lets the young generation grow with the load up to the maximum; V8 shrinks it without load. */
export function adaptYoungGeneration(profile: CollectionProfile): void {
  if (isOff) return
  const wasBusy = workMeter()
  const collect = exposedCollect()
  const check = (): void => {
    const size = spaceOf('new_space')?.space_size ?? Infinity
    const growing = size <= (profile.maxYoungGeneration / 2) * 1024 * 1024 && wasBusy()
    if (growing) growOnce(collect)
    setTimeout(check, growing ? growInterval : checkInterval).unref()
  }
  check()
  collectRegularly(workMeter(), profile, collect)
}

/** Collects the young generation, which doubles where enough has survived: left to itself, it may double several times in one turn. */
function growOnce(collect: Collect): void {
  setGrowth(2)
  collect({ type: 'minor' })
  setGrowth(1)
}

type Collect = (options?: { readonly type: 'minor' }) => void

/** V8's collector. */
function exposedCollect(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
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

/** Seconds without work after which there is always a collection, and seconds with work before one by growth. */
const [longRest, leastBusy] = [30, 3]

const spaceOf = (name: string) => getHeapSpaceStatistics().find(({ space_name }) => space_name === name)

/** Bytes of the objects that have survived the collections of the young generation, large ones aside. */
function oldBytes(): number {
  return spaceOf('old_space')?.space_used_size ?? 0
}

/** Milliseconds between two checks for garbage collection. */
const collectInterval = 1_000

/**
 * Runs a compacting garbage collection when the calling thread comes to rest, and by its profile while it is busy. Otherwise V8 keeps old
 * objects until the heap has doubled, and half-empty pages forever. `worked` reports whether the thread was busy since its last call.
 * `collector`: V8's, where it is at hand; each look for it makes a context.
 */
export function collectRegularly(
  worked: () => boolean,
  { rest, maxBusy, growth, maxGrowth }: CollectionProfile,
  collector: Collect | null = null,
): void {
  if (isOff) return
  const collect = collector ?? exposedCollect()
  // Seconds since the last collection. The start is work, and leaves garbage; few functions are optimised yet.
  let [busy, idle] = [1, 0]
  /** Bytes of old objects after the last collection. */
  let settled = oldBytes()
  const isEnough = (): boolean => {
    const now = oldBytes()
    // V8 may have collected meanwhile.
    settled = Math.min(settled, now)
    if (idle >= longRest || busy >= maxBusy) return true
    const grown = (now - settled) / (1024 * 1024)
    return (grown >= maxGrowth && busy >= leastBusy) || (idle >= rest && grown >= growth)
  }
  setInterval(() => {
    if (worked()) [busy, idle] = [busy + 1, 0]
    else idle++
    if (busy === 0 || !isEnough()) return
    // Set for this collection only; the flag is shared by all threads, so a thread may occasionally miss it.
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    ;[busy, settled] = [0, oldBytes()]
    // The collection is no work: it would be repeated.
    worked()
  }, collectInterval).unref()
}
