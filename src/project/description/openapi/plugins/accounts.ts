// Operations of sign-in, registration, passwords and sessions. Bodies have no envelope.
import { inputRef, type SchemaContext, shapeRef } from '../documents.js'
import { type ApiOperation, type HttpMethod, inPath, inQuery, jsonBody, type OperationDetails, operationAt } from '../operation.js'
import { fieldsParameter, filtersParameter, populateParameter, rangeParameters, sortParameter } from '../parameters.js'
import { type DescriptionObject, integer, list, object, text, yesOrNo } from '../schema.js'

const tag = 'users-permissions'
const userType = 'plugin::users-permissions.user'
const email: DescriptionObject = { type: 'string', format: 'email' }
const secret: DescriptionObject = { type: 'string', format: 'password' }

/** A rate-limited operation of `/auth`. */
const attempt = (route: `${HttpMethod} ${string}`, action: string, summary: string, details: OperationDetails): ApiOperation =>
  operationAt(route, `plugin::users-permissions.auth.${action}`, tag, summary, { errors: [429], ...details })

const sending: ApiOperation = operationAt('post /email', 'plugin::email.email.send', 'email', 'Send an e-mail', {
  parameters: [],
  body: jsonBody(object({ to: text, cc: text, bcc: text, from: text, replyTo: text, subject: text, text, html: text }, ['to', 'subject'])),
  success: { status: 200, description: 'The mail server has taken it.', schema: object({}) },
})

/** Sessions exist only with `auth.jwtManagement: 'refresh'`. */
export function accountOperations(context: SchemaContext, hasSessions: boolean): readonly ApiOperation[] {
  const user = shapeRef(context, context.view.model.types.get(userType)!)
  const session = context.components.ref('schemas', 'sign-in', () =>
    object({ jwt: text, ...(hasSessions ? { refreshToken: text } : {}), user }, ['jwt', 'user'], { title: 'Sign-in' }),
  )
  const signedIn = { status: 200, description: 'The user, and the token for further requests.', schema: session }
  const done = { status: 200, description: 'The request was accepted.', schema: object({ ok: { const: true } }, ['ok']) }
  return [
    sending,
    attempt('post /auth/local', 'callback', 'Sign in', {
      body: jsonBody(
        object({ identifier: { ...text, description: 'An e-mail address or a username.' }, password: secret }, ['identifier', 'password']),
      ),
      success: signedIn,
    }),
    attempt('post /auth/local/register', 'register', 'Register a user', {
      body: jsonBody(object({ username: text, email, password: secret }, ['username', 'email', 'password'])),
      success: {
        status: 200,
        description: 'The new user; without a token if the e-mail address must be confirmed first.',
        schema: object({ jwt: text, ...(hasSessions ? { refreshToken: text } : {}), user }, ['user']),
      },
    }),
    attempt('post /auth/forgot-password', 'forgotPassword', 'Send a code to reset a password', {
      body: jsonBody(object({ email }, ['email'])),
      success: done,
    }),
    attempt('post /auth/reset-password', 'resetPassword', 'Set a password with a code', {
      body: jsonBody(object({ code: text, password: secret, passwordConfirmation: secret }, ['code', 'password', 'passwordConfirmation'])),
      success: signedIn,
    }),
    attempt('post /auth/change-password', 'changePassword', 'Change the own password', {
      body: jsonBody(
        object({ currentPassword: secret, password: secret, passwordConfirmation: secret }, [
          'currentPassword',
          'password',
          'passwordConfirmation',
        ]),
      ),
      success: signedIn,
    }),
    attempt('get /auth/email-confirmation', 'emailConfirmation', 'Confirm an e-mail address', {
      parameters: [inQuery('confirmation', 'The code of the e-mail.', text)],
      success: { status: 302, description: 'Leads to the configured page.' },
    }),
    attempt('post /auth/send-email-confirmation', 'sendEmailConfirmation', 'Send the e-mail that confirms an address', {
      body: jsonBody(object({ email }, ['email'])),
      success: { status: 200, description: 'The request was accepted.', schema: object({ email: text, sent: yesOrNo }) },
    }),
    ...(hasSessions ? sessionOperations() : []),
    ...providerOperations(signedIn),
  ]
}

function sessionOperations(): readonly ApiOperation[] {
  const session = object({ id: text, deviceId: text, current: yesOrNo, loginAt: text, lastActiveAt: text }, ['id', 'deviceId', 'current'])
  return [
    attempt('post /auth/refresh', 'refresh', 'Return the next pair of tokens', {
      body: jsonBody(object({ refreshToken: text }), false),
      success: { status: 200, description: 'New tokens.', schema: object({ jwt: text, refreshToken: text }, ['jwt']) },
    }),
    attempt('post /auth/logout', 'logout', 'End sessions of the own user', {
      body: jsonBody(object({ scope: { const: 'all' }, deviceId: text }), false),
      success: { status: 200, description: 'The sessions have ended.', schema: object({ ok: { const: true } }, ['ok']) },
      errors: [],
    }),
    attempt('get /auth/sessions', 'getSessions', 'List the sessions of the own user', {
      success: { status: 200, description: 'The sessions.', schema: object({ data: list(session) }, ['data']) },
      errors: [],
    }),
    attempt('delete /auth/sessions/{sessionId}', 'revokeSession', 'End a session of the own user', {
      parameters: [inPath('sessionId', 'The id of the session.')],
      success: { status: 200, description: 'The session has ended.', schema: object({ data: { type: 'object' } }, ['data']) },
      errors: [404],
    }),
  ]
}

function providerOperations(signedIn: ApiOperation['success']): readonly ApiOperation[] {
  const provider = inPath('provider', 'The name of the provider, such as `github`.')
  return [
    attempt('get /connect/{provider}', 'connect', 'Begin signing in with a provider', {
      parameters: [provider, inQuery('callback', 'The page to return to, if it is allowed.', text)],
      success: { status: 302, description: 'Leads to the provider.' },
    }),
    attempt('get /connect/{provider}/callback', 'connect', 'Receive the browser from a provider', {
      parameters: [provider],
      success: { status: 302, description: 'Leads to the page that completes the sign-in.' },
      errors: [],
    }),
    attempt('get /auth/{provider}/callback', 'callback', 'Complete signing in with a provider', {
      parameters: [provider, inQuery('access_token', 'The code of the redirect.', text)],
      success: signedIn,
    }),
  ]
}

const roleType = 'plugin::users-permissions.role'
const id = inPath('id', 'The numeric id.', integer)

export function userOperations(context: SchemaContext): readonly ApiOperation[] {
  const type = context.view.model.types.get(userType)!
  const user = shapeRef(context, type)
  const populate = populateParameter(context, type)
  const shown = [fieldsParameter(context, type), ...(populate === null ? [] : [populate])]
  const filters = filtersParameter(context, type)
  const one = { status: 200, description: 'The user.', schema: user }
  const body = jsonBody(inputRef(context, type))
  return [
    operationAt('get /users', `${userType}.find`, tag, 'List users', {
      parameters: [...shown, filters, sortParameter(context, type), ...rangeParameters(context)],
      success: { status: 200, description: 'The users.', schema: list(user) },
    }),
    operationAt('post /users', `${userType}.create`, tag, 'Create a user', { body, success: { ...one, status: 201 } }),
    operationAt('get /users/count', `${userType}.count`, tag, 'Count users', {
      parameters: [filters],
      success: { status: 200, description: 'The number of users.', schema: integer },
    }),
    operationAt('get /users/me', `${userType}.me`, tag, 'Return the user of the token', { parameters: shown, success: one }),
    operationAt('get /users/{id}', `${userType}.findOne`, tag, 'Return a user', {
      description: 'A user that does not exist is 204.',
      parameters: [id, ...shown, filters],
      success: one,
    }),
    operationAt('put /users/{id}', `${userType}.update`, tag, 'Change a user', { parameters: [id], body, success: one, errors: [404] }),
    operationAt('delete /users/{id}', `${userType}.destroy`, tag, 'Delete a user', {
      description: 'A user that does not exist is 204.',
      parameters: [id],
      success: { ...one, description: 'The former user.' },
    }),
    ...roleOperations(context),
  ]
}

function roleOperations({ components, view }: SchemaContext): readonly ApiOperation[] {
  const tree = components.ref('schemas', 'permission-tree', () => ({
    type: 'object',
    description: 'By plugin or type, controller and action, whether the action is enabled.',
    additionalProperties: object({ controllers: { type: 'object', additionalProperties: { type: 'object' } } }, ['controllers']),
  }))
  const role = components.ref('schemas', 'role', () =>
    object(
      {
        id: integer,
        documentId: text,
        name: text,
        type: { type: ['string', 'null'] },
        description: { type: ['string', 'null'] },
        createdAt: text,
        updatedAt: text,
        publishedAt: { type: ['string', 'null'] },
        ...(view.model.types.get(roleType)!.localized ? { locale: text } : {}),
        nb_users: { ...integer, description: 'The number of users, in lists.' },
        permissions: { ...tree, description: 'Except in lists.' },
      },
      ['id', 'name'],
    ),
  )
  const done = { status: 200, description: 'The role was written.', schema: object({ ok: { const: true } }, ['ok']) }
  const body = jsonBody(object({ name: text, description: text, permissions: tree }))
  const one: DescriptionObject = object({ role }, ['role'])
  return [
    operationAt('get /users-permissions/roles', `${roleType}.find`, tag, 'List roles', {
      success: { status: 200, description: 'The roles.', schema: object({ roles: list(role) }, ['roles']) },
    }),
    operationAt('post /users-permissions/roles', `${roleType}.createRole`, tag, 'Create a role', { body, success: done }),
    operationAt('get /users-permissions/roles/{id}', `${roleType}.findOne`, tag, 'Return a role', {
      parameters: [id],
      success: { status: 200, description: 'The role with its permissions.', schema: one },
      errors: [404],
    }),
    operationAt('put /users-permissions/roles/{id}', `${roleType}.updateRole`, tag, 'Change a role', {
      parameters: [id],
      body,
      success: done,
      errors: [404],
    }),
    operationAt('delete /users-permissions/roles/{id}', `${roleType}.deleteRole`, tag, 'Delete a role', {
      parameters: [id],
      success: done,
      errors: [404],
    }),
    operationAt(
      'get /users-permissions/permissions',
      'plugin::users-permissions.permissions.getPermissions',
      tag,
      'Return all actions that can be granted',
      { success: { status: 200, description: 'All actions.', schema: object({ permissions: tree }, ['permissions']) } },
    ),
  ]
}
