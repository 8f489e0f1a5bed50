// docs/spec/hints.md: in development, each error of the list has a hint that repairs it in one step.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { curlLines } from './curl-lines.js'
import { hintOf, idsOf, type Mistake, mistakes, send } from './mistakes.js'

type Contract = 'specification' | 'strapi'

const config = (contract: Contract) => ({ api: { rest: { contract } }, cors: { origins: ['https://reader.example'] } })

async function serve(contract: Contract, NODE_ENV: string): Promise<Served> {
  const served = await serveMagazine({ config: config(contract), environment: { ...secrets, NODE_ENV } })
  await addToken(served, 'full', { type: 'full-access' })
  await addToken(served, 'desk', { type: 'custom', actions: ['api::tag.tag.find'] })
  await addToken(served, 'reader', { type: 'read-only' })
  return served
}

describe.each(['specification', 'strapi'] as const)('with the contract %s', (contract) => {
  let development: Served
  let production: Served
  let unset: Served
  let known: readonly Mistake[]
  beforeAll(async () => {
    ;[development, production, unset] = await Promise.all([
      serve(contract, 'development'),
      serve(contract, 'production'),
      serve(contract, ''),
    ])
    known = mistakes(await idsOf(development), contract)
  })
  afterAll(() => Promise.all([development, production, unset].map((served) => served?.close())))

  /** The requests of a group with an unexpected status or hint. */
  async function unrepaired(group: Mistake['group']): Promise<readonly unknown[]> {
    const wrong: unknown[] = []
    for (const mistake of known.filter((one) => one.group === group)) {
      const answer = await send(development, mistake)
      const hint = hintOf(answer) ?? ''
      const missing = mistake.hint.filter((part) => !hint.includes(part))
      if (answer.status !== mistake.status || missing.length > 0)
        wrong.push({ mistake: mistake.name, status: answer.status, hint, missing })
    }
    return wrong
  }

  rule('hints.4', 'the hint for an unusable name in a query repairs it in one step', async () => {
    expect(await unrepaired('hints.4')).toEqual([])
  })

  rule('hints.5', 'so does the hint for a parameter or value without the expected effect', async () => {
    expect(await unrepaired('hints.5')).toEqual([])
  })

  rule('hints.6', 'so does the hint for a path, method or document that does not exist', async () => {
    expect(await unrepaired('hints.6')).toEqual([])
  })

  rule('hints.7', 'so does the hint for a missing permission or unread credentials', async () => {
    expect(await unrepaired('hints.7')).toEqual([])
  })

  rule('hints.8', 'so does the hint for a body that is unread, refused, or lost', async () => {
    expect(await unrepaired('hints.8')).toEqual([])
  })

  rule('hints.1', 'an error is the same as in production, with a hint added', async () => {
    for (const mistake of known.filter(({ status }) => status >= 400)) {
      const [here, there] = [await send(development, mistake), await send(production, mistake)]
      expect([mistake.name, there.status, hintOf(there)]).toEqual([mistake.name, here.status, undefined])
      if (here.status === 405) continue
      const { hint, ...details } = here.body.error.details
      expect(hint.length, mistake.name).toBeGreaterThan(10)
      const without = { ...here.body, error: { ...here.body.error, details } }
      // Values of these two differ from one database to the next.
      const plain = (body: unknown) => JSON.stringify(body).replace(/[a-z0-9]{24}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'x')
      const expected = there.body.error.details === undefined ? { ...there.body, error: { ...there.body.error, details: {} } } : there.body
      expect(plain(without), mistake.name).toBe(plain(expected))
    }
  })

  rule('hints.2', 'all other responses have their hint in a header, which is ASCII and bounded', async () => {
    for (const mistake of known.filter(({ status }) => status < 400 || status === 405)) {
      const { headers, body } = await send(development, mistake)
      const hint = headers.get('octavo-hint') ?? ''
      expect([mistake.name, hint]).toEqual([mistake.name, expect.stringMatching(/^[\x20-\x7e]{10,1000}$/)])
      expect([mistake.name, headers.get('access-control-expose-headers')]).toEqual([mistake.name, 'octavo-hint'])
      expect(body?.error, mistake.name).toBeUndefined()
    }
    const long = `/api/articles?filters[format]=${'%C3%BC'.repeat(1_000)}&${Array.from({ length: 90 }, (_, index) => `x${index}=1`).join('&')}`
    expect((await development.request(long)).headers.get('octavo-hint')!.length).toBeLessThan(1_500)
  })

  rule('hints.10', 'without NODE_ENV=development, responses contain nothing of hints', async () => {
    for (const served of [production, unset]) {
      for (const mistake of known) {
        const { headers, text } = await send(served, mistake)
        expect([mistake.name, headers.get('octavo-hint'), headers.get('access-control-expose-headers')]).toEqual([mistake.name, null, null])
        expect(text, mistake.name).not.toContain('"hint"')
      }
      expect(served.log.join('')).not.toContain('hint')
    }
  })

  rule('hints.9', 'correct requests have no hint', async () => {
    const right = curlLines(['docs/guide/queries.md', 'README.md', 'examples/magazine/README.md'])
    expect(right.length).toBeGreaterThan(50)
    for (const path of right) {
      const answer = await development.request(path)
      // These pages show one relation that is left out, and errors.
      const isAnnounced = answer.status >= 400 || path.includes('pitch')
      if (!isAnnounced) expect([path, hintOf(answer)]).toEqual([path, undefined])
    }
  })
})

rule('hints.3', 'each hint is logged as a warning, once a minute', async () => {
  const served = await serve('specification', 'development')
  for (let index = 0; index < 3; index++) await served.request('/api/articles?filter[title]=x')
  await served.request('/api/pitches')
  const lines = served.log.map((line) => JSON.parse(line)).filter(({ hint }) => hint !== undefined)
  await served.close()
  expect(lines).toEqual([
    expect.objectContaining({
      level: 40,
      method: 'GET',
      path: '/api/articles',
      status: 200,
      hint: expect.stringMatching(/^Ignored: filter/),
    }),
    expect.objectContaining({ level: 40, path: '/api/pitches', status: 403, hint: expect.stringContaining('octavo roles grant') }),
  ])
})

rule('hints.11', 'a hint that fails changes nothing', async () => {
  const served = await serve('specification', 'development')
  await served.sql('DROP TABLE i18n_locale')
  const answer = await served.request('/api/articles?locale=xx&fields=title')
  const logged = served.log.some((line) => line.includes('a hint failed'))
  await served.close()
  expect([answer.status, answer.body.data, hintOf(answer), logged]).toEqual([200, [], undefined, true])
})

rule('hints.5', 'with strictParams, hints name refused parameters; users and files refuse none', async () => {
  const served = await serveMagazine({
    config: { api: { rest: { strictParams: true } } },
    environment: { ...secrets, NODE_ENV: 'development' },
  })
  await addToken(served, 'full', { type: 'full-access' })
  const hinted = async (path: string) => {
    const response = await served.request(path, { token: 'full' })
    return [response.status, hintOf(response) ?? '']
  }
  expect(await hinted('/api/tags?foo=1')).toEqual([400, expect.stringContaining('Refused: foo')])
  for (const path of ['users', 'upload/files'])
    expect(await hinted(`/api/${path}?foo=1&filters[nothing]=x`)).toEqual([400, expect.not.stringContaining('Refused')])
  await served.close()
})
