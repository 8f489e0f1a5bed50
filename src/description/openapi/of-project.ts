// What the configuration of a project says about the description of its API.
import type { Config } from '../../config/config.js'
import type { Model } from '../../model/types.js'
import { contracts } from '../../query/contract.js'
import type { DescriptionSource } from './description.js'

/** The parts of the configuration that a description depends on. */
export type DescribedConfig = Pick<Config, 'contract' | 'rest' | 'auth' | 'events' | 'routes'>

/** `server`: where the paths of the description begin. */
export const describedOf = (
  { contract, rest, auth, events, routes }: DescribedConfig,
  model: Model,
  server: string,
): DescriptionSource => ({
  ...{ model, server, contract: contracts[contract], pages: rest, draftGrant: rest.draftGrant },
  hasSessions: auth.jwtManagement === 'refresh',
  ...{ eventStream: events.stream?.path ?? null, routes },
})
