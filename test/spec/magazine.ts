// Content of the seed of examples/magazine, and helpers for requests to the service that serves it. Expected values are computed
// from here, never from a response.
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Served, TestResponse } from '../support/serve.js'
import { serveMagazine } from '../support/serve.js'
import { secrets } from './callers.js'

const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'examples', 'magazine')
export const readProject = (path: string) => JSON.parse(readFileSync(join(project, path), 'utf8'))

// biome-ignore lint/suspicious/noExplicitAny: attributes of every type, named by tests
export type Version = Readonly<Record<string, any>> & { readonly key: string }

interface SeedDocument {
  readonly key: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt?: string
  readonly locales: Readonly<Record<string, { readonly published?: object; readonly draft?: object }>>
}

export interface Which {
  readonly locale?: string
  readonly status?: 'published' | 'draft'
}

/** The versions that a read of `locale` and `status` is about, in the order of their ids. */
export function versions(type: string, { locale = 'en', status = 'published' }: Which = {}): readonly Version[] {
  const { options } = readProject(`src/api/${type}/content-types/${type}/schema.json`)
  const { documents } = readProject(`seed/content/${type}.json`) as { documents: readonly SeedDocument[] }
  return documents.flatMap(({ key, locales, createdAt, updatedAt, publishedAt }) => {
    const { published, draft } = locales['-'] ?? locales[locale] ?? {}
    const drafts = options.draftAndPublish === true && status === 'draft'
    const own = drafts ? (draft ?? published) : published
    return own === undefined ? [] : [{ key, createdAt, updatedAt, publishedAt: drafts ? null : publishedAt, ...own }]
  })
}

/** The version that a reference of the seed (`@author:maria-holt`) leads to. */
export function target(reference: string, which: Which = {}): Version {
  const [, type, key] = /^@([^:]+):(.+)$/.exec(reference)!
  const found = versions(type!, which).find((version) => version.key === key)
  if (found === undefined) throw new Error(`the seed has no ${reference}`)
  return found
}

/** Files as seed/files.json has them. */
export const files = (): readonly Version[] => readProject('seed/files.json')
export const file = (reference: string): Version => files().find(({ key }) => `@file:${key}` === reference)!

/** The magazine with a contract, and with the secrets of the tokens in callers.ts. */
export const serve = (contract: 'specification' | 'strapi'): Promise<Served> =>
  serveMagazine({ config: { api: { rest: { contract } } }, environment: secrets })

const shared = new Map<string, Promise<Served>>()

/** The magazine for tests that only read: one for all files of a worker, as long as that runs. */
export async function readOnly(contract: 'specification' | 'strapi'): Promise<Served> {
  const known = shared.get(contract)
  if (known === undefined) shared.set(contract, serve(contract))
  const served = await shared.get(contract)!
  if (known === undefined) {
    process.once('exit', () => rmSync(served.folder, { recursive: true, force: true }))
    // Vitest ends its workers with this signal.
    process.once('SIGTERM', () => process.exit())
  }
  return { ...served, close: async () => {} }
}

/** One attribute of every document of a list. */
export const all = (answer: TestResponse, attribute = 'slug'): unknown[] => {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.body.data.map((document: Version) => document[attribute])
}

/** The same of the seed's versions. */
export const expected = (list: readonly Version[], attribute = 'slug'): unknown[] => list.map((version) => version[attribute])
