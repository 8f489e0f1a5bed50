// Types of a project's custom fields, from its configuration, database and code. Without custom fields, nothing is read.

import type { DeclaredColumn } from '../database/database.js'
import { getDriver } from '../database/open.js'
import type { Config } from '../foundation/config/config.js'
import type { FindFields, KnownFields } from '../model/schema/custom-fields.js'

interface Places {
  /** Configuration of the database whose columns count, if it is not that of the project. */
  readonly database?: Config
  /** The database may be unreachable. */
  readonly isOptional?: boolean
}

/** Finds the types of custom fields, once. Rejects if a required database is unreachable. */
export function openFields(config: Config, { database = config, isOptional = false }: Places = {}): FindFields {
  let found: Promise<KnownFields> | null = null
  return () => {
    found ??= knownFields(config, isOptional ? () => declaredIn(database).catch(() => nowhere) : () => declaredIn(database))
    return found
  }
}

async function knownFields({ customFields, folder }: Config, look: () => Promise<DeclaredColumn>): Promise<KnownFields> {
  const { registeredFields } = await import('../../packages/strapi-code/custom-fields.js')
  return { configured: customFields, registered: registeredFields(folder), declared: await look() }
}

const nowhere: DeclaredColumn = () => null

async function declaredIn(config: Config): Promise<DeclaredColumn> {
  const driver = await getDriver(config)
  if (!driver.exists(config)) return nowhere
  const view = await driver.openView(config)
  return view.declaredColumns().finally(() => view.close())
}
