// `octavo leave [folder]`: removes Octavo's additions from a project's database and files, so that only Strapi's remain.
import { sql } from 'kysely'
import { openLibrarySwaps } from '../../content/media/library-swap.js'
import { hasAbandoned, hasRunningOwner, removeStaging } from '../../content/media/staging.js'
import type { OctavoObjects, Uninstallation } from '../../database/driver.js'
import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { actionsOfOctavo } from '../../identity/access/actions.js'
import type { Model } from '../../model/schema/types.js'
import { onDatabase, orExplain } from './explain-error.js'
import { createProgress, pluralize, print } from './output.js'
import { checkDatabase, readProjectFolder } from './project.js'
import { confirm, isInteractive } from './prompt.js'

interface Options {
  readonly force?: boolean
  readonly yes?: boolean
}

/** @throws ConfigError while the database is in use, or without consent */
export const leaveCommand = orExplain(async (folder: string, options: Options) => {
  const { config, model } = await readProjectFolder(folder, checkDatabase)
  if (await hasRunningOwner(config.uploadsFolder))
    throw new ConfigError('Octavo is running on this project; stop it first. Nothing was changed')
  await onDatabase(config, async () => {
    const undelivered = await undeliveredEvents(config)
    const driver = await getDriver(config)
    const leaving = await driver.uninstall(config, actionsOfOctavo(model))
    try {
      await leave(config, model, { leaving, undelivered, options })
    } finally {
      await leaving.close()
    }
  })
})

interface Departure {
  readonly leaving: Uninstallation
  /** Number of events that a listener or webhook has not received. */
  readonly undelivered: number
  readonly options: Options
}

async function leave(config: Config, model: Model, { leaving, undelivered, options }: Departure): Promise<void> {
  const found = await leaving.find()
  const name = (await getDriver(config)).getName(config)
  if (isEmpty(found)) {
    await removeStaging(config.uploadsFolder)
    print(`Nothing of Octavo is in ${name}.`)
    return
  }
  show(found, undelivered, name)
  if (options.force !== true && options.yes !== true) {
    if (!isInteractive()) throw new ConfigError('To agree: --force. Nothing was changed')
    if (!(await confirm('Remove all this?'))) throw new ConfigError('Nothing was changed')
  }
  if (found.tables.has('octavo_file_swaps')) await finishFiles(config, model)
  await leaving.remove(createProgress((each: string) => `removing ${each}`))
  await removeStaging(config.uploadsFolder)
  print(`Removed. ${name} has the content as before, and only what Strapi makes. Octavo adds its tables again when it is started.`)
}

const isEmpty = ({ tables, indexes, permissions, others }: OctavoObjects): boolean =>
  tables.size + indexes.length + permissions + others.length === 0

/** Finishes the file cleanup of stopped processes, according to the rows in the database. */
async function finishFiles(config: Config, model: Model): Promise<void> {
  if (!(await hasAbandoned(config.uploadsFolder))) return
  const driver = await getDriver(config)
  const database = await driver.openForCommand(config, model, async () => {})
  const library = await openLibrarySwaps(config)
  try {
    await library.recover(database)
  } finally {
    await library.close()
    await database.close()
  }
}

/** Content lost with a table. */
const lost: Readonly<Record<string, string>> = {
  octavo_pending_links: 'relations of published entries that wait for their targets to be published',
  octavo_modified_drafts: 'notes on changed drafts; the drafts stay',
  octavo_out_of_sync_locales: 'notes on documents with locales that differ in shared values; the content stays',
  octavo_credential_versions:
    'users whose tokens were revoked; should Octavo come back, tokens that have not expired are valid again, unless the password has changed',
  octavo_one_time_tokens: 'links in letters to users, for new passwords and confirmations',
  octavo_identities: 'connections of users to their accounts of other services',
  octavo_idempotency_keys: 'writes that are remembered; a client that repeats one by its Idempotency-Key writes twice',
  octavo_outbox: 'recorded events',
  octavo_schedule_times: 'last times of schedules; times missed until a later return to Octavo are not run',
  octavo_scheduled_actions: 'publications that administrators have scheduled for later',
  octavo_views: 'saved views of lists in the administration',
  octavo_webhooks: 'signing secrets of webhooks; the webhooks themselves are rows of Strapi and stay',
  octavo_webhook_attempts: 'entries in the log of deliveries to webhooks',
}

function show({ tables, indexes, permissions, others }: OctavoObjects, undelivered: number, name: string): void {
  print(`Octavo has added to ${name}:`)
  for (const [table, rows] of tables) print(`  the table ${table}${rows === 0 ? '' : ` (${pluralize(rows, 'row')})`}`)
  if (indexes.length > 0) print(`  ${pluralize(indexes.length, 'index', 'indexes')} (octavo_*)`)
  if (permissions > 0)
    print(`  ${pluralize(permissions, 'permission')} for actions that Strapi does not have (publish, unpublish, discard, findDraft)`)
  for (const other of others) print(`  ${other}`)
  const lines = [
    ...[...tables].flatMap(([table, rows]) => (rows > 0 && Object.hasOwn(lost, table) ? [[rows, lost[table]!] as const] : [])),
    ...(undelivered > 0 ? [[undelivered, 'of these events, which have not reached all listeners and webhooks'] as const] : []),
  ]
  if (lines.length === 0) return
  print('With it these are lost:')
  const width = String(Math.max(...lines.map(([count]) => count))).length
  for (const [count, what] of lines) print(`  ${String(count).padStart(width)}  ${what}`)
}

/** Counts events that a listener or webhook has not received. */
async function undeliveredEvents(config: Config): Promise<number> {
  const driver = await getDriver(config)
  const view = await driver.openView(config)
  try {
    const tables = await view.tables()
    if (!tables.has('octavo_outbox') || !tables.has('octavo_consumers')) return 0
    const [row] = await view.main.rows<{ count: number }>(
      sql`select count(*) as count from octavo_outbox where sequence > (select min(sequence) from octavo_consumers)`,
    )
    return Number(row?.count ?? 0)
  } finally {
    await view.close()
  }
}
