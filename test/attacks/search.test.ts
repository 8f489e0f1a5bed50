// Attacks through parameters that are not filters: the search, and names that other products or
// older versions took for conditions.
import { describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { attackFixture, canary, numericCanary } from './fixture.js'

const inert = [
  'where[internalNote][$startsWith]=a',
  'where[updatedBy][resetPasswordToken][$startsWith]=a',
  '_where[internalNote]=a',
  'select[0]=internal_note',
  'columns=*',
  'attributes[0]=secretCode',
  'orderBy=internal_note',
  'having[internal_note]=a',
  'filter[internalNote]=a',
  '_filters[internalNote]=a',
  'Filters[internalNote]=a',
  'plugins[i18n][locale]=fr',
  'publicationState=preview',
  '_publicationState=preview',
  'draft=true',
  'limit=1000',
  'start=3',
  'knex=1',
]

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request, look } = attackFixture(contract)

  test('S010 the search does not look into private texts', async () => {
    const ids = (await look('select id from articles where published_at is not null limit 5')) as number[]
    for (const id of ids) {
      const hash = canary('kanarie', 'articles', 'internal_note', id).slice('kanarie'.length)
      for (const words of [hash.slice(3, 9), hash, 'kanarie']) {
        const { status, body } = await request(`/articles?_q=${words}&locale=*`)
        expect(status).toBe(200)
        expect(body.meta.pagination.total, `a search for ${words}`).toBe(0)
      }
    }
  })

  test('S011 the search for digits finds only rows whose readable columns contain them', async () => {
    const all = (await request('/authors?pagination[pageSize]=100')).body.data as readonly Record<string, unknown>[]
    const seen = (digits: string) =>
      all
        .filter((author) =>
          Object.entries(author).some(([name, value]) => !/At$|born|active/.test(name) && value !== null && String(value).includes(digits)),
        )
        .map(({ id }) => id)
    expect(seen('1').length).toBeGreaterThan(0)
    for (const digits of [String(numericCanary(1)), '7739', '391', '10', '1']) {
      const { body } = await request(`/authors?_q=${digits}&pagination[pageSize]=100`)
      expect(
        body.data.map(({ id }: { id: number }) => id),
        `a search for ${digits}`,
      ).toEqual(seen(digits))
    }
  })

  test('S011 the search does not look into passwords and tokens of users', async () => {
    for (const column of ['password', 'reset_password_token', 'confirmation_token']) {
      const hash = canary('kanarie', 'up_users', column, 1).slice(9, 15)
      expect((await request(`/users?_q=${hash}`, { as: 'bob' })).body).toEqual([])
      expect((await request(`/users/count?_q=${hash}`, { as: 'bob' })).body).toBe(0)
    }
  })

  test('S013 unknown parameters change nothing', async () => {
    const base = await request('/articles')
    expect(base.body.data.length).toBeGreaterThan(0)
    for (const parameter of inert) {
      const answer = await request(`/articles?${parameter}`)
      expect(answer.status, parameter).toBe(200)
      expect(answer.text, parameter).toBe(base.text)
    }
  })

  test('S014 lookup is refused', async () => {
    for (const lookup of ['lookup[title]=x', 'lookup[updatedBy][password]=x', 'lookup=x', 'lookup']) {
      const { status, body } = await request(`/articles?${lookup}`)
      expect(status).toBe(400)
      expect(body).toEqual({
        data: null,
        error: { status: 400, name: 'ValidationError', message: "Invalid params: 'lookup'", details: {} },
      })
    }
  })
})

describe('with strictParams', () => {
  const { request } = attackFixture('strapi', { config: { api: { rest: { strictParams: true } } } })

  test('S013 unknown parameters are refused by name', async () => {
    const refused = inert.filter((parameter) => !/^(limit|start)=/.test(parameter))
    for (const parameter of refused) {
      const { status, body } = await request(`/articles?${parameter}`)
      expect(status, parameter).toBe(400)
      expect(body.error.message).toBe(`Invalid key ${/^[^[=]+/.exec(parameter)![0]}`)
    }
  })

  rule('endpoints.13', 'strictParams is about content-types: on users and files unknown parameters have no effect', async () => {
    for (const path of ['/users', '/upload/files']) {
      const base = await request(path, { as: 'bob' })
      const asked = await request(`${path}?foo=1`, { as: 'bob' })
      expect([path, base.status, asked.status, asked.text]).toEqual([path, 200, 200, base.text])
    }
  })
})
