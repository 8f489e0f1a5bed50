// Waiting for conditions in tests. Time limits only end a test that fails: they are far beyond the needs of a busy machine.
import { setTimeout } from 'node:timers/promises'

/** Limits for `expect.poll` and `vi.waitFor`, whose own limit is a second. */
export const patience = { timeout: 300_000, interval: 20 } as const

/** Waits until `holds` returns true. `condition` names it in the error. */
export async function until(
  condition: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  timeoutMs: number = patience.timeout,
): Promise<void> {
  const end = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${typeof condition === 'string' ? condition : condition()}`)
    await setTimeout(patience.interval)
  }
}
