// `octavo events`: prints recorded events as JSON lines.

import { openEventLog } from '../../content/events/event-log.js'
import { readWebhooks } from '../../content/events/webhooks/webhook.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { orExplain } from './explain-error.js'
import { print } from './output.js'
import { lookIntoStarted } from './project.js'

const batchSize = 500

interface Options {
  readonly after: string
  readonly limit?: string
}

/** Prints the events after a sequence, oldest first. @throws ConfigError if an option is not a number */
export const eventsCommand = orExplain((folder: string, { after, limit }: Options) =>
  lookIntoStarted(folder, async ({ config, database }) => {
    const { outbox, listeners, stream } = config.events
    const isRecorded =
      outbox || listeners.length > 0 || stream !== null || (await readWebhooks(database)).some(({ isEnabled }) => isEnabled)
    if (!isRecorded) {
      process.stderr.write('octavo: events are not recorded. Set events.outbox to true in octavo.config to record them.\n')
    }
    const log = openEventLog(database)
    let sequence = whole('--after', after)
    let left = limit === undefined ? Number.POSITIVE_INFINITY : whole('--limit', limit)
    while (left > 0) {
      const events = await log.after(sequence, Math.min(batchSize, left))
      for (const event of events) print(JSON.stringify(event))
      if (events.length < Math.min(batchSize, left)) return
      sequence = events.at(-1)!.sequence
      left -= events.length
    }
  }),
)

/** Parses a whole number. @throws ConfigError that names the option */
export function whole(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ConfigError(`${option} is "${text}"; it must be a whole number.`)
  return Number(text)
}
