// Every recorded read of the golden project, sent again: each response matches the description for its caller, in both contracts.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { conversationsOf, hold } from '../golden/conversations.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { type Checker, type Document, openChecker } from './responses.js'

const folder = join(import.meta.dirname, '..', 'golden')
const files = readdirSync(folder).filter((file) => file.startsWith('read-'))
/** Files in which the contracts return different values: files of conditions and orders return the same ones. */
const ofValues = /^read-(?:basic|fields|populate|single-types|status|upload|users-me|i18n)\./
const tokens = goldenTokens()

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  let served: Served
  const checkers = new Map<string, Promise<Checker | null>>()
  const byTag = new Map<string, Checker>()
  beforeAll(async () => {
    served = await serveGolden({ config: { api: { rest: { contract } }, limits: { authRateLimit: 0 } } })
  })
  afterAll(() => served.close())

  /** The format of Strapi 4 and marked texts are not described. */
  const isOther = (headers: Readonly<Record<string, string>> = {}): boolean =>
    Object.keys(headers).some((name) => /^strapi-(?:response-format|encode-source-maps)$/i.test(name))

  /** The description for a caller, requested with the caller's credentials; null if they are refused. */
  function checkerOf(token: string | undefined): Promise<Checker | null> {
    const bearer = token === undefined || token === 'none' ? undefined : (tokens[token] ?? token)
    const key = bearer ?? ''
    const known = checkers.get(key) ?? open(bearer)
    checkers.set(key, known)
    return known
  }

  async function open(token: string | undefined): Promise<Checker | null> {
    const { status, body, headers } = await served.request('/api/openapi.json', token === undefined ? {} : { token })
    if (status === 401) return null
    // Compiling its schemas takes longer than anything else here.
    const tag = headers.get('etag')!
    const known = byTag.get(tag) ?? openChecker(body as Document)
    byTag.set(tag, known)
    return known
  }

  for (const file of contract === 'strapi' ? files : files.filter((name) => ofValues.test(name)))
    rule('openapi.4', `the responses of ${file} are as described`, async () => {
      const problems: string[] = []
      let checked = 0
      for (const { name, steps } of conversationsOf(file)) {
        for (const step of steps) {
          const { request } = step
          const { method = 'GET', path } = request
          const { status, body } = await hold(served, step)
          if (method !== 'GET' || !path.startsWith('/api/') || isOther(request.headers) || ![200, 400, 404].includes(status)) continue
          const checker = await checkerOf(request.token)
          // 404 may mean a path without a route, for any caller.
          if (status !== 200 && checker?.has(method, path) !== true) continue
          checked++
          const problem = checker!.problem(method, path, status, body)
          if (problem !== null) problems.push(`${name}: ${path}: ${problem}`)
        }
      }
      expect(problems).toEqual([])
      expect(checked).toBeGreaterThan(0)
    })
})
