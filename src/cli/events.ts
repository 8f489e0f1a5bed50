// `octavo events`: what has been recorded, one event a line, as JSON.

import { ConfigError } from '../errors/errors.js'
import { openEventLog } from '../events/outbox.js'
import { orExplain } from './explain-error.js'
import { lookIntoProject, print } from './project.js'

/** Events that are read at once. */
const portion = 500

interface Options {
  readonly after: string
  readonly limit?: string
}

/** Prints the events after a sequence, oldest first; says so where none are recorded. @throws ConfigError for what is no number */
export const eventsCommand = orExplain((folder: string, { after, limit }: Options) =>
  lookIntoProject(folder, async ({ config, database }) => {
    if (!config.events.outbox && config.events.listeners.length === 0) {
      process.stderr.write('octavo: events.outbox is off, so nothing is recorded. octavo.config turns it on.\n')
    }
    const log = openEventLog(database)
    let sequence = whole('--after', after)
    let left = limit === undefined ? Number.POSITIVE_INFINITY : whole('--limit', limit)
    while (left > 0) {
      const events = await log.after(sequence, Math.min(portion, left))
      for (const event of events) print(JSON.stringify(event))
      if (events.length < Math.min(portion, left)) return
      sequence = events.at(-1)!.sequence
      left -= events.length
    }
  }),
)

function whole(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ConfigError(`${option} is "${text}"; it must be a whole number.`)
  return Number(text)
}
