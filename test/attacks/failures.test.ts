// Failures of the database (security: S133, S136): the response is 500 or 503 without details, the log has them, and
// the service goes on.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import type { TestResponse } from '../support/serve.js'
import { testSqlite } from '../support/sqlite-only.js'
import { attackFixture } from './fixture.js'

const constant = { data: null, error: { status: 500, name: 'InternalServerError', message: 'Internal Server Error' } }

/** The same where a table or a column is not there. */
const drift = {
  data: null,
  error: {
    status: 503,
    name: 'ServiceUnavailableError',
    message: 'The tables of the database no longer match the content model (schema drift)',
    details: {},
  },
}

const unhandled: unknown[] = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtException', note)
  expect(unhandled).toEqual([])
})

describe('tables that are not there', () => {
  const golden = attackFixture()
  const { request, change } = golden

  function expectFailure({ status, body, headers }: TestResponse): void {
    expect(status).toBe(503)
    expect(body).toEqual(drift)
    for (const [name, value] of headers) expect(value, name).not.toMatch(/sqlite|select|octavo-test|\.js|cities|node_modules/i)
    // The same cause is logged once a second; the others lead to the request that it was logged with.
    const lines = golden.served.log.map((text) => JSON.parse(text))
    const { requestId, error } = lines.find((line) => line.requestId === headers.get('x-request-id') && line.msg === 'request')
    const id = error.loggedWith ?? requestId
    const missing = isOnMysql ? /doesn't exist|Unknown column/ : /no such (table|column)|does not exist/
    expect(lines.find((line) => line.requestId === id && line.level >= 50)?.err?.message).toMatch(missing)
  }

  test('S136 a missing table gives a constant response whose request id leads to the log', async () => {
    expect((await request('/cities')).status).toBe(200)
    // MariaDB drops no table that others refer to.
    if (isOnMysql) await change('rename table cities to former_cities')
    else await change(`drop table cities${isOnPostgres ? ' cascade' : ''}`)
    for (const path of ['/cities', '/cities?filters[name][$eq]=secret-value', '/cities/some-document', '/cities?_q=x&sort=name'])
      expectFailure(await request(path))
    expect((await request('/articles')).status).toBe(200)
  })

  test('S136 a missing link table gives a constant response, also in the middle of a populate', async () => {
    expect((await request('/articles?populate=tags')).status).toBe(200)
    await change('alter table articles_tags_lnk rename to gone')
    expectFailure(await request('/articles?populate=tags'))
    expectFailure(await request('/articles?filters[tags][name]=x'))
    expect((await request('/articles?populate=author')).status).toBe(200)
    await change('alter table gone rename to articles_tags_lnk')
    expect((await request('/articles?populate=tags')).status).toBe(200)
  })

  test('S136 a missing column gives a constant response', async () => {
    await change('alter table authors rename column bio to gone')
    expectFailure(await request('/authors'))
    expect((await request('/authors?fields=name')).status).toBe(200)
    await change('alter table authors rename column gone to bio')
    expect((await request('/authors')).status).toBe(200)
  })

  testSqlite('S133 values that do not fit their columns do not make an answer fail', 'PostgreSQL refuses them', async () => {
    await change(
      "update articles set starts = 'no date', stamp = 1e300, views = 'many', metadata = '{broken', content = 'text', featured = 'maybe', rank = 'x', score = 9e999",
    )
    const { status, body } = await request('/articles?pagination[pageSize]=100&populate=localizations')
    expect(status).toBe(200)
    expect(body.data.length).toBe(100)
    await change(
      "update articles set starts = x'00ff', title = x'c328', day = 1.5, metadata = x'7b', created_at = -1e300, locale = 'en', document_id = 7 where id % 2 = 0",
    )
    const odd = await request('/articles?pagination[pageSize]=100&sort=createdAt')
    expect(odd.status).toBeLessThan(500)
    expect(typeof odd.body).toBe('object')
  })
})

describe('settings that make no sense', () => {
  const { request, change } = attackFixture()

  test('S133 unreadable access rules refuse all callers, and apply again when readable', async () => {
    await change("update strapi_core_store_settings set value = 'no json' where \"key\" = 'plugin_i18n_default_locale'")
    for (const path of ['/articles', '/secret-notes']) {
      const { status, body } = await request(path)
      expect([200, 403, 500]).toContain(status)
      if (path === '/secret-notes') expect(status).not.toBe(200)
      if (status === 500) expect(body).toEqual(constant)
    }
    await change('update strapi_core_store_settings set value = \'"en"\' where "key" = \'plugin_i18n_default_locale\'')
    expect((await request('/articles')).status).toBe(200)
    await change('alter table up_permissions_role_lnk rename to gone')
    expect((await request('/articles')).body).toEqual(drift)
    expect((await request('/articles', { as: 'full' })).status).toBe(503)
    await change('alter table gone rename to up_permissions_role_lnk')
    expect((await request('/articles')).status).toBe(200)
    expect((await request('../_health')).status).toBe(204)
  })
})
