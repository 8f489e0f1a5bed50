// Determines the contract of a project whose folder does not state it: the database may be Strapi's.
import { sql } from 'kysely'
import { getDriver } from '../database/open.js'
import type { Config } from '../foundation/config/config.js'
import { refuseShort } from '../foundation/config/secrets.js'

/**
 * Sets the contract according to the database, unless the folder determines it. An unreachable database is not reported here, but by the
 * caller that opens it.
 * @throws ConfigError for short secrets in production, unless the project is Strapi's
 */
export async function withContractOfDatabase(config: Config): Promise<Config> {
  if (!config.isContractGuessed) return config
  if (!(await isMadeByStrapi(config).catch(() => false))) {
    if (config.refusesShortSecrets) refuseShort(config)
    return config
  }
  return Object.freeze({
    ...config,
    contract: 'strapi' as const,
    contractReason: 'the database is one of Strapi, which has stored its schema there',
    isContractGuessed: false,
    saysContract: true,
    database: { ...config.database, nullsFirst: false },
  })
}

/** True if Strapi has stored its schema: Octavo creates the table, but leaves it empty. */
async function isMadeByStrapi(config: Config): Promise<boolean> {
  const driver = await getDriver(config)
  if (!driver.exists(config)) return false
  const view = await driver.openView(config)
  try {
    if (!(await view.tables()).has('strapi_database_schema')) return false
    return (await view.main.rows(sql`select id from strapi_database_schema limit 1`)).length > 0
  } finally {
    await view.close()
  }
}
