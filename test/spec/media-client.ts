// Requests of administrators to the media library: forms with files, and roles with rights to files.
import { adminRole, type SignedIn } from '../support/administration.js'
import type { Served, TestResponse } from '../support/serve.js'
import { formOf, type Part } from '../uploads/sending.js'

/** Sends a form with files to the administration API. */
export const sendForm = (
  served: Served,
  path: string,
  parts: readonly Part[],
  { accessToken: token }: Pick<SignedIn, 'accessToken'>,
): Promise<TestResponse> => served.request(`/admin/api${path}`, { method: 'POST', token, body: formOf(parts) })

/** Gives a role one of Strapi's rights to files. */
export async function giveFileRight({ sql }: Served, code: string, action: string, conditions: readonly string[] = []): Promise<void> {
  const role = await adminRole({ sql }, code)
  const moment = Date.now()
  const [permission] = await sql(
    'INSERT INTO admin_permissions (action, properties, conditions, created_at, updated_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
    ...[`plugin::upload.${action}`, '{}', JSON.stringify(conditions), moment, moment],
  )
  await sql('INSERT INTO admin_permissions_role_lnk (permission_id, role_id) VALUES (?, ?) RETURNING id', permission!.id as number, role)
}
