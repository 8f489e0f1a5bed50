// Administrators for tests: written into the service's database while it serves, and signed in over HTTP.
import { hashSync } from '@node-rs/bcrypt'
import { refusalStatuses } from '../../src/http/admin/openapi.js'
import type { Resource } from '../../src/http/admin/resource.js'
import { resources } from '../../src/http/admin/resources.js'
import { isTagged } from '../../src/http/admin/revisions.js'
import type { Served, TestResponse } from './serve.js'
import type { Row, Value } from './statements.js'

/** A project with notes. */
export const projectWithNotes = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: false },
    attributes: { title: { type: 'string' } },
  },
}

/** The password of administrators in tests. */
export const adminPassword = 'Correct-Horse-7'
/** With the lowest cost, so that tests do not wait. */
const storedPassword = hashSync(adminPassword, 4)

const insert = async ({ sql }: Pick<Served, 'sql'>, table: string, row: Readonly<Record<string, Value>>): Promise<number> => {
  const names = Object.keys(row)
  const statement = `INSERT INTO "${table}" (${names.map((name) => `"${name}"`).join(', ')}) VALUES (${names.map(() => '?').join(', ')}) RETURNING id`
  return (await sql(statement, ...Object.values(row)))[0]!.id as number
}

/** Returns the id of a role of administrators by its code; a database without it gets it. */
export async function adminRole(served: Pick<Served, 'sql'>, code: string): Promise<number> {
  const [found] = await served.sql('SELECT id FROM admin_roles WHERE code = ?', code)
  if (found !== undefined) return found.id as number
  return insert(served, 'admin_roles', { code, name: code, description: '', created_at: Date.now(), updated_at: Date.now() })
}

/** Lets a role do something: an action that concerns no content-type, or one on all fields of a type, as `action uid`. */
export async function allowAdmins(served: Pick<Served, 'sql'>, code: string, ...actions: readonly string[]): Promise<void> {
  for (const [action = '', subject = null] of actions.map((given) => given.split(' '))) {
    const values = { action, subject, properties: '{}', conditions: '[]', created_at: Date.now(), updated_at: Date.now() }
    const permission = await insert(served, 'admin_permissions', values)
    await insert(served, 'admin_permissions_role_lnk', { permission_id: permission, role_id: await adminRole(served, code) })
  }
}

/** Writes an administrator with roles, by their codes, and returns the row id. */
export async function addAdministrator(
  served: Pick<Served, 'sql'>,
  email: string,
  roles: readonly string[] = ['strapi-super-admin'],
  more: Readonly<Record<string, Value>> = {},
): Promise<number> {
  const row = {
    email,
    firstname: 'Ada',
    password: storedPassword,
    is_active: 1,
    blocked: 0,
    document_id: email.padEnd(24, 'x').slice(0, 24),
  }
  const id = await insert(served, 'admin_users', { ...row, created_at: Date.now(), updated_at: Date.now(), ...more })
  for (const role of roles) await insert(served, 'admin_users_roles_lnk', { user_id: id, role_id: await adminRole(served, role) })
  return id
}

/** A signed-in administrator. */
export interface SignedIn {
  readonly accessToken: string
  /** `octavo_admin=…`, as the browser sends it. */
  readonly cookie: string
  readonly answer: TestResponse
}

/** The headers of a request of the page. */
export const pageHeaders = (origin: string): Readonly<Record<string, string>> => ({
  origin,
  'octavo-admin': '1',
  'content-type': 'application/json',
})

/** Parts of a request other than its path. */
export interface AdminRequestOptions {
  readonly method?: string
  readonly token?: string
  readonly cookie?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Without the headers of the page. */
  readonly isForeign?: boolean
}

/** Asks the administration API, as its page does. Responses are compared with the table of resources. */
export async function requestAdmin(
  served: Pick<Served, 'origin' | 'request'>,
  path: string,
  asked: AdminRequestOptions = {},
): Promise<TestResponse> {
  const { method = 'GET', token, cookie, body, headers = {}, isForeign = false } = asked
  const answer = await served.request(`/admin/api${path}`, {
    method,
    headers: { ...(isForeign ? {} : pageHeaders(served.origin)), ...(cookie === undefined ? {} : { cookie }), ...headers },
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  checkAnswer(method, path, answer)
  return answer
}

/** The resource that a request is about; undefined: the table has none. */
function resourceAt(method: string, path: string): Resource | undefined {
  const parts = path.split('?')[0]!.split('/')
  const matches = (own: string) => {
    const names = own.split('/')
    return names.length === parts.length && names.every((name, index) => name.startsWith(':') || name === parts[index])
  }
  const found = resources.filter((resource) => resource.method === method && matches(resource.path))
  return found.find(({ path: own }) => !own.includes(':')) ?? found[0]
}

/** Checks a response by what its resource declares. @throws Error if it is another one */
function checkAnswer(method: string, path: string, { body, headers, status }: TestResponse): void {
  const resource = resourceAt(method, path)
  if (resource === undefined) {
    if (status >= 400) return
    throw new Error(`The table has no ${method} ${path}`)
  }
  const said = `${method} ${path} (${resource.path})`
  const hasTag = headers.get('etag') !== null
  if (status < 400 && status !== 304 && hasTag !== isTagged(resource)) throw new Error(`${said} has ${hasTag ? 'an' : 'no'} ETag`)
  if (status === 304) {
    if (method !== 'GET' || resource.response === null || !hasTag) throw new Error(`${said} is 304`)
    return
  }
  if (status >= 400) {
    if (status >= 500 ? status === 500 : !refusalStatuses(resource).some((refusal) => refusal === status))
      throw new Error(`${said} is ${status}, which it does not declare: ${JSON.stringify(body)}`)
    if (typeof body?.error?.details !== 'object') throw new Error(`${said} has no details: ${JSON.stringify(body)}`)
    return
  }
  if (resource.status !== status) throw new Error(`${said} is ${status}, the table says ${resource.status}`)
  if (resource.response === null ? body !== null : !resource.response.safeParse(body).success)
    throw new Error(`${said}: ${JSON.stringify(resource.response?.safeParse(body).error ?? 'it has content')}`)
}

/** Signs in. @throws Error unless that succeeds */
export async function signInAdmin(served: Served, email: string, more: object = {}): Promise<SignedIn> {
  const answer = await requestAdmin(served, '/session', { method: 'POST', body: { email, password: adminPassword, ...more } })
  if (answer.status !== 200) throw new Error(`${email} could not sign in: ${answer.text}`)
  return { accessToken: answer.body.data.accessToken, cookie: cookieOf(answer), answer }
}

/** The cookie that a response sets, as the browser sends it back. */
export const cookieOf = ({ headers }: TestResponse): string => (headers.get('set-cookie') ?? '').split(';')[0]!

/** The rows of a table in the order of their ids. */
export const rowsOf = (served: Pick<Served, 'sql'>, table: string): Promise<readonly Row[]> =>
  served.sql(`SELECT * FROM "${table}" ORDER BY id`)
