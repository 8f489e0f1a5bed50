// What the configuration of a project says about the description of its API.
import type { Config } from '../../../foundation/config/config.js'
import { leftOutRoutes } from '../../../model/schema/type-routes.js'
import type { Model } from '../../../model/schema/types.js'
import { contracts } from '../../../query/contract.js'
import type { DescriptionSource } from './description.js'

/** The parts of the configuration that a description depends on. */
export type DescribedConfig = Pick<Config, 'contract' | 'rest' | 'auth' | 'events' | 'routes' | 'types' | 'modelChanges'>

/** `origin`: that of the service's address, or an empty text for paths of the same server. */
export const describedOf = (
  { contract, rest, auth, events, routes, types, modelChanges }: DescribedConfig,
  model: Model,
  origin: string,
): DescriptionSource => ({
  ...{
    model,
    server: origin + rest.prefix,
    root: origin || '/',
    leftOut: leftOutRoutes(types),
    contract: contracts[contract],
    pages: rest,
    draftGrant: rest.draftGrant,
  },
  ...{ hasSessions: auth.jwtManagement === 'refresh', modelChanges },
  ...{ eventStream: events.stream?.path ?? null, routes },
})
