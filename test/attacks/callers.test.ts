// Callers and their permissions: wrong credentials are refused, revoked grants are gone at once, and no
// spelling of a path bypasses them.
import { describe, expect, test } from 'vitest'
import { attackFixture, jwt, secrets, tokens } from './fixture.js'
import { raw } from './raw.js'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('credentials', () => {
  const golden = attackFixture()
  const { request } = golden

  test('S034 a custom token sees only relations to types that it may find', async () => {
    const { status, body } = await request('/articles?populate=tags', { as: 'custom' })
    expect(status).toBe(200)
    expect(body.data.length).toBeGreaterThan(0)
    for (const article of body.data) expect(Object.keys(article)).not.toContain('tags')
    expect((await request('/tags', { as: 'custom' })).status).toBe(403)
    expect((await request('/articles?filters[tags][name]=x', { as: 'custom' })).status).toBe(400)
    expect((await request('/articles/some-document', { as: 'custom' })).status).toBe(403)
  })

  test('S035 expired and unknown tokens are refused, also where everybody may read', async () => {
    const [expired, wrong] = await Promise.all([request('/articles', { as: 'expired' }), request('/articles', { as: 'wrong' })])
    const refusal = (message: string) => ({ data: null, error: { status: 401, name: 'UnauthorizedError', message, details: {} } })
    expect([expired.status, expired.body]).toEqual([401, refusal('Token expired')])
    expect([wrong.status, wrong.body]).toEqual([401, refusal('Missing or invalid credentials')])
    expect((await request('/articles', { as: 'carol' })).status).toBe(401)
  })

  test('S035 forged JWTs are refused', async () => {
    const now = Math.floor(Date.now() / 1000)
    const forged = {
      'without a signature': jwt({ id: 2 }, { alg: 'none' }).replace(/\.[^.]*$/, '.'),
      'without an algorithm': jwt({ id: 2 }, {}),
      'with an empty secret': jwt({ id: 2 }, { alg: 'HS256' }, ' '),
      'with the secret of the admin': jwt({ id: 2 }, { alg: 'HS256' }, secrets.ADMIN_JWT_SECRET),
      'with another algorithm named': jwt({ id: 2 }, { alg: 'HS512' }),
      'with an embedded key': jwt({ id: 2 }, { alg: 'HS256', jwk: { kty: 'oct', k: 'YQ' } }, 'a'),
      'that has expired': jwt({ id: 2, exp: now - 10 }),
      'that is not valid yet': jwt({ id: 2, nbf: now + 600 }),
      'of a user who does not exist': jwt({ id: 999 }),
      'with a text as id': jwt({ id: '2' }),
      'with a list as id': jwt({ id: [2] }),
      'with null as id': jwt({ id: null }),
      'without an id': jwt({ sub: 2 }),
      'with a changed payload': tokens.alice!.replace(/\.[^.]+\./, `.${Buffer.from('{"id":2}').toString('base64url')}.`),
      'cut short': tokens.bob!.slice(0, -1),
    }
    for (const [how, token] of Object.entries(forged)) {
      const { status } = await request('/articles', bearer(token))
      expect(status, `a JWT ${how}`).toBe(401)
    }
    expect((await request('/users', bearer(jwt({ id: 2, exp: now + 600 })))).status, 'a JWT as it should be').toBe(200)
  })

  test('S035 headers that hold no bearer token are those of the public', async () => {
    const odd = [
      'Bearer',
      'Bearer ',
      `Basic ${tokens.full}`,
      `${tokens.full}`,
      `Bearer ${tokens.full} ${tokens.full}`,
      `Token ${tokens.full}`,
      'Bearer,',
    ]
    for (const authorization of odd) {
      const { status } = await request('/secret-notes', { headers: { authorization } })
      expect([401, 403], authorization.slice(0, 20)).toContain(status)
    }
  })

  test('S037 credentials count in the Authorization header only', async () => {
    for (const name of ['access_token', 'token', 'jwt', 'authorization', 'Authorization', 'api_key', 'auth']) {
      expect((await request(`/secret-notes?${name}=${tokens.full}`)).status, `?${name}=`).toBe(403)
      expect((await request('/secret-notes', { headers: { cookie: `${name}=${tokens.full}` } })).status, `cookie ${name}`).toBe(403)
    }
    for (const name of ['x-access-token', 'x-api-key', 'x-authorization', 'proxy-authorization', 'x-forwarded-authorization']) {
      expect((await request('/secret-notes', { headers: { [name]: `Bearer ${tokens.full}` } })).status, name).toBe(403)
    }
    for (const headers of [
      { 'x-http-method-override': 'GET' },
      { 'x-original-url': '/api/articles' },
      { 'x-rewrite-url': '/api/articles' },
    ]) {
      expect((await request('/secret-notes', { headers: headers as unknown as Record<string, string> })).status).toBe(403)
    }
  })

  test('S043 no spelling of a path decides otherwise than the path itself', async () => {
    const spellings = [
      '/API/secret-notes',
      '/api/SECRET-NOTES',
      '/api//secret-notes',
      '//api/secret-notes',
      '/api/secret-notes/',
      '/api/secret-notes//',
      '/api/./secret-notes',
      '/api/articles/../secret-notes',
      '/api/%73ecret-notes',
      '/api/%2e/secret-notes',
      '/api/secret%2Dnotes',
      '/api%2fsecret-notes',
      '/api/secret-notes;x',
      '/api/secret-notes%00',
      '/api/secret-notes%20',
      '/api/secret-notes%3f',
      '/api/secret-notes?',
      '/api/secret_notes',
      '/api/secret-note',
      '/api/secret-notes.json',
      '/api/articles%2f..%2fsecret-notes',
      '/api\\secret-notes',
      'http://127.0.0.1/api/secret-notes',
    ]
    for (const path of spellings) {
      const { text } = await raw(golden.served.origin, [`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`])
      golden.search(text, 'public', path)
      expect(text, path).toMatch(/^HTTP\/1\.1 40[0345] /)
    }
  })
})

describe('grants that are taken away', () => {
  const { request, change, look } = attackFixture()
  const permission = async (type: string, action: string) => {
    const found = await look(
      `select p.id from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id join up_roles r on r.id = l.role_id
       where r.type = ? and p.action = ?`,
      type,
      action,
    )
    return found[0] as number
  }

  test('S038 a deleted token is refused at the next request', async () => {
    expect((await request('/authors', { as: 'custom' })).status).toBe(200)
    await change("delete from strapi_api_tokens where name = 'custom'")
    expect((await request('/authors', { as: 'custom' })).status).toBe(401)
  })

  test('S038 a token whose life is ended is refused at the next request', async () => {
    expect((await request('/authors', { as: 'readonly' })).status).toBe(200)
    await change("update strapi_api_tokens set expires_at = ? where name = 'readonly'", Date.UTC(2001, 0, 1))
    expect((await request('/authors', { as: 'readonly' })).status).toBe(401)
  })

  test('S038 a user who is blocked or deleted is refused at the next request', async () => {
    expect((await request('/articles', { as: 'dan' })).status).toBe(200)
    await change("update up_users set blocked = true where username = 'dan'")
    expect((await request('/articles', { as: 'dan' })).status).toBe(401)
    await change("update up_users set blocked = false where username = 'dan'")
    expect((await request('/articles', { as: 'dan' })).status).toBe(200)
    await change("delete from up_users where username = 'dan'")
    expect((await request('/articles', { as: 'dan' })).status).toBe(401)
  })

  test('S040 a relation whose target may no longer be found is gone at once, from the same query', async () => {
    const query = '/articles?populate=tags&pagination[pageSize]=100'
    expect((await request(query)).text).toContain('"tags":[{')
    expect((await request('/articles?filters[tags][name]=x')).status).toBe(200)
    await change('delete from up_permissions where id = ?', await permission('public', 'api::tag.tag.find'))
    expect((await request('/tags')).status).toBe(403)
    expect((await request(query)).text).not.toContain('"tags"')
    expect((await request('/articles?filters[tags][name]=x')).status).toBe(400)
  })

  test('S040 a permission that another role gets in its place is gone at once', async () => {
    expect((await request('/cities')).status).toBe(200)
    const moved = await permission('public', 'api::city.city.find')
    const [editor] = await look("select id from up_roles where type = 'editor'")
    await change('update up_permissions_role_lnk set role_id = ? where permission_id = ?', editor, moved)
    expect((await request('/cities')).status).toBe(403)
  })

  test('S040 a permission that becomes another one in its place is gone at once', async () => {
    expect((await request('/samples')).status).toBe(200)
    await change(
      "update up_permissions set action = 'api::sample.sample.create' where id = ?",
      await permission('public', 'api::sample.sample.find'),
    )
    expect((await request('/samples')).status).toBe(403)
  })

  test('S044 without a public role anonymous callers have no permissions', async () => {
    await change("delete from up_roles where type = 'public'")
    for (const path of ['/articles', '/authors', '/homepage', '/users/me', '/upload/files', '/i18n/locales', '/articles/some-document']) {
      expect((await request(path)).status, path).toBe(403)
    }
  })
})

describe('an installation without API tokens', () => {
  const { request, change } = attackFixture()

  test('S040 a permission that is taken away is gone at once', async () => {
    await change('delete from strapi_api_tokens')
    expect((await request('/tags')).status).toBe(200)
    await change("delete from up_permissions where action = 'api::tag.tag.find'")
    expect((await request('/tags')).status).toBe(403)
    expect((await request('/articles?populate=tags&pagination[pageSize]=100')).text).not.toContain('"tags"')
  })

  test('S044 without a public role anonymous callers have no permissions', async () => {
    await change("delete from up_roles where type = 'public'")
    for (const path of ['/articles', '/authors', '/homepage', '/i18n/locales']) expect((await request(path)).status, path).toBe(403)
  })
})
