// /presence: where administrators are.
import * as z from 'zod'
import { readableType } from '../../../admin/content/content-access.js'
import { type DocumentPresence, reportPresence, visiblePresence } from '../../../admin/content/document-presence.js'
import { administratorName } from '../../../admin/names.js'
import { endPresence, readPresence } from '../../../admin/presence.js'
import { timestamp, toTimestamp } from '../../../admin/values.js'
import { byDocument, contentAccess, typeInput } from '../content.js'
import { type Resource, resource, respond, respondNothing } from '../resource.js'

/** A document with the tabs that have it open. */
export const documentPresence = z.strictObject({
  type: z.string(),
  documentId: z.string(),
  people: z.array(
    z.strictObject({
      administrator: administratorName,
      tab: z.string(),
      locale: z.string().nullable(),
      /** The path of the attribute; null: none. */
      field: z.string().nullable(),
      since: timestamp,
    }),
  ),
})

/** Presence as a response. */
export const showPresence = ({ people, ...document }: DocumentPresence): z.input<typeof documentPresence> => ({
  ...document,
  people: people.map(({ since, ...person }) => ({ ...person, since: toTimestamp(since) })),
})

/** Chosen by the page, for one tab of one administrator. */
const tabInput = z.string().regex(/^[\w-]{1,64}$/, { error: 'This must be up to 64 letters, digits, - and _' })
const fieldInput = z
  .string()
  .max(500)
  .regex(/^\w[\w-]*(?:\.[\w-]+)*$/, { error: 'This must be the path of an attribute' })

/** The resources of presence. */
export const presenceResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/presence',
    summary: 'List documents of a type that tabs of administrators have open',
    who: 'byRoles',
    refusals: [404],
    query: z.strictObject({ type: typeInput, document: byDocument.shape.document.optional() }),
    response: z.strictObject({ data: z.array(documentPresence) }),
    handle: async (context) => {
      const { administration, administrator, query } = context
      const access = await contentAccess(context)
      const { uid } = readableType(access, query.type)
      const tabs = await readPresence(administration, { type: uid, document: query.document })
      const found = await visiblePresence(administration.database, { ...access, administrator }, tabs)
      return respond({ data: found.map(showPresence) })
    },
  }),
  resource({
    method: 'POST',
    path: '/presence',
    summary: 'Report where a tab is; it is repeated within 45 seconds',
    who: 'byRoles',
    refusals: [404],
    status: 204,
    body: z.strictObject({
      type: typeInput,
      document: byDocument.shape.document,
      locale: z.string().max(255).nullish(),
      field: fieldInput.nullish(),
      tab: tabInput,
    }),
    response: null,
    handle: async (context) => {
      const { administration, body } = context
      await reportPresence(administration, await contentAccess(context), body)
      administration.feed.look()
      return respondNothing()
    },
  }),
  resource({
    method: 'DELETE',
    path: '/presence/:tab',
    summary: 'Report that a tab has left',
    who: 'administrator',
    params: z.strictObject({ tab: tabInput }),
    response: null,
    handle: async ({ administration, administrator, params }) => {
      await endPresence(administration, administrator.id, params.tab)
      administration.feed.look()
      return respondNothing()
    },
  }),
]
