// Resolves the names of webhooks, a few at a time: the system's resolver takes a thread for each, and keeps it while a name server is silent.
// Names that took too long are resolved apart from others, so that they delay only each other.
import { type LookupAddress, lookup } from 'node:dns'
import { openQueue } from '../../../foundation/runtime/queue.js'

/** Resolves a name. Rejects after a timeout; until the system call ends, the name is refused. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>

/** Limits of name resolution. */
export interface ResolveLimits {
  /** Names that are resolved at the same time. */
  readonly webhookLookups: number
  /** Milliseconds for one name. */
  readonly webhookLookupTimeout: number
}

export function openResolve({ webhookLookups, webhookLookupTimeout }: ResolveLimits): Resolve {
  const quick = openQueue(Math.max(1, webhookLookups - 1), Number.POSITIVE_INFINITY, '')
  const slow = openQueue(1, Number.POSITIVE_INFINITY, '')
  /** Names of webhooks that took too long when they were resolved last. */
  const late = new Set<string>()
  const underWay = new Map<string, ReturnType<Resolve>>()

  /** Resolves a name in its turn, which ends when the system has ended. */
  function begin(name: string): ReturnType<Resolve> {
    return new Promise((resolve, reject) => {
      const look = async (): Promise<void> => {
        const timer = setTimeout(() => {
          late.add(name)
          reject(new Error(`${name} was not resolved within ${webhookLookupTimeout} milliseconds`))
        }, webhookLookupTimeout).unref()
        const begun = performance.now()
        await lookUp(name).then(resolve, reject)
        clearTimeout(timer)
        if (performance.now() - begun < webhookLookupTimeout) late.delete(name)
        underWay.delete(name)
      }
      void (late.has(name) ? slow : quick).run(look)
    })
  }

  return (name) => {
    const resolving = underWay.get(name) ?? begin(name)
    underWay.set(name, resolving)
    return resolving
  }
}

const lookUp: Resolve = (name) =>
  new Promise((resolve, reject) => {
    lookup(name, { all: true, order: 'verbatim' }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)))
  })
