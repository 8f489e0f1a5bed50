// /activity: the log of activity, latest entries first.
import * as z from 'zod'
import { type ActivityEntry, listActivity } from '../../../admin/activity.js'
import { pageInput, pageMeta, parseCursor, rowIdInput, timestamp, toPage, toTimestamp } from '../../../admin/values.js'
import { type Resource, resource, respond } from '../resource.js'

const entry = z.strictObject({
  id: z.int(),
  at: timestamp,
  /** Null: the command line. */
  administrator: z.strictObject({ id: z.int(), email: z.string() }).nullable(),
  action: z.string(),
  subject: z.string(),
  subjectId: z.string(),
  name: z.string().nullable(),
  /** The names of the changed fields, without values. */
  fields: z.array(z.string()),
  /** The locales of actions on localized documents. */
  locales: z.array(z.string()),
  address: z.string().nullable(),
})

const shown = ({ entry: id, at, administrator, action, subject, id: subjectId, name, fields, locales, address }: ActivityEntry) => ({
  id,
  at: toTimestamp(at),
  administrator,
  action,
  subject,
  subjectId,
  name: name ?? null,
  fields: fields ?? [],
  locales: locales ?? [],
  address,
})

/** The resource of the activity log. */
export const activityResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/activity',
    summary: 'List what administrators did, the latest first',
    who: { action: 'admin::audit-logs.read' },
    query: z.strictObject({
      administrator: rowIdInput.optional(),
      subject: z.string().max(255).optional(),
      subjectId: z.string().max(255).optional(),
      ...pageInput,
    }),
    response: z.strictObject({ data: z.array(entry), meta: pageMeta }),
    handle: async ({ administration, query: { after, limit, ...wanted } }) => {
      const filter = ['activity', wanted]
      const rows = await listActivity(administration.database, { ...wanted, before: parseCursor(after, filter), limit: limit + 1 })
      const page = toPage(rows, limit, filter, (row) => row.entry)
      return respond({ data: page.shown.map(shown), meta: page.meta })
    },
  }),
]
