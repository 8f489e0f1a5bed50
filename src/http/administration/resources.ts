// The table of all resources of the administration API.
import type { Resource } from './resource.js'
import { contentResources } from './resources/content.js'
import { descriptionOf } from './resources/description.js'
import { recoveryResources } from './resources/recovery.js'
import { sessionResources } from './resources/session.js'

export const resources: readonly Resource[] = [
  ...sessionResources,
  ...recoveryResources,
  ...contentResources,
  descriptionOf(() => resources),
]
