// The table of all resources of the administration API.
import type { Resource } from './resource.js'
import { activityResources } from './resources/activity.js'
import { adminResources, rightsResources, roleResources } from './resources/admins.js'
import { bulkResources } from './resources/bulk.js'
import { contentResources, editingResources, linkResources } from './resources/content.js'
import { historyResources } from './resources/history.js'
import { fileResources, folderResources } from './resources/media.js'
import { doctorResources, modelResources } from './resources/model.js'
import { recoveryResources, sessionResources } from './resources/session.js'
import { localeResources, settingsResources } from './resources/settings.js'
import { descriptionOf, startResources } from './resources/start.js'
import { typeResources } from './resources/types.js'
import { apiRoleResources, tokenResources, userResources } from './resources/users-and-tokens.js'
import { webhookResources } from './resources/webhooks.js'

export const resources: readonly Resource[] = [
  ...sessionResources,
  ...recoveryResources,
  ...contentResources,
  ...linkResources,
  ...fileResources,
  ...folderResources,
  ...typeResources,
  ...settingsResources,
  ...startResources,
  ...adminResources,
  ...roleResources,
  ...rightsResources,
  ...activityResources,
  ...tokenResources,
  ...apiRoleResources,
  ...userResources,
  ...localeResources,
  ...webhookResources,
  ...modelResources,
  ...editingResources,
  ...historyResources,
  ...bulkResources,
  ...doctorResources,
  descriptionOf(() => resources),
]
