// `octavo tokens`: creates, lists, regenerates and revokes API tokens. A key is printed only when it is created.

import { tokens } from '../../admin/manage/tokens.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { findToken, listTokens, type TokenType } from '../../identity/access/tokens.js'
import { readActions } from './actions.js'
import { runOperation } from './changes.js'
import { orExplain } from './explain-error.js'
import { formatTime, type ListOptions, print, printJson, printTable } from './output.js'
import { lookIntoProject, withProject } from './project.js'

interface TokenOptions {
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly expires: string
  readonly permissions?: string
  readonly key?: string
}

const types: readonly TokenType[] = ['read-only', 'full-access', 'custom']
const minKeyCharacters = 32

/** Creates an API token and prints its key. */
export const createTokenCommand = orExplain(async (folder: string, options: TokenOptions) => {
  const type = types.find((one) => one === options.type)
  if (type === undefined) throw new ConfigError(`--type is "${options.type}"; it must be one of ${types.join(', ')}.`)
  if (options.name.trim() === '') throw new ConfigError('--name must not be empty.')
  const lifespan = readLifespan(options.expires)
  checkKey(options.key)
  const { responseData: key } = await withProject(folder, async (project) => {
    const actions = readActions(project.model, project.config, options.permissions)
    if ((type === 'custom') !== actions.length > 0) {
      throw new ConfigError(
        type === 'custom' ? 'A custom token needs --permissions.' : `--permissions is only for custom tokens, not for ${type} ones.`,
      )
    }
    const token = { name: options.name, description: options.description ?? '', type, lifespan, actions: [...actions] }
    return runOperation(tokens.create, project, token, options.key)
  })
  print(String(key))
})

export const listTokensCommand = orExplain(async (folder: string, { json = false }: ListOptions) => {
  const listed = await lookIntoProject(folder, ({ database }) => listTokens(database))
  if (json)
    return printJson(
      listed.map(({ id, name, type, expires_at, last_used_at }) => ({
        id,
        name,
        type,
        expiresAt: isoTime(expires_at),
        lastUsedAt: isoTime(last_used_at),
      })),
    )
  const rows = listed.map(({ id, name, type, expires_at, last_used_at }) => [
    String(id),
    name,
    type,
    formatTime(expires_at),
    formatTime(last_used_at),
  ])
  printTable(['id', 'name', 'type', 'expires', 'last used'], rows)
})

export const revokeTokenCommand = orExplain(async (nameOrId: string, folder: string) => {
  const { name } = await withProject(folder, async (project) =>
    runOperation(tokens.delete, project, await findToken(project.database, nameOrId)),
  )
  print(`Revoked token "${name}".`)
})

/** Replaces the key of an API token and prints it. */
export const regenerateTokenCommand = orExplain(async (nameOrId: string, folder: string, options: { readonly key?: string }) => {
  checkKey(options.key)
  const { responseData: key } = await withProject(folder, async (project) =>
    runOperation(tokens.regenerate, project, await findToken(project.database, nameOrId), options.key),
  )
  print(String(key))
})

const isoTime = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(Number(milliseconds)).toISOString()

function checkKey(key: string | undefined): void {
  if (key === undefined) return
  if (key.length < minKeyCharacters || /\s/.test(key))
    throw new ConfigError(`--key needs at least ${minKeyCharacters} characters and must not contain spaces.`)
}

function readLifespan(expires: string): number | null {
  if (expires === 'never') return null
  if (!/^[1-9]\d{0,4}$/.test(expires)) throw new ConfigError(`--expires is "${expires}"; it must be a number of days, or never.`)
  return Number(expires) * 86_400_000
}
