// Which permission is missing, who lacks it, and the command that grants it.

import { commandLine } from '../../foundation/runtime/command-line.js'
import { actionsOf } from '../../identity/access/actions.js'
import type { Caller } from '../../identity/access/identify.js'
import type { Hint, HintedExchange, ServedRequest } from './exchange.js'
import { listed, quoted } from './sentences.js'

/** Actions of a token that a command names; one with more is better made by hand. */
const mostNamed = 8

const findUsers = 'plugin::users-permissions.user.find'
/** Actions on the account of the caller, which grants to the public do not help. */
const ownAccount = ['user.me', 'auth.logout', 'auth.changePassword'].map((action) => `plugin::users-permissions.${action}`)

/** Says who lacks these actions, and how they are granted. */
export async function lacks(exchange: HintedExchange, asked: ServedRequest, actions: readonly string[]): Promise<string> {
  const { folder } = exchange.config
  const { caller } = asked
  const names = actions.join(',')
  if (caller.kind === 'token') return tokenLacks(exchange, asked, caller, actions)
  const role = caller.kind === 'public' ? 'public' : await roleOf(asked, caller.id)
  if (role === null)
    return `The user has no role, so it may do nothing. Give it one: ${commandLine('users role <user> authenticated', folder)}`
  const start = `The role "${role}" lacks ${listed(actions)}.`
  const command = commandLine(`roles grant ${role} ${names}`, folder)
  // With this permission they can list all users, which is seldom what was meant.
  if (actions.includes(findUsers))
    return `${start} It shows all users to the role, so do not grant it for documents of one's own: a hook sets the relation, and a scope compares it (docs/guide/scripts-hooks-events.md, Scopes). Otherwise: ${command}`
  return `${start} Grant it: ${command}`
}

type TokenCaller = Extract<Caller, { kind: 'token' }>

/** The type of a user's role. */
async function roleOf({ documents }: ServedRequest, id: number): Promise<string | null> {
  const type = documents.context.model.types.get('plugin::users-permissions.user')!
  const identity = { attribute: 'id', value: id } as const
  const user = await documents.findAsService({ type, mode: 'first', identity, query: 'populate=role', envelope: 'bare' })
  return (user as { readonly role?: { readonly type: string } | null } | null)?.role?.type ?? null
}

function tokenLacks(
  { model, config }: HintedExchange,
  { access }: ServedRequest,
  { id, grants }: TokenCaller,
  actions: readonly string[],
): string {
  const name = [...access.tokens.values()].find((token) => token.id === id)?.name ?? String(id)
  const isReadOnly = grants.key === 'read-only'
  const start = `The API token "${name}" is ${isReadOnly ? 'read-only' : 'a custom one'} and lacks ${listed(actions)}.`
  const had = isReadOnly ? [] : [...actionsOf(model, config.routes)].filter(grants.may)
  const needed =
    isReadOnly || had.length > mostNamed ? '--type full-access' : `--type custom --permissions ${[...had, ...actions].join(',')}`
  return `${start} Create a token that has it: ${commandLine(`tokens create --name <name> ${needed}`, config.folder)}`
}

/** 403: what the caller is not granted. */
export const missingPermission: Hint = (exchange) => {
  const { error, asked } = exchange
  if (error?.situation?.kind !== 'permission' || asked === null) return null
  const { action } = error.situation
  const { status } = exchange.parameters
  if (ownAccount.includes(action) && asked.caller.kind === 'public')
    return `Nobody is signed in. Send the JWT of a user, Authorization: Bearer <jwt>, from POST ${exchange.config.rest.prefix}/auth/local`
  if (action.endsWith('.findDraft') && status !== 'draft')
    return `status=${quoted(status)} does not exist. It is "published" (the default) or "draft".`
  return lacks(exchange, asked, [action])
}

/** 403 of the project's own code, and of files with signed URLs. */
export const refusedByProject: Hint = ({ error, type, path, config }) => {
  if (error?.status !== 403 || error.situation !== null) return null
  if (path.startsWith('/uploads/'))
    return 'Files are private (uploads.storage.private): only signed URLs are served, and each of them ends. Take the url from a fresh response.'
  if (error.name === 'PolicyError' && type !== null)
    return `A policy of ${type.uid} in octavo.config (types, policies) refused the request.`
  const isScoped = type !== null && config.types[type.uid]?.scope !== undefined
  return isScoped ? `The document would be outside of the caller's scope of ${type.uid} in octavo.config (types, scope).` : null
}
