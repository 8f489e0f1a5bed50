// Users of the content API: operations of the administration.
import { sql } from 'kysely'
import * as z from 'zod'
import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import { fullAccess } from '../../foundation/grants.js'
import type { AccountContext } from '../../identity/accounts/context.js'
import { createUser, deleteUser, updateUser } from '../../identity/accounts/user-records.js'
import { loggingWriter } from '../activity.js'
import { queueName } from '../identity/sign-in.js'
import { newEmail, pageInput, pageMeta, parseCursor, toPage } from '../values.js'
import { type Done, type OperationContext, operation, type RequestChangeContext } from './operation.js'

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
type User = z.input<typeof shownUser>

interface Row {
  readonly id: number
  readonly document_id: string | null
  readonly username: string | null
  readonly email: string | null
  readonly provider: string | null
  readonly confirmed: number | null
  readonly blocked: number | null
  readonly role: number | null
  readonly role_name: string | null
  readonly role_type: string | null
}

const selectUsers = sql`select u.id, u.document_id, u.username, u.email, u.provider, u.confirmed, u.blocked,
  r.id as ${sql.ref('role')}, r.name as role_name, r.type as role_type
  from up_users u left join up_users_role_lnk l on l.user_id = u.id left join up_roles r on r.id = l.role_id`

const toUser = (row: Row): User => ({
  id: row.id,
  documentId: row.document_id,
  username: row.username,
  email: row.email,
  provider: row.provider,
  isConfirmed: row.confirmed === 1,
  isBlocked: row.blocked === 1,
  role: row.role === null ? null : { id: row.role, name: row.role_name ?? '', type: row.role_type ?? '' },
})

/** @throws ApiError 404 */
async function readUser(database: RowReader, id: number): Promise<User> {
  const [row] = await database.rows<Row>(sql`${selectUsers} where u.id = ${id} order by r.id limit 1`)
  if (row === undefined) throw notFound('User not found')
  return toUser(row)
}

const userResponse = z.strictObject({ data: shownUser })
const shownFields = ['username', 'email', 'provider', 'confirmed', 'blocked', 'role']
const writtenFields = ['username', 'email', 'password', 'confirmed', 'blocked', 'role']
/** A right of the content manager on users, with all fields that are shown or written here. */
const right = (name: string, fields: readonly string[]) => ({
  action: `plugin::content-manager.explorer.${name}`,
  on: { uid: 'plugin::users-permissions.user', fields },
})
const audited = (action: string) => ({ action, subject: 'user' })

const values = {
  username: z.string().min(1).max(255),
  email: newEmail,
  password: z.string().min(1).max(1_000),
  isConfirmed: z.boolean(),
  isBlocked: z.boolean(),
  role: z.int().positive(),
}
const changes = z.strictObject(values).partial()

/** The same rights as a full-access API token. */
const caller = { kind: 'token', id: 0, grants: fullAccess } as const

const toBody = ({ isConfirmed, isBlocked, ...given }: z.output<typeof changes>): Readonly<Record<string, unknown>> => ({
  ...given,
  ...(isConfirmed === undefined ? {} : { confirmed: isConfirmed }),
  ...(isBlocked === undefined ? {} : { blocked: isBlocked }),
})

/** The accounts of an operation, whose transaction ends with the entry. */
function loggingAccounts<Result>(context: RequestChangeContext, toDone: (result: Result) => Done): AccountContext {
  const { accounts, actor, audit } = context
  const passwords = actor.administrator === null ? accounts.passwords : accounts.passwords.of(queueName(actor.administrator.id))
  return { ...accounts, passwords, writer: loggingWriter(context, actor, (result: Result) => ({ ...audit, ...toDone(result) })) }
}

const respondUser = async ({ database }: OperationContext, id: number) => ({ data: await readUser(database, id) })

/** The operations on users. */
export const users = {
  list: operation({
    route: 'GET /users',
    summary: 'List users of the content API',
    rights: right('read', shownFields),
    input: z.strictObject(pageInput),
    output: z.strictObject({ data: z.array(shownUser), meta: pageMeta }),
    respond: async ({ database }, { after, limit }) => {
      const rows = await database.rows<Row>(
        sql`${selectUsers} where u.id > ${parseCursor(after, 'users') ?? 0} order by u.id limit ${limit + 1}`,
      )
      const { shown, meta } = toPage(rows, limit, 'users', ({ id }) => id)
      return { data: shown.map(toUser), meta }
    },
  }),
  create: operation({
    route: 'POST /users',
    summary: 'Create a user',
    rights: right('create', writtenFields),
    input: z.strictObject({ ...values, isConfirmed: values.isConfirmed.default(true), isBlocked: values.isBlocked.default(false) }),
    output: userResponse,
    audit: audited('create'),
    run: async (context: RequestChangeContext, given) => {
      const toDone = (id: number): Done => ({ id: String(id), name: given.username })
      return toDone(await createUser(loggingAccounts(context, toDone), caller, toBody(given)))
    },
    respond: (context, _input, { id }) => respondUser(context, Number(id)),
  }),
  read: operation({
    route: 'GET /users/:id',
    summary: 'Read a user',
    rights: right('read', shownFields),
    output: userResponse,
    respond: (context, { id }) => respondUser(context, id),
  }),
  update: operation({
    route: 'PATCH /users/:id',
    summary: 'Change, block or unblock a user',
    rights: right('update', writtenFields),
    input: changes,
    output: userResponse,
    audit: audited('update'),
    run: async (context: RequestChangeContext, { id, ...given }) => {
      const { username } = await readUser(context.database, id)
      const body = toBody(given)
      const done = { id: String(id), name: username ?? '', fields: Object.keys(body) }
      await updateUser(
        loggingAccounts(context, () => done),
        caller,
        id,
        body,
      )
      return done
    },
    respond: (context, { id }) => respondUser(context, id),
  }),
  delete: operation({
    route: 'DELETE /users/:id',
    summary: 'Delete a user',
    rights: right('delete', []),
    output: null,
    audit: audited('delete'),
    run: async (context: RequestChangeContext, { id }) => {
      const { username } = await readUser(context.database, id)
      const done = { id: String(id), name: username ?? '' }
      await deleteUser(
        loggingAccounts(context, () => done),
        id,
      )
      return done
    },
  }),
}
