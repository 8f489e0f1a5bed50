// Attacks with structure: invalid names are refused, empty values stay empty, and logs stay one
// line for each entry.
import { describe, expect, test } from 'vitest'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import { attackFixture, expectInvalidKey } from './fixture.js'
import { raw } from './raw.js'

describe.each(['strapi', 'specification'] as const)('with the contract %s', (contract) => {
  const { request: sendRequest } = attackFixture(contract)
  const total = async (query: string): Promise<number> => {
    const { status, body } = await sendRequest(`/articles?${query}`)
    expect(status, query).toBe(200)
    return body.meta.pagination.total
  }

  test('S110 sort takes names and orders, nothing else', async () => {
    for (const sort of [
      'title;drop table x',
      'title desc nulls first',
      '(select 1)',
      '1',
      'random()',
      'title--',
      'title/**/',
      "title' ",
      't0.title',
    ]) {
      expectInvalidKey(await sendRequest(`/articles?sort=${encodeURIComponent(sort)}`), 'sort', sort.trim().split('.')[0]!, null)
    }
    for (const order of ['title:', 'title:asc nulls first', 'title:desc;', 'title:asc limit 1', 'title: (select 1)', 'title:1']) {
      const { status, body } = await sendRequest(`/articles?sort=${encodeURIComponent(order)}`)
      expect(status, order).toBe(400)
      expect(body.error.message).toBe('Invalid order. order can only be one of asc|desc|ASC|DESC')
    }
    expect((await sendRequest('/articles?sort=title:asc,')).text).toBe((await sendRequest('/articles?sort=title:asc')).text)
  })

  test('S112 a locale is a value', async () => {
    const [english, all] = [await total('locale=en'), await total('locale=*')]
    expect(all).toBeGreaterThan(english)
    // No text of PostgreSQL has a NUL.
    const nul = isOnPostgres ? [] : ['en%00']
    // MariaDB's collation takes it for the same text.
    const upper = isOnMysql ? [] : ['EN']
    for (const locale of ["en' or 1=1", "en'--", 'en"', 'en%', 'e_', ...upper, 'en,fr', '%2a%20', ...nul, '(select%20code)'])
      expect(await total(`locale=${locale}`), locale).toBe(0)
    expect(await total('locale[$ne]=en')).toBe(all - english)
    expect(await total('locale[$in][0]=en')).toBe(english)
    expect((await sendRequest('/articles?locale[title]=x')).status).toBe(400)
    expect((await sendRequest('/articles?locale[$regex]=.')).status).toBe(400)
    expect((await sendRequest('/articles?locale[internalNote][$null]=true')).status).toBe(400)
  })

  test('S112 a status is published or draft', async () => {
    const [published, draft] = [await total('status=published'), await total('status=draft')]
    expect(published).not.toBe(draft)
    for (const status of [
      'status[$ne]=x',
      'status=published&status=draft',
      "status=' or 1=1",
      'status=',
      'status[]=published',
      'status=*',
    ]) {
      if (contract === 'strapi') expect(await total(status), status).toBe(draft)
      else expect((await sendRequest(`/articles?${status}`)).status, status).toBe(400)
    }
  })

  test('S113 an empty list of values finds nothing, and excludes nothing', async () => {
    const all = await total('')
    for (const empty of ['$in]=', '$in][]=', '$in]', '$in][]', '$in][0]=']) expect(await total(`filters[id][${empty}`), empty).toBe(0)
    for (const empty of ['$notIn]=', '$notIn][]=', '$notIn][0]=']) expect(await total(`filters[id][${empty}`), empty).toBe(all)
    expect(await total('filters[title][$in][]=')).toBe(0)
    expect(await total('filters[title][$in]=')).toBe(0)
    expect(await total('filters[author][id][$in]=')).toBe(0)
  })

  test('S113 two values are two values', async () => {
    for (const values of [
      '$between]=1',
      '$between][]=1',
      '$between]=',
      '$between]',
      '$between][0]=1&filters[id][$between][1]=2&filters[id][$between][2]=3',
      '$between]=1,2',
    ]) {
      expect((await sendRequest(`/articles?filters[id][${values}`)).status, values).toBe(400)
    }
    expect(await total('filters[id][$between][]=9&filters[id][$between][]=1')).toBe(0)
  })

  test('S113 filters other than objects are refused', async () => {
    for (const filters of [
      'filters=title',
      'filters[]=title',
      'filters[0][title]=x',
      'filters[$or]=x',
      'filters[$and]=',
      'filters[$not]=1',
      'filters[$or][title]=x',
      'filters[title][$or][0]=x',
      'filters[$eq]=1',
    ]) {
      expect((await sendRequest(`/articles?${filters}`)).status, filters).toBe(400)
    }
  })

  test('S109 names of JavaScript are not names of attributes', async () => {
    const base = await sendRequest('/articles')
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
      for (const query of [
        `sort=${name}`,
        `fields=${name}`,
        `populate=${name}`,
        `populate=author.${name}`,
        `sort=author.${name}`,
        `populate[0]=${name}`,
        `fields[0]=${name}`,
      ]) {
        expect((await sendRequest(`/articles?${query}`)).status, query).toBe(400)
      }
      // As keys they are dropped by the parser or refused, and never reach an object's prototype.
      for (const query of [
        `filters[${name}]=x`,
        `filters[author][${name}][x]=y`,
        `populate[${name}]=*`,
        `${name}[polluted]=1`,
        `sort[${name}]=asc`,
      ]) {
        const answer = await sendRequest(`/articles?${query}`)
        if (answer.status !== 400) expect(answer.text, query).toBe(base.text)
      }
      expect((await sendRequest(`/${name}`)).status, name).toBe(404)
    }
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('the log', () => {
  const golden = attackFixture()

  test('S118 line breaks and escape codes of a request do not reach the log as such', async () => {
    const requests = [
      'GET /api/articles%0d%0a{"level":60} HTTP/1.1\r\nHost: x\r\n',
      'GET /api/%1b[31mred?_q=%0aforged HTTP/1.1\r\nHost: x\r\n',
      'GET /api/articles HTTP/1.1\r\nHost: x\r\nUser-Agent: \x1b[2Jgone\r\n',
      'GET /api/articles HTTP/1.1\r\nHost: x\r\nX-Request-Id: good-one\x1b[31m\r\n',
      'GET /api/articles HTTP/1.1\r\nHost: \x1b]0;x\r\n',
    ]
    for (const request of requests) await raw(golden.served.origin, [`${request}Connection: close\r\n\r\n`])
    expect(golden.served.log.length).toBeGreaterThan(2)
    for (const line of golden.served.log) {
      expect(line.endsWith('\n')).toBe(true)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
      expect(() => JSON.parse(line)).not.toThrow()
    }
  })

  test('S118 a request id is taken over only if it is plain', async () => {
    const idOf = async (given: string) =>
      (await golden.request('/articles?pagination[pageSize]=1', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    expect(await idOf('abcdefgh-12345678_X')).toBe('abcdefgh-12345678_X')
    for (const given of [
      'short',
      'a'.repeat(65),
      'with space',
      'abcdefgh"',
      '{"level":60}',
      'abcdefgh,abcdefgh',
      '../../../etc',
      '<script>x',
    ]) {
      const id = await idOf(given)
      expect(id, given).toMatch(/^[\w-]{8,64}$/)
      expect(id).not.toBe(given)
    }
  })
})
