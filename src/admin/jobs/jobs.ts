// The jobs of a service: looks whether there are any, and has them carried out. What carries them out is loaded with the first one.
import { openLeases } from '../../content/leases/leases.js'
import { pause } from '../../foundation/runtime/clock.js'
import type { Administration, AdministrationParts } from '../context.js'
import { anyOpenJob } from './job-rows.js'
import type { WithContent } from './runner.js'

/** The jobs of a service. */
export interface Jobs {
  /** Looks for jobs now, and every minute. */
  start(): void
  /** Has the jobs carried out that have not ended, if no other process does so. */
  look(): void
  /** Begins with no other document, and waits for a moment for the one under way. */
  close(): Promise<void>
}

/** What jobs depend on. */
export interface JobParts extends AdministrationParts {
  readonly withContent: WithContent
}

/** Milliseconds between two looks, for jobs that another process has left. */
const lookEvery = 60_000
/** Milliseconds after a start until the first look: requests come first. */
const firstLook = 1_000

/** Milliseconds to wait for a document when the service stops, and the share of the shutdown that this may be. */
const [longestClosing, closingShare] = [5_000, 1 / 5]

/** Prepares the jobs of a service. `open`: opens the administration. */
export function prepareJobs(parts: Omit<JobParts, 'tellFirst'>, open: () => Promise<Administration>): Jobs {
  const { config, database, writer, identification, withContent, log } = parts
  const leases = openLeases(database, writer, (error) =>
    log.error({ err: error }, 'the process that carries out jobs could not show a sign of life'),
  )
  const closing = new AbortController()
  let timer: NodeJS.Timeout | null = null
  let isAsked = false
  let working: Promise<void> | null = null

  async function work(): Promise<void> {
    while (isAsked && !closing.signal.aborted) {
      isAsked = false
      // A database that cannot be read is reported by its health; the next look comes.
      if (!(await anyOpenJob(database).catch(() => false))) continue
      const { workOff } = await import('./runner.js')
      await workOff({ administration: await open(), identification, withContent, leases, stopping: closing.signal })
    }
  }

  function look(): void {
    isAsked = true
    if (working !== null || closing.signal.aborted) return
    working = work()
      .catch((error: unknown) => {
        if (!closing.signal.aborted) log.error({ err: error }, 'jobs could not be carried out; they are tried again within a minute')
      })
      .finally(() => {
        working = null
      })
  }

  return {
    start: () => {
      timer = setTimeout(() => {
        look()
        timer = setInterval(look, lookEvery)
        timer.unref()
      }, firstLook)
      timer.unref()
    },
    look,
    close: async () => {
      closing.abort()
      if (timer !== null) clearTimeout(timer)
      await Promise.race([working, pause(Math.min(longestClosing, config.limits.drainTimeout * closingShare))])
      leases.close()
    },
  }
}
