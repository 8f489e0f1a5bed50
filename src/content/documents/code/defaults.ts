// A project's defaults for query parameters that a request omits.
import { ApiError, ConfigError } from '../../../foundation/errors/errors.js'
import { fullAccess } from '../../../foundation/grants.js'
import type { QueryDefaults, TypeSettings } from '../../../foundation/public/type-settings.js'
import { isObject, type Parameters } from '../../../query/request.js'
import { type ReadContext, readRequest } from '../../../query/rest/read.js'
import type { AddDefaults } from '../read/find.js'

/** Returns null if the project has none, so that they cost nothing. */
export function createDefaults(types: Readonly<Record<string, TypeSettings>>): AddDefaults | null {
  const known = new Map(
    Object.entries(types).flatMap(([uid, { defaults }]) => (defaults === undefined ? [] : [[uid, toPlainDefaults(defaults)] as const])),
  )
  if (known.size === 0) return null
  return ({ uid }, parameters) => {
    const defaults = known.get(uid)
    return defaults === undefined ? parameters : withDefaults(defaults, parameters)
  }
}

const toPlainDefaults = (defaults: QueryDefaults): QueryDefaults => JSON.parse(JSON.stringify(defaults)) as QueryDefaults

function withDefaults({ pageSize, ...defaults }: QueryDefaults, given: Parameters): Parameters {
  const { pagination } = given
  const isSized = isObject(pagination)
    ? ['pageSize', 'start', 'limit'].some((name) => pagination[name] !== undefined)
    : pagination !== undefined
  const page = pageSize === undefined || isSized ? {} : { pagination: { ...(isObject(pagination) ? pagination : {}), pageSize } }
  return { ...defaults, ...given, ...page } as Parameters
}

/** @throws ConfigError for defaults that are not valid in a request */
export function checkDefaults(types: Readonly<Record<string, TypeSettings>>, context: ReadContext): void {
  const add = createDefaults(types)
  if (add === null) return
  for (const uid of Object.keys(types)) {
    const type = context.model.types.get(uid)!
    try {
      for (const mode of type.singleType ? (['first'] as const) : (['many', 'first'] as const))
        readRequest(context, fullAccess, { type, mode }, add(type, {}))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw new ConfigError(`Invalid configuration (octavo.config): types: the defaults of ${uid}: ${error.message}.`)
    }
  }
}
