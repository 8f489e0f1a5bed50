// A golden project under attack: its unreadable values are replaced by canaries, and everything that leaves the service
// (bodies, headers, log lines) is searched for them when the file's tests are over.
import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import type { Component, ContentType, Model, Scalar } from '../../src/model/schema/types.js'
import { attributeTypes } from '../../src/model/types/attribute-types.js'
import type { ContractName } from '../../src/query/contract.js'
import type { RequestOptions, Served, ServeOptions, TestResponse } from '../support/serve.js'
import { goldenProject, goldenTokens, serveGolden } from '../support/serve.js'
import type { Value } from '../support/statements.js'

export const callers = ['public', 'alice', 'bob', 'carol', 'dan', 'full', 'readonly', 'custom', 'expired', 'wrong'] as const
export type Caller = (typeof callers)[number]

/** Callers with permission to find secret-notes: the only ones that may see their texts. */
const initiated: readonly Caller[] = ['alice', 'bob', 'dan', 'full', 'readonly']

export const secrets = parseEnv(readFileSync(join(goldenProject, '.env'), 'utf8')) as Readonly<Record<string, string>>
export const model: Model = await loadModel({ folder: goldenProject })

/** A JWT as the service itself would sign it, with another header, payload or secret where the attack wants one. */
export function jwt(payload: object, header: object = { alg: 'HS256', typ: 'JWT' }, secret = secrets.JWT_SECRET!): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header)}.${part(payload)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

export const tokens: Readonly<Record<string, string>> = { ...goldenTokens(), dan: jwt({ id: 4, iat: 1_735_718_569, exp: 4_889_318_569 }) }

export interface AttackRequestOptions extends RequestOptions {
  readonly as?: Caller
}

export interface AttackFixture {
  readonly served: Served
  /** Sends a request and searches the response for canaries. Paths are below `/api` unless they start with a double dot. */
  request(path: string, asked?: AttackRequestOptions): Promise<TestResponse>
  /** Searches what came over a socket of the test's own. */
  search(seen: string, caller: Caller, what: string): void
  /** Changes the database as another process would. */
  change(statement: string, ...values: readonly Value[]): Promise<void>
  /** The first column of the rows that a statement finds. */
  // biome-ignore lint/suspicious/noExplicitAny: columns of every type
  look(statement: string, ...values: readonly Value[]): Promise<readonly any[]>
}

/** Serves a golden project for the tests of the surrounding file or `describe`, and ends with the search of its log. */
export function attackFixture(contract: ContractName = 'strapi', options: ServeOptions = {}): AttackFixture {
  let served: Served | undefined
  let hidden: readonly string[] = []
  const leaks: string[] = []
  beforeAll(async () => {
    const config = { ...options.config, api: { ...options.config?.api, rest: { ...options.config?.api?.rest, contract } } }
    served = await serveGolden({ ...options, config })
    await plant(served)
    const keys = await look('select access_key from strapi_api_tokens union select encrypted_key from strapi_api_tokens')
    hidden = [...keys, ...Object.values(tokens), ...Object.values(secrets).filter((secret) => secret.length > 8)]
  })
  afterAll(async () => {
    for (const line of served?.log ?? []) search(line, 'public', `the log: ${line.slice(0, 300)}`)
    await served?.close()
    expect(leaks).toEqual([])
  })

  const look: AttackFixture['look'] = async (statement, ...values) =>
    (await served!.sql(statement, ...values)).map((row) => Object.values(row)[0])

  function search(sent: string, caller: Caller, what: string): void {
    // The ids of requests are random and the clock runs on: sometimes either looks like a canary.
    const seen = sent.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<="time":)\d{13}/g, '')
    const [canary] = /kanarie[0-9a-f]{12}|77391\d{4}/.exec(seen) ?? []
    if (canary !== undefined) leaks.push(`${canary} in ${what}`)
    if (!initiated.includes(caller) && /verborgen[0-9a-f]{12}/.test(seen)) leaks.push(`the text of a secret note in ${what}`)
    for (const secret of hidden) if (seen.includes(secret)) leaks.push(`${secret.slice(0, 12)}… in ${what}`)
  }

  return {
    get served() {
      return served!
    },
    search,
    request: async (path, { as = 'public', ...asked } = {}) => {
      const token = as === 'public' ? {} : { token: tokens[as]! }
      const answer = await served!.request(path.startsWith('..') ? path.slice(2) : `/api${path}`, { ...token, ...asked })
      const what = `${as}: ${asked.method ?? 'GET'} ${path.slice(0, 200)}`
      search(answer.text, as, what)
      search([...answer.headers].join('\n'), as, `the headers of ${what}`)
      return answer
    },
    change: async (statement, ...values) => void (await served!.sql(statement, ...values)),
    look,
  }
}

/** The canary of a text: found nowhere else, and its middle part neither. */
export function canary(word: 'kanarie' | 'verborgen', table: string, column: string, id: number): string {
  return word + createHash('sha256').update(`${table}.${column}.${id}`).digest('hex').slice(0, 12)
}

export const numericCanary = (id: number): number => 773_910_000 + id

/** Every private and password attribute of every row of the model, and the texts of secret notes. */
async function plant({ sql }: Served): Promise<void> {
  const replace = async (table: string, column: string, canaryOf: (id: number) => string | number) => {
    const ids = (await sql(`select id from "${table}"`)).map(({ id }) => id as number)
    if (ids.length === 0) return
    const cases = ids.map((id) => `when ${id} then ${typeof canaryOf(id) === 'number' ? canaryOf(id) : `'${canaryOf(id)}'`}`)
    await sql(`update "${table}" set "${column}" = case id ${cases.join(' ')} end`)
  }
  for (const shape of [...model.types.values(), ...model.components.values()]) {
    for (const { column, type } of unreadable(shape)) {
      const isNumber = ['number', 'biginteger'].includes(attributeTypes[type].family)
      await replace(shape.table, column, (id) => (isNumber ? numericCanary(id) : canary('kanarie', shape.table, column, id)))
    }
  }
  await replace('secret_notes', 'text', (id) => canary('verborgen', 'secret_notes', 'text', id))
}

/** The scalars of a type or component that no caller may read. */
export function unreadable(shape: ContentType | Component): readonly Scalar[] {
  return [...shape.attributes.values()].filter(
    (attribute): attribute is Scalar =>
      attribute.kind === 'scalar' && !attribute.system && (attribute.private || attribute.type === 'password'),
  )
}

export type Parameter = 'filters' | 'sort' | 'fields' | 'populate'

/** The refusal of a name that is not there or may not be seen, to the byte. */
export function expectInvalidKey(answer: TestResponse, param: Parameter, key: string, path: string | null): void {
  const where = path !== null && path !== key ? ` at ${path}` : ''
  expect(answer.body).toEqual({
    data: null,
    error: { status: 400, name: 'ValidationError', message: `Invalid key ${key}${where}`, details: { key, path, source: 'query', param } },
  })
  expect(answer.status).toBe(400)
}
