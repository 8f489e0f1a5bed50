// The table of all resources of the administration API.
import type { Resource } from './resource.js'
import { activityResources } from './resources/activity.js'
import { adminResources } from './resources/admins.js'
import { apiRoleResources } from './resources/api-roles.js'
import { bulkResources } from './resources/bulk.js'
import { contentResources } from './resources/content.js'
import { descriptionOf } from './resources/description.js'
import { doctorResources } from './resources/doctor.js'
import { editingResources } from './resources/editing.js'
import { fileResources } from './resources/files.js'
import { folderResources } from './resources/folders.js'
import { historyResources } from './resources/history.js'
import { linkResources } from './resources/links.js'
import { localeResources } from './resources/locales.js'
import { modelResources } from './resources/model.js'
import { recoveryResources } from './resources/recovery.js'
import { rightsResources } from './resources/rights.js'
import { roleResources } from './resources/roles.js'
import { sessionResources } from './resources/session.js'
import { settingsResources } from './resources/settings.js'
import { startResources } from './resources/start.js'
import { tokenResources } from './resources/tokens.js'
import { typeResources } from './resources/types.js'
import { userResources } from './resources/users.js'
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
