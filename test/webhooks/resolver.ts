// A resolver of host names in place of the system's, in this process: some names have an address, and all others whose names end in `.test`
// are silent until they fail.
import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'

type Answer = (error: Error | null, addresses?: readonly dns.LookupAddress[]) => void

export interface Resolver {
  /** The names that are silent now, and how many were at most. */
  waiting(): readonly string[]
  most(): number
  /** Fails pending lookups, of one name or of all. */
  fail(name?: string): void
  restore(): void
}

export function replaceResolver(known: Readonly<Record<string, string>>): Resolver {
  const original = dns.lookup
  const waiting = new Map<Answer, string>()
  let most = 0
  const lookup = (name: string, options: unknown, answer: Answer): void => {
    const address = known[name]
    if (address !== undefined) process.nextTick(answer, null, [{ address, family: 4 }])
    else if (name.endsWith('.test')) {
      waiting.set(answer, name)
      most = Math.max(most, waiting.size)
    } else (original as unknown as (...given: unknown[]) => void)(name, options, answer)
  }
  const replace = (by: unknown): void => {
    Object.assign(dns, { lookup: by })
    syncBuiltinESMExports()
  }
  const fail = (name?: string): void => {
    for (const [answer, silent] of [...waiting]) {
      if (name !== undefined && name !== silent) continue
      waiting.delete(answer)
      answer(Object.assign(new Error('The name server is silent'), { code: 'EAI_AGAIN' }))
    }
  }
  replace(lookup)
  return {
    waiting: () => [...waiting.values()],
    most: () => most,
    fail,
    restore: () => {
      replace(original)
      fail()
    },
  }
}
