// Shared by the tests that kill a service during a write.
import { expect } from 'vitest'
import { end, type Faulty } from './faulty.js'
import { type Operation, type SendRequest, send } from './operations.js'

/** Result and number of statements of an operation, from a run without faults. */
export interface Rehearsed {
  readonly after: string
  readonly statements: number
}

/** Numbers 1 to `statements`. */
export const everyStatement = (statements: number): readonly number[] => Array.from({ length: statements }, (_, index) => index + 1)

/** A service that is killed and started again. */
export interface Victim {
  /** Starts the service where it does not run. */
  alive(): Promise<SendRequest>
  /** Creates the document that stores an acknowledged text. */
  begin(create: (request: SendRequest) => Promise<string>): Promise<void>
  /** Has a change acknowledged, calls `arm`, and lets the operation run until the service has killed itself or was killed. */
  kill(operation: Operation, about: string, n: number, arm: (running: Faulty) => void): Promise<void>
  /** Expects the acknowledged text. */
  check(): Promise<void>
  end(): Promise<void>
}

export function openVictim(startService: () => Promise<Faulty>): Victim {
  let running: Faulty | null = null
  let [counter, acknowledged] = ['', 0]
  const alive = async (): Promise<SendRequest> => {
    running ??= await startService()
    return running.request
  }
  const stop = async (): Promise<void> => {
    if (running !== null) await end(running)
    running = null
  }
  return {
    alive,
    begin: async (create) => {
      counter = await create(await alive())
    },
    kill: async ({ name, run }, about, n, arm) => {
      const request = await alive()
      const change = await send(request, 'PUT', `/api/cities/${counter}`, { name: `Number ${++acknowledged}` })
      expect(change.status, change.text).toBe(200)
      arm(running!)
      await expect(run(request, about), `${name} was answered before statement ${n}`).rejects.toThrow(TypeError)
      expect((await running!.child.ended).signal).toBe('SIGKILL')
      running = null
    },
    check: async () => {
      expect((await send(await alive(), 'GET', `/api/cities/${counter}`)).body.data.name).toBe(`Number ${acknowledged}`)
    },
    end: stop,
  }
}
