// News for open pages, watched once for all streams of a process: changes of documents, presence, and commits of other processes.
import type { Changes } from '../content/events/changes.js'
import { shared } from '../foundation/runtime/coalesce.js'
import type { Identification } from '../identity/access/identify.js'
import { type PresenceDatabase, type PresentTab, readPresence } from './presence.js'

export interface Feed {
  /** Follows until the returned function is called. `looked` is called whenever there may be news, those of other processes within two seconds. */
  follow(looked: () => void): Promise<() => void>
  /** Looks for news now. */
  look(): void
  /** Sequence of the last change, as last seen. */
  lastChange(): number
  /** The tabs as last seen: the same array until one changes. */
  presence(): readonly PresentTab[]
}

interface FeedOptions extends Omit<PresenceDatabase, 'writer'> {
  readonly changes: Changes
  readonly identification: Pick<Identification, 'access'>
  failed(error: unknown): void
}

/** Milliseconds between looks at other processes, and at least between any two: each may make every stream read. */
const lookInterval = 1_000
const shortestInterval = 200

export function openFeed({ changes, identification, failed, ...presenceDatabase }: FeedOptions): Feed {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | null = null
  let lastChange = 0
  let presence: readonly PresentTab[] = []
  let text = '[]'

  const lookOnce = shared(async () => {
    // Follows changes of the model and of rights.
    await identification.access()
    lastChange = await changes.last()
    const tabs = await readPresence(presenceDatabase)
    if (JSON.stringify(tabs) !== text) {
      text = JSON.stringify(tabs)
      presence = tabs
    }
    for (const listener of listeners) listener()
  }, shortestInterval)
  const look = (): void => {
    if (listeners.size === 0) return
    lookOnce().catch((error: unknown) => {
      // A service that stops has closed its streams, and then the database.
      if (listeners.size > 0) failed(error)
    })
  }

  return {
    look,
    lastChange: () => lastChange,
    presence: () => presence,
    follow: async (looked) => {
      const unfollow = await changes.follow(look)
      listeners.add(looked)
      timer ??= setInterval(look, lookInterval).unref()
      const end = (): void => {
        unfollow()
        listeners.delete(looked)
        if (listeners.size > 0 || timer === null) return
        clearInterval(timer)
        timer = null
      }
      await lookOnce().catch((error: unknown) => {
        end()
        throw error
      })
      return end
    },
  }
}
