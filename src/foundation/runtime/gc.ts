// Keeps the young generation of V8's heap small (decision 028); V8 would grow it to 32 MB and keep it.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Half as much doubles the cost of large responses, which then do not fit. */
const threadSemiSpaceMb = 2
const checkIntervalMs = 1_000

const setGrowth = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Called first: objects created while modules load are long-lived and would grow the young generation. */
export function limitYoungGeneration(): void {
  setGrowth(1)
  // V8 resets the factor when it prepares the heap of another thread.
  process.on('worker', (thread) => thread.once('online', () => setGrowth(1)))
  // A small young generation is collected faster by one thread than by several that must first get a CPU.
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString(`--min-semi-space-size=${threadSemiSpaceMb}`)
}

/** Called once the service listens: the young generation of this thread may double once a second, up to the maximum. */
export function growYoungGeneration(maxMb: number): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
  setInterval(() => {
    const size = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? Infinity
    if (size > (maxMb / 2) * 1024 * 1024) return
    // Only for this collection: left to itself, V8 may double it several times in one turn of the event loop.
    setGrowth(2)
    collect({ type: 'minor' })
    setGrowth(1)
  }, checkIntervalMs).unref()
}
