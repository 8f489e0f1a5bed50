// Saved views of lists: operations of the administration. A view belongs to an administrator, who may share it with own roles or everybody.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import * as z from 'zod'
import type { RowReader, Transaction } from '../../database/database.js'
import { insertRowSql } from '../../database/portable-sql.js'
import { ApiError, forbidden, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import { administratorName, readNames } from '../names.js'
import type { AdministratorGrants } from '../permissions/grants.js'
import { nameInput, timestamp, toTimestamp } from '../values.js'
import { act, type Operation, operation, type RequestChangeContext, type RequestOperationContext } from './operation.js'

/** Views of an administrator. */
const maxViews = 200
const maxQuery = 10_000
const maxColumns = 100

const columns = z.array(z.string().min(1).max(255)).max(maxColumns)
const density = z.enum(['compact', 'normal', 'wide'])
const visibility = z.enum(['mine', 'roles', 'everybody'])
const roleIds = z.array(z.int()).max(100)

const definition = z.strictObject({
  /** The state of the list, in the notation of the page. */
  query: z.string().max(maxQuery),
  columns,
  density,
})

const input = {
  name: nameInput,
  ...definition.shape,
  visibility,
  /** The roles that share the view, with the visibility `roles`. */
  roles: roleIds,
}

const shownView = z.strictObject({
  id: z.int(),
  type: z.string(),
  name: z.string(),
  ...definition.shape,
  visibility,
  roles: roleIds,
  owner: administratorName,
  /** True if the administrator may change it. */
  isMine: z.boolean(),
  updatedAt: timestamp,
  revision: z.string(),
})
const one = z.strictObject({ data: shownView })

interface Row {
  readonly id: number
  readonly administrator_id: number
  readonly type: string
  readonly name: string
  readonly visibility: string
  readonly roles: string
  readonly definition: string
  readonly changed_at: number
}

/** A stored view. */
interface View extends z.output<typeof definition> {
  readonly id: number
  readonly ownerId: number
  readonly type: string
  readonly name: string
  readonly visibility: z.output<typeof visibility>
  readonly roles: readonly number[]
  readonly updatedAt: number
}

const table = sql.table('octavo_views')

/** Reads own views and shared ones. */
async function readViews(
  { administrator }: RequestOperationContext,
  database: RowReader,
  condition: ReturnType<typeof sql>,
): Promise<readonly View[]> {
  const rows = await database.rows<Row>(
    sql`select id, administrator_id, type, name, visibility, roles, definition, changed_at from ${table}
      where ${condition} and (administrator_id = ${administrator.id} or visibility <> 'mine') order by name, id`,
  )
  return rows.map((row) => ({
    ...(JSON.parse(row.definition) as z.output<typeof definition>),
    id: Number(row.id),
    ownerId: Number(row.administrator_id),
    type: row.type,
    name: row.name,
    visibility: row.visibility as View['visibility'],
    roles: JSON.parse(row.roles) as readonly number[],
    updatedAt: Number(row.changed_at),
  }))
}

const revisionOf = (view: View): string => createHash('sha256').update(JSON.stringify(view)).digest('base64url').slice(0, 27)

const isMine = ({ administrator, isSuperAdmin }: RequestOperationContext, { ownerId, visibility: shared }: View): boolean =>
  ownerId === administrator.id || (isSuperAdmin && shared !== 'mine')

/** The views that exist for the administrator: own and shared ones, of types that he or she may read. */
async function visibleViews(context: RequestOperationContext, found: readonly View[]): Promise<readonly View[]> {
  const { administration, administrator, model } = context
  const grants = await administration.grantsOf(administrator, model)
  const own = new Set(administrator.roles.map(({ id }) => id))
  return found.filter(
    (view) =>
      isReadable(context, grants, view.type) &&
      (isMine(context, view) ||
        ((view.visibility === 'everybody' || (view.visibility === 'roles' && view.roles.some((id) => own.has(id)))) &&
          !namesHidden(context, grants, view))),
  )
}

const isReadable = ({ model }: RequestOperationContext, grants: AdministratorGrants, uid: string): boolean =>
  model.types.get(uid)?.exposed === true && grants.may(`${uid}.find`)

/** True if a view names an attribute of the type, or of one that it has relations to, that the administrator may not read. */
function namesHidden({ model }: RequestOperationContext, grants: AdministratorGrants, { type: uid, query, columns: shown }: View): boolean {
  const type = model.types.get(uid)!
  const targets = [...type.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'relation' ? (model.types.get(attribute.target) ?? []) : [],
  )
  const hiddenOf = (shape: typeof type): readonly string[] => {
    const readable = grants.content.readable.get(shape.uid) ?? noAttributes
    return [...shape.attributes.keys()].filter((name) => !isGranted(readable, name))
  }
  const hidden = new Set([type, ...targets].flatMap(hiddenOf))
  const readable = grants.content.readable.get(uid) ?? noAttributes
  const named = [query, ...shown].flatMap((text) => text.match(/[\w-]+/g) ?? [])
  return named.some((name) => hidden.has(name) && !(type.attributes.has(name) && isGranted(readable, name)))
}

/** @throws ApiError 404 */
async function readView(context: RequestOperationContext, database: RowReader, id: number): Promise<View> {
  const [view] = await visibleViews(context, await readViews(context, database, sql`id = ${id}`))
  if (view === undefined) throw notFound('View not found')
  return view
}

/** @throws ApiError 404; 403 for a view of another administrator; 412 with another revision */
async function readChangeable(context: RequestOperationContext, transaction: Transaction, id: number): Promise<View> {
  const view = await readView(context, transaction, id)
  if (!isMine(context, view)) throw forbidden()
  if (!context.revisions.includes(revisionOf(view))) throw new ApiError('PreconditionFailedError', 'The view has changed since it was read')
  return view
}

const sharing = 'plugin::content-manager.collection-types.configure-view'

/** @throws ApiError 403 for everybody without the right to configure lists, 400 for roles of others */
function checkSharing({ administrator, isSuperAdmin }: RequestOperationContext, { visibility: shared, roles }: Sharing): void {
  if (shared === 'everybody' && !administrator.may(sharing)) throw forbidden(sharing)
  if (shared !== 'roles') return
  if (roles.length === 0) throw invalidAt(['roles'], 'A view for roles names at least one', 'required')
  const own = administrator.roles.map(({ id }) => id)
  if (!isSuperAdmin && roles.some((id) => !own.includes(id)))
    throw invalidAt(['roles'], 'A view is shared with own roles only', 'forbidden')
}

type Sharing = Pick<View, 'visibility' | 'roles'>

const toRow = ({
  name,
  query,
  columns: shown,
  density: height,
  visibility: shared,
  roles,
}: Omit<View, 'id' | 'ownerId' | 'updatedAt'>) => ({
  name,
  visibility: shared,
  roles: JSON.stringify(shared === 'roles' ? roles : []),
  definition: JSON.stringify({ query, columns: shown, density: height }),
})

async function showViews(context: RequestOperationContext, found: readonly View[]) {
  const nameOf = await readNames(
    context.database,
    found.map(({ ownerId }) => ownerId),
  )
  return found.map((view) => {
    const { ownerId, updatedAt, ...shown } = view
    return {
      ...shown,
      owner: nameOf(ownerId),
      isMine: isMine(context, view),
      updatedAt: toTimestamp(updatedAt),
      revision: revisionOf(view),
    }
  })
}

const respondView = async (context: RequestOperationContext, id: number) => ({
  data: (await showViews(context, [await readView(context, context.database, id)]))[0]!,
})

const audited = (action: string) => ({ action, subject: 'view' })

/** The operations on views. */
export const views: Readonly<Record<string, Operation>> = {
  list: operation({
    route: 'GET /views',
    summary: 'List the views of a type that exist for oneself',
    rights: 'administrator',
    input: z.strictObject({ type: z.string().max(200) }),
    output: z.strictObject({ data: z.array(shownView) }),
    respond: async (context: RequestOperationContext, { type }) => ({
      data: await showViews(context, await visibleViews(context, await readViews(context, context.database, sql`type = ${type}`))),
    }),
  }),
  create: operation({
    route: 'POST /views',
    summary: 'Save a view',
    rights: 'byRoles',
    isTagged: true,
    input: z.strictObject({
      type: z.string().max(200),
      ...input,
      columns: columns.default([]),
      density: density.default('normal'),
      visibility: visibility.default('mine'),
      roles: roleIds.default([]),
    }),
    output: one,
    audit: audited('create'),
    run: (context: RequestChangeContext, given) =>
      act(context, async (transaction, now) => {
        const { administration, administrator, model } = context
        if (!isReadable(context, await administration.grantsOf(administrator, model), given.type))
          throw invalidAt(['type'], `There is no type ${given.type}`)
        checkSharing(context, given)
        const own = sql`select count(*) as count from ${table} where administrator_id = ${administrator.id}`
        const [counted] = await transaction.rows<{ readonly count: number }>(own)
        if (Number(counted!.count) >= maxViews) throw new ApiError('ApplicationError', `An administrator has at most ${maxViews} views`)
        const row = { administrator_id: administrator.id, type: given.type, ...toRow(given), changed_at: now }
        return { id: String(await transaction.insert(insertRowSql('octavo_views', row))), name: given.name }
      }),
    respond: (context: RequestOperationContext, _input, { id }) => respondView(context, Number(id)),
  }),
  read: operation({
    route: 'GET /views/:id',
    summary: 'Read a view',
    rights: 'administrator',
    output: one,
    respond: (context: RequestOperationContext, { id }) => respondView(context, id),
  }),
  update: operation({
    route: 'PATCH /views/:id',
    summary: 'Change or share a view',
    rights: 'byRoles',
    state: { of: 'the view' },
    input: z.strictObject(input).partial(),
    output: one,
    audit: audited('update'),
    run: (context: RequestChangeContext, { id, ...values }) =>
      act(context, async (transaction, now) => {
        const before = await readChangeable(context, transaction, id)
        const given = Object.entries(values).filter(([, value]) => value !== undefined)
        const after = { ...before, ...(Object.fromEntries(given) as Partial<View>) }
        if (values.visibility !== undefined || values.roles !== undefined) checkSharing(context, after)
        const row = toRow(after)
        await transaction.run(sql`update ${table} set name = ${row.name}, visibility = ${row.visibility}, roles = ${row.roles},
          definition = ${row.definition}, changed_at = ${now} where id = ${id}`)
        return { id: String(id), name: after.name, fields: given.map(([name]) => name) }
      }),
    respond: (context: RequestOperationContext, { id }) => respondView(context, id),
  }),
  delete: operation({
    route: 'DELETE /views/:id',
    summary: 'Delete a view',
    rights: 'byRoles',
    output: null,
    audit: audited('delete'),
    run: (context: RequestChangeContext, { id }) =>
      act(context, async (transaction) => {
        const view = await readView(context, transaction, id)
        if (!isMine(context, view)) throw forbidden()
        await transaction.run(sql`delete from ${table} where id = ${id}`)
        return { id: String(id), name: view.name }
      }),
  }),
}
