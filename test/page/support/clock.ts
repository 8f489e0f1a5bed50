// An invented clock, and a network on it that loses, delays and repeats requests.
import type { Clock, Outcome, SaverNetwork } from '../../../admin/form/saver.js'
import type { Entry } from '../../../admin/form/values.js'
import type { ModelServer } from './model-server.js'

/** A clock that moves on request. */
export interface InventedClock extends Clock {
  /** Advances the clock and runs the timers that are due, in order. */
  advance(milliseconds: number): Promise<void>
}

const settled = async (): Promise<void> => {
  for (let index = 0; index < 25; index++) await Promise.resolve()
}

/** Creates a clock at zero. */
export function createClock(): InventedClock {
  let now = 0
  let order = 0
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>()
  return {
    now: () => now,
    wait(milliseconds, callback) {
      const id = order++
      timers.set(id, { at: now + milliseconds, callback })
      return () => timers.delete(id)
    },
    async advance(milliseconds) {
      const end = now + milliseconds
      await settled()
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([a, one], [b, other]) => one.at - other.at || a - b)[0]
        if (due === undefined) break
        timers.delete(due[0])
        now = Math.max(now, due[1].at)
        due[1].callback()
        await settled()
      }
      now = end
    },
  }
}

/** The fate of a request. */
export const fates = ['ok', 'slow', 'lost', 'lostResponse', 'late', 'twice', 'signedOut'] as const
export type Fate = (typeof fates)[number]

/** The requests of a saver to a model server, each with the next fate. */
export function createNetwork(server: ModelServer, clock: Clock, nextFate: () => Fate): SaverNetwork {
  const wait = (milliseconds: number) => new Promise<void>((resolve) => clock.wait(milliseconds, resolve))
  const request = async (carryOut: () => Outcome): Promise<Outcome> => {
    const fate = nextFate()
    if (fate === 'signedOut') return { kind: 'signedOut' }
    await wait(fate === 'slow' ? 5_000 : 40)
    if (fate === 'lost') return { kind: 'lost' }
    if (fate === 'late') {
      clock.wait(1_500, () => void carryOut())
      return { kind: 'lost' }
    }
    const first = structuredClone(carryOut())
    // The response of a repeated request may be the one that arrives.
    const outcome = fate === 'twice' ? structuredClone(carryOut()) : first
    await wait(40)
    return fate === 'lostResponse' ? { kind: 'lost' } : outcome
  }
  return {
    create: (data: Entry, key) => request(() => server.create(structuredClone(data), key)),
    change: (_, body, revision) => request(() => server.change(structuredClone(body), revision)),
    load: async () => {
      await wait(40)
      return server.document()
    },
  }
}
