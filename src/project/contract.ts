// The contract of a project whose folder does not say it: the database may be one of Strapi.
import { sql } from 'kysely'
import { getDriver } from '../database/open.js'
import type { Config } from '../foundation/config/config.js'
import { refuseShort } from '../foundation/config/secrets.js'

/**
 * The configuration with the contract that the database speaks for, where nothing in the folder says one. A database that cannot be reached
 * is not reported here but by the caller that opens it.
 * @throws ConfigError for short secrets in production where nothing says that the project is one of Strapi
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

/** Whether Strapi has stored its schema: Octavo creates the table and leaves it empty. */
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
