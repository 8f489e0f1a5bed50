// Opens content for an administrator.
import type { Grants } from '../../foundation/grants.js'
import { type ActingAdministrator, noteActivity } from '../activity.js'
import type { Administration } from '../context.js'
import type { ContentAccess } from './content-access.js'

/** The reads and writes of one installation. */
export type InstalledContent = Pick<ContentAccess, 'documents' | 'writes' | 'batch' | 'checks' | 'defaultLocale'>

/** For whom content is opened. */
export interface ContentUser {
  readonly administratorId: number
  readonly grants: Grants
  /** The same administrator for the log of activity. */
  readonly actor: ActingAdministrator
  readonly requestId: string
}

/** Opens content for an administrator. */
export function openContent(
  { config, database, now, hasHistory }: Pick<Administration, 'config' | 'database' | 'now' | 'hasHistory'>,
  { documents, writes, batch, checks, defaultLocale }: InstalledContent,
  { administratorId, grants, actor, requestId }: ContentUser,
): ContentAccess {
  const { limits } = config
  return {
    ...{ documents, writes, batch, checks, defaultLocale, grants, administratorId, requestId, limits },
    history: hasHistory ? { database, now, limits } : null,
    note: async (transaction, act) => {
      if (act !== null) await noteActivity(transaction, actor, act, { now: now(), most: limits.activityEntries })
    },
  }
}
