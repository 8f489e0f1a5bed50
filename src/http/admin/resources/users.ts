// /users: users of the content API.
import * as z from 'zod'
import {
  changeManagedUser,
  createManagedUser,
  deleteManagedUser,
  managedUser,
  managedUsers,
  type UserValues,
} from '../../../admin/manage/users.js'
import { idOfCursor, pageOf } from '../cursors.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, newEmail, pageInput, pageMeta } from '../values.js'

const shownUser = z.strictObject({
  id: z.int(),
  documentId: z.string().nullable(),
  username: z.string().nullable(),
  email: z.string().nullable(),
  provider: z.string().nullable(),
  isConfirmed: z.boolean(),
  isBlocked: z.boolean(),
  role: z.strictObject({ id: z.int(), name: z.string(), type: z.string() }).nullable(),
})
const one = z.strictObject({ data: shownUser })

const uid = 'plugin::users-permissions.user'
const shownFields = ['username', 'email', 'provider', 'confirmed', 'blocked', 'role']
const writtenFields = ['username', 'email', 'password', 'confirmed', 'blocked', 'role']
/** A right of the content manager on users, with all fields that are shown or written here. */
const right = (name: string, fields: readonly string[]) => ({ action: `plugin::content-manager.explorer.${name}`, on: { uid, fields } })

const writing = ({ administration, installation, actor }: ResourceRequest) => ({ administration, actor, accounts: installation.accounts })

const values = {
  username: z.string().min(1).max(255),
  email: newEmail,
  password: z.string().min(1).max(1_000),
  isConfirmed: z.boolean(),
  isBlocked: z.boolean(),
  role: z.int().positive(),
}

async function respondUser({ administration }: ResourceRequest, id: number) {
  return answer({ data: await managedUser(administration.database, id) })
}

/** The resources of users. */
export const userResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/users', summary: 'List users of the content API', who: right('read', shownFields) },
    query: z.strictObject(pageInput),
    answer: z.strictObject({ data: z.array(shownUser), meta: pageMeta }),
    handle: async ({ administration, query: { after, limit } }) => {
      const rows = await managedUsers(administration.database, { after: idOfCursor(after, 'users') ?? 0, limit: limit + 1 })
      const page = pageOf(rows, limit, 'users', ({ id }) => id)
      return answer({ data: [...page.shown], meta: page.meta })
    },
  }),
  resource({
    ...{ method: 'POST', path: '/users', summary: 'Create a user', who: right('create', writtenFields), status: 201 },
    body: z.strictObject({ ...values, isConfirmed: values.isConfirmed.default(true), isBlocked: values.isBlocked.default(false) }),
    answer: one,
    handle: async (asked) => respondUser(asked, await createManagedUser(writing(asked), asked.body)),
    again: (asked, { ids }) => respondUser(asked, Number(ids[0])),
  }),
  resource({
    ...{ method: 'GET', path: '/users/:id', summary: 'Read a user', who: right('read', shownFields) },
    params: byId,
    answer: one,
    handle: (asked) => respondUser(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PATCH', path: '/users/:id', summary: 'Change, block or unblock a user', who: right('update', writtenFields) },
    params: byId,
    body: z.strictObject(values).partial(),
    answer: one,
    handle: async (asked) => {
      await changeManagedUser(writing(asked), asked.params.id, asked.body satisfies UserValues)
      return respondUser(asked, asked.params.id)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/users/:id', summary: 'Delete a user', who: right('delete', []) },
    params: byId,
    answer: null,
    handle: async (asked) => {
      await deleteManagedUser(writing(asked), asked.params.id)
      return nothing()
    },
  }),
]
