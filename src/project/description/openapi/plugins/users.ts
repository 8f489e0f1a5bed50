// The operations of users, roles and permissions. Bodies have no envelope, and ids are numbers.
import type { SchemaContext } from '../documents.js'
import { shapeRef } from '../documents.js'
import { inputRef } from '../inputs.js'
import { type ApiOperation, inPath, jsonBody } from '../operation.js'
import { fieldsParameter, filtersParameter, populateParameter, rangeParameters, sortParameter } from '../parameters.js'
import { type DescriptionObject, integer, list, object, text } from '../schema.js'

const tag = 'users-permissions'
const userType = 'plugin::users-permissions.user'
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
    {
      ...{ method: 'get', path: '/users', action: `${userType}.find`, tag, summary: 'List users' },
      parameters: [...shown, filters, sortParameter(context, type), ...rangeParameters(context)],
      success: { status: 200, description: 'The users.', schema: list(user) },
    },
    {
      ...{ method: 'post', path: '/users', action: `${userType}.create`, tag, summary: 'Create a user' },
      ...{ body, success: { ...one, status: 201 } },
    },
    {
      ...{ method: 'get', path: '/users/count', action: `${userType}.count`, tag, summary: 'Count users' },
      parameters: [filters],
      success: { status: 200, description: 'The number of users.', schema: integer },
    },
    {
      ...{ method: 'get', path: '/users/me', action: `${userType}.me`, tag, summary: 'Return the user of the token' },
      ...{ parameters: shown, success: one },
    },
    {
      ...{ method: 'get', path: '/users/{id}', action: `${userType}.findOne`, tag, summary: 'Return a user' },
      description: 'A user that does not exist is 204.',
      ...{ parameters: [id, ...shown, filters], success: one },
    },
    {
      ...{ method: 'put', path: '/users/{id}', action: `${userType}.update`, tag, summary: 'Change a user' },
      ...{ parameters: [id], body, success: one, errors: [404] },
    },
    {
      ...{ method: 'delete', path: '/users/{id}', action: `${userType}.destroy`, tag, summary: 'Delete a user' },
      description: 'A user that does not exist is 204.',
      ...{ parameters: [id], success: { ...one, description: 'The user as it was.' } },
    },
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
        ...{ id: integer, documentId: text, name: text, type: { type: ['string', 'null'] }, description: { type: ['string', 'null'] } },
        ...{ createdAt: text, updatedAt: text, publishedAt: { type: ['string', 'null'] } },
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
    {
      ...{ method: 'get', path: '/users-permissions/roles', action: `${roleType}.find`, tag, summary: 'List roles' },
      success: { status: 200, description: 'The roles.', schema: object({ roles: list(role) }, ['roles']) },
    },
    {
      ...{ method: 'post', path: '/users-permissions/roles', action: `${roleType}.createRole`, tag, summary: 'Create a role' },
      ...{ body, success: done },
    },
    {
      ...{ method: 'get', path: '/users-permissions/roles/{id}', action: `${roleType}.findOne`, tag, summary: 'Return a role' },
      ...{ parameters: [id], success: { status: 200, description: 'The role with its permissions.', schema: one }, errors: [404] },
    },
    {
      ...{ method: 'put', path: '/users-permissions/roles/{id}', action: `${roleType}.updateRole`, tag, summary: 'Change a role' },
      ...{ parameters: [id], body, success: done, errors: [404] },
    },
    {
      ...{ method: 'delete', path: '/users-permissions/roles/{id}', action: `${roleType}.deleteRole`, tag, summary: 'Delete a role' },
      ...{ parameters: [id], success: done, errors: [404] },
    },
    {
      ...{ method: 'get', path: '/users-permissions/permissions', tag, summary: 'Return all actions that can be granted' },
      action: 'plugin::users-permissions.permissions.getPermissions',
      success: { status: 200, description: 'All actions.', schema: object({ permissions: tree }, ['permissions']) },
    },
  ]
}
