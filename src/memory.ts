// Keeps the heap of a server small: short-lived objects need a nursery of a few megabytes, not the 32 that V8 grows to.
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Bytes at which the nursery of the main thread stops growing. More gains no speed that the benchmarks show. */
const enough = 8 * 1024 * 1024
/** Milliseconds between two looks while it grows. */
const lookEvery = 50

const grow = (factor: 1 | 2): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

/** Called first of all: what is made while modules load lives on, and would grow the nursery for nothing. */
export function holdNursery(): void {
  grow(1)
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
}
