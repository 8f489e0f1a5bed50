// The driver of a database server.
import { sql } from 'kysely'
import type { Config } from '../../foundation/config/config.js'
import type { ServerSettings } from '../../foundation/config/database.js'
import type { Model } from '../../model/schema/types.js'
import type { DatabaseLock, DatabaseView, FillDatabase, MainConnection } from '../database.js'
import type { Driver, WriteFirstRows } from '../driver.js'
import { startTimeoutMs } from '../limits.js'
import { formatServer, type Lend, type ServerConnection, type ServerKind } from './kind.js'
import { openServerDatabase, openServerForCommand, prepareFor } from './open.js'
import { openUninstallation } from './uninstall.js'

/** `firstRows`: fills a new database with a model's first content. */
export function serverDriver<Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  firstRows: (locale: string, model: Model, fill: FillDatabase) => WriteFirstRows,
): Driver {
  const fillOf = ({ initialLocale }: Config, model: Model, fill: FillDatabase) => firstRows(initialLocale, model, fill)
  const nameOf = (settings: ServerSettings) => formatServer(kind.scheme, settings)

  return {
    exists: () => true,
    getName: ({ database }) => nameOf(database.server!),
    // A server's database exists or cannot be reached.
    refuseLost: () => {},
    refuseEmptied: () => {},
    classifyError: () => null,
    open: (config, model, host) => openServerDatabase(kind, config, model, host, fillOf(config, model, host.fill)),
    openForCommand: (config, model, fill) =>
      reach(kind, config.database.server!, (reached) => openServerForCommand(kind, config, model, reached, fillOf(config, model, fill))),
    openView: (config) =>
      reach(kind, config.database.server!, async (reached) =>
        createView(kind, reached, (work) => kind.lend(reached.small, work), reached.close),
      ),
    openSnapshot: (config, longest) =>
      reachAlone(kind, config.database.server!, async (client, close, reached) => {
        const snapshot = await kind.beginSnapshot(client, longest)
        return createView(kind, reached, (work) => work(snapshot), close)
      }),
    rows: (config, model, beforeSnapshot = () => {}) =>
      reachAlone(kind, config.database.server!, async (client, close, { settings }) => {
        beforeSnapshot()
        const source = await kind.openSource(client, nameOf(settings), close)
        return model === undefined ? source : kind.withModelNames(source, model)
      }),
    fileSnapshot: null,
    replacement: (config, model, fill) =>
      reachAlone(kind, config.database.server!, async (client, close, reached) => {
        const wait = startTimeoutMs
        await prepareFor(kind, config, model, reached, fillOf(config, model, fill), wait)
        return kind.withModelNames(kind.openReplacement(client, nameOf(reached.settings), wait, close), model)
      }),
    uninstall: (config, actions) =>
      reachAlone(kind, config.database.server!, async (client, close) =>
        openUninstallation((text) => kind.query(client, text), kind.uninstall, { actions, wait: startTimeoutMs, close }),
      ),
    createMissingIndexes: async (config, model, report) => {
      const { small, close } = await kind.connect(config.database.server!)
      return kind.createIndexes(small, config, model, ({ name }, done, missing) => report(name, done, missing)).finally(close)
    },
    lock: (config, wait) =>
      reachAlone(kind, config.database.server!, async (client, close, reached) => {
        await kind.lockStart(client, wait)
        return createLock(
          kind,
          kind.createMain((work) => work(client), reached),
          client,
          close,
        )
      }),
  }
}

/** Connects to the server for `open`, disconnecting if it fails. `name`: the server's name in errors. */
async function reach<Client, Pool, Reached extends ServerConnection<Pool>, Result>(
  kind: ServerKind<Client, Pool, Reached>,
  settings: ServerSettings,
  open: (reached: Reached) => Promise<Result>,
  name?: string,
): Promise<Result> {
  const reached = await kind.connect(settings, undefined, name)
  return open(reached).catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
}

/** Like `reach`, with a dedicated connection that `close` ends. */
export const reachAlone = <Client, Pool, Reached extends ServerConnection<Pool>, Result>(
  kind: ServerKind<Client, Pool, Reached>,
  settings: ServerSettings,
  open: (client: Client, close: () => Promise<void>, reached: Reached) => Promise<Result>,
  name?: string,
): Promise<Result> =>
  reach(
    kind,
    settings,
    async (reached) => {
      const { client, end } = await kind.take(reached.small)
      const close = async () => {
        end()
        await reached.close()
      }
      return open(client, close, reached).catch((error: unknown) => {
        end()
        throw error
      })
    },
    name,
  )

const createView = <Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  reached: Reached,
  lend: Lend<Client>,
  close: () => Promise<void>,
): DatabaseView => ({
  tables: () => lend((client) => kind.inspect(client).tables()),
  findDamage: null,
  danglingRows: () => lend((client) => kind.inspect(client).danglingRows()),
  main: kind.createMain(lend, reached),
  isEmpty: () => lend(kind.isUnprepared),
  mismatches: (model) => lend((client) => kind.findMismatches(client, model)),
  declaredColumns: () => lend(kind.readDeclaredColumns),
  close,
})

const createLock = <Client>(
  { isUnprepared }: Pick<ServerKind<Client, never, never>, 'isUnprepared'>,
  main: MainConnection,
  client: Client,
  release: () => Promise<void>,
): DatabaseLock => ({
  countTokens: async () => {
    if (await isUnprepared(client)) return 0
    const [row] = await main.rows<{ readonly count: number }>(sql`select count(*) as count from strapi_api_tokens`)
    return row!.count
  },
  release,
})
