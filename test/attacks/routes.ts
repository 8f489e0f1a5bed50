// The table of S032: every route, the permission that it needs, and the permissions of each caller, read
// from the roles and tokens in the database.
import { routes } from '../../src/http/rest/routes.js'
import type { AttackFixture, Caller } from './fixture.js'
import { model } from './fixture.js'

export type Verb = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
export const verbs: readonly Verb[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The routes of plugins and their actions. A route of the service that is missing here fails the suite. */
const pluginActions: Readonly<Record<string, string>> = {
  'GET /users': 'plugin::users-permissions.user.find',
  'GET /users/count': 'plugin::users-permissions.user.count',
  'GET /users/me': 'plugin::users-permissions.user.me',
  'GET /users/:id': 'plugin::users-permissions.user.findOne',
  'POST /users': 'plugin::users-permissions.user.create',
  'PUT /users/:id': 'plugin::users-permissions.user.update',
  'DELETE /users/:id': 'plugin::users-permissions.user.destroy',
  'GET /users-permissions/roles': 'plugin::users-permissions.role.find',
  'GET /users-permissions/roles/:id': 'plugin::users-permissions.role.findOne',
  'POST /users-permissions/roles': 'plugin::users-permissions.role.createRole',
  'PUT /users-permissions/roles/:id': 'plugin::users-permissions.role.updateRole',
  'DELETE /users-permissions/roles/:id': 'plugin::users-permissions.role.deleteRole',
  'GET /users-permissions/permissions': 'plugin::users-permissions.permissions.getPermissions',
  'POST /auth/local': 'plugin::users-permissions.auth.callback',
  'POST /auth/local/register': 'plugin::users-permissions.auth.register',
  'POST /auth/forgot-password': 'plugin::users-permissions.auth.forgotPassword',
  'POST /auth/reset-password': 'plugin::users-permissions.auth.resetPassword',
  'POST /auth/change-password': 'plugin::users-permissions.auth.changePassword',
  'GET /auth/email-confirmation': 'plugin::users-permissions.auth.emailConfirmation',
  'POST /auth/send-email-confirmation': 'plugin::users-permissions.auth.sendEmailConfirmation',
  'POST /auth/refresh': 'plugin::users-permissions.auth.refresh',
  'POST /auth/logout': 'plugin::users-permissions.auth.logout',
  'GET /auth/sessions': 'plugin::users-permissions.auth.getSessions',
  'DELETE /auth/sessions/:sessionId': 'plugin::users-permissions.auth.revokeSession',
  'GET /auth/:provider/callback': 'plugin::users-permissions.auth.callback',
  'GET /connect/:provider': 'plugin::users-permissions.auth.connect',
  'GET /connect/:provider/callback': 'plugin::users-permissions.auth.connect',
  'GET /upload/files': 'plugin::upload.content-api.find',
  'GET /upload/files/page': 'plugin::upload.content-api.findPage',
  'GET /upload/files/:id': 'plugin::upload.content-api.findOne',
  'DELETE /upload/files/:id': 'plugin::upload.content-api.destroy',
  'POST /upload': 'plugin::upload.content-api.upload',
  'POST /email': 'plugin::email.email.send',
  'GET /i18n/locales': 'plugin::i18n.locales.listLocales',
  'GET /content-type-builder/content-types': 'plugin::content-type-builder.content-types.getContentTypes',
  'GET /content-type-builder/content-types/:uid': 'plugin::content-type-builder.content-types.getContentType',
  'GET /content-type-builder/components': 'plugin::content-type-builder.components.getComponents',
  'GET /content-type-builder/components/:uid': 'plugin::content-type-builder.components.getComponent',
  'PUT /content-type-builder/schemas': 'plugin::content-type-builder.schemas.update',
  'POST /content-type-builder/plan': 'plugin::content-type-builder.schemas.update',
  'POST /content-type-builder/undo': 'plugin::content-type-builder.schemas.update',
  'GET /content-type-builder/changes': 'plugin::content-type-builder.schemas.update',
}

/** The routes that the service registers, in the words of the table. */
export const registered: readonly string[] = routes.map(({ method, path }) => `${method} ${path}`)
export const tabled: readonly string[] = Object.keys(pluginActions)

/** The verbs of a path and their actions. */
export interface Place {
  readonly path: string
  readonly actions: Partial<Readonly<Record<Verb, string>>>
}

/** Every path: those of content-types, with and without a document, and those of plugins. */
export function places(): readonly Place[] {
  const content = [...model.paths].flatMap(([path, { uid, singleType }]): readonly Place[] => {
    const [find, update, remove] = [`${uid}.find`, `${uid}.update`, `${uid}.delete`]
    const document = singleType ? `/${path}` : `/${path}/some-document`
    const acts = ['publish', 'unpublish', 'discard'].map((act) => ({
      path: `${document}/actions/${act}`,
      actions: { POST: `${uid}.${act}` },
    }))
    if (singleType)
      return [{ path: `/${path}`, actions: { GET: find, PUT: update, DELETE: remove } }, nowhere(`/${path}/some-document`), ...acts]
    return [
      { path: `/${path}`, actions: { GET: find, POST: `${uid}.create` } },
      { path: `/${path}/some-document`, actions: { GET: `${uid}.findOne`, PUT: update, DELETE: remove } },
      nowhere(`/${path}/some-document/more`),
      ...acts,
    ]
  })
  const plugins = new Map<string, Record<string, string>>()
  for (const [route, action] of Object.entries(pluginActions)) {
    const [verb, path] = route.split(' ') as [Verb, string]
    plugins.set(path, { ...plugins.get(path), [verb]: action })
  }
  return [
    ...content,
    ...[...plugins].map(([path, actions]) => ({ path: named(path), actions })),
    ...['/admin', '/nothing-here', '/secret_notes', '/up_users', '/auth/nothing'].map(nowhere),
  ]
}

/** A path with something for each of its parameters; nothing of it is there but the type and the component. */
const named = (path: string): string =>
  path.replace(':uid', uidAt(path)).replace(':id', '999999').replace(':sessionId', 'no-session').replace(':provider', 'no-provider')

const uidAt = (path: string): string => (path.includes('/components/') ? 'shared.seo' : 'api::article.article')
const nowhere = (path: string): Place => ({ path, actions: {} })

/** Permissions of each caller, read from the database. */
export async function grantsIn({ look }: AttackFixture): Promise<(caller: Caller, action: string) => boolean> {
  const granted = 'select p.action from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id where l.role_id = ?'
  const ofRole = async (id: number) => new Set(await look(granted, id))
  const roleOf = async (name: string) =>
    (await look('select l.role_id from up_users u join up_users_role_lnk l on l.user_id = u.id where u.username = ?', name))[0]
  const custom = new Set(
    await look(`select p.action from strapi_api_token_permissions p join strapi_api_token_permissions_token_lnk l on l.api_token_permission_id = p.id
      join strapi_api_tokens t on t.id = l.api_token_id where t.name = 'custom'`),
  )
  const sets: Partial<Record<Caller, ReadonlySet<unknown>>> = {
    public: await ofRole((await look("select id from up_roles where type = 'public'"))[0]),
    alice: await ofRole(await roleOf('alice')),
    bob: await ofRole(await roleOf('bob')),
    dan: await ofRole(await roleOf('dan')),
    custom,
  }
  return (caller, action) => {
    if (caller === 'full') return true
    if (caller === 'readonly') return /\.find(One)?$/.test(action)
    return sets[caller]!.has(action)
  }
}

/** Callers whose credentials are refused before any other check. */
export const refusedCallers: readonly Caller[] = ['carol', 'expired', 'wrong']
