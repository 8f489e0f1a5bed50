// The table of all resources of the administration API.
import { locales } from '../../admin/manage/locales.js'
import type { Operation } from '../../admin/manage/operation.js'
import { roles } from '../../admin/manage/roles.js'
import { tokens } from '../../admin/manage/tokens.js'
import { users } from '../../admin/manage/users.js'
import { webhooks } from '../../admin/manage/webhooks.js'
import { type Resource, toResource } from './resource.js'
import { activityResources } from './resources/activity.js'
import { adminResources, rightsResources, roleResources } from './resources/admins.js'
import { bulkResources } from './resources/bulk.js'
import { contentResources, editingResources, linkResources } from './resources/content.js'
import { historyResources } from './resources/history.js'
import { fileResources, folderResources } from './resources/media.js'
import { doctorResources, modelResources } from './resources/model.js'
import { recoveryResources, sessionResources } from './resources/session.js'
import { settingsResources } from './resources/settings.js'
import { descriptionOf, startResources } from './resources/start.js'
import { typeResources } from './resources/types.js'

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
  ...[tokens, roles, users, locales, webhooks].flatMap((operations: Readonly<Record<string, Operation>>) =>
    Object.values(operations).map(toResource),
  ),
  ...modelResources,
  ...editingResources,
  ...historyResources,
  ...bulkResources,
  ...doctorResources,
  descriptionOf(() => resources),
]
