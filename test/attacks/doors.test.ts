// Attack surfaces that must not exist: redirects chosen by a caller, the admin's API, responses cached for another caller; and
// deleted attributes that are created again.
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { addToken, grant, secrets as ownSecrets } from '../spec/callers.js'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { serveExisting, serveProject } from '../support/serve.js'
import { attackFixture, callers, expectInvalidKey, secrets, tokens } from './fixture.js'
import { places } from './routes.js'

describe('the golden project', () => {
  const { request, look, change } = attackFixture('strapi', {
    config: {
      limits: { authRateLimit: 0 },
      url: 'https://api.example.test',
      auth: {
        providers: { github: { key: 'k', secret: 's', callback: 'https://site.example.test/in' } },
      },
    },
  })

  test('S107 no parameter leads a browser anywhere', async () => {
    const evil = encodeURIComponent('https://evil.example/x')
    const query = ['redirect', 'redirect_uri', 'redirectUrl', 'next', 'url', 'return', 'returnTo', 'continue', 'to', 'callbackUrl']
      .map((name) => `${name}=${evil}`)
      .join('&')
    const paths = [
      ...places().flatMap(({ path, actions }) => (actions.GET === undefined ? [] : [path])),
      '/connect/github',
      '/connect/github/callback',
    ]
    for (const path of [...paths, '../', '../_health', '../uploads/x']) {
      for (const as of ['public', 'full'] as const) {
        const { status, headers } = await request(`${path}?${query}`, {
          as,
          headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
        })
        const location = headers.get('location')
        expect([path, status, location ?? '']).toEqual([path, status, expect.not.stringContaining('evil')])
        if (path !== '/connect/github') expect([path, location]).toEqual([path, null])
      }
    }
    const sent = new URL((await request(`/connect/github?${query}`)).headers.get('location')!)
    expect([sent.host, sent.searchParams.get('redirect_uri')]).toEqual([
      'github.com',
      'https://api.example.test/api/connect/github/callback',
    ])
  })

  test('S137 the paths of Strapi’s admin API do not exist for any caller', async () => {
    const admin = ['/admin', '/admin/login', '/admin/users/me', '/admin/api-tokens', '/admin/init', '/admin/register-admin']
    const managers = [
      '/content-manager/collection-types/api::article.article',
      '/content-type-builder/content-types',
      '/upload/files',
      '/upload/folders',
    ]
    const rest = [
      '/users-permissions/roles',
      '/users-permissions/providers',
      '/i18n/locales',
      '/i18n/iso-locales',
      '/email/settings',
      '/_health/../admin',
    ]
    for (const path of [...admin, ...managers, ...rest]) {
      for (const as of callers) {
        for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
          const { status } = await request(`..${path}`, { as, method })
          expect([path, as, method, status]).toEqual([path, as, method, method === 'GET' ? 404 : 405])
        }
      }
    }
  })

  test('S137 the model cannot be written over the API', async () => {
    for (const path of [
      'content-types',
      'content-types/api::article.article',
      'components',
      'components/shared.seo',
      'schema',
      'update-schema',
    ]) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'] as const) {
        const body = JSON.stringify({ contentType: { displayName: 'x' } })
        const { status } = await request(`/content-type-builder/${path}`, {
          as: 'full',
          method,
          body,
          headers: { 'content-type': 'application/json' },
        })
        expect([path, method, status]).toEqual([path, method, 405])
      }
    }
  })

  test('S142 a guessed tag, or that of another caller, gives nothing away: 304 is only for who would get that very body', async () => {
    const callers = ['public', 'alice', 'custom', 'full'] as const
    for (const path of ['/articles', '/secret-notes', '/users/me', '/articles/not-there', '/articles?populate=*']) {
      const bare = await Promise.all(callers.map((as) => request(path, { as })))
      const tags = bare.flatMap(({ headers }) => headers.get('etag') ?? [])
      for (const [index, as] of callers.entries()) {
        const { status, text, headers } = bare[index]!
        const own = headers.get('etag')
        expect(own !== null, `${as} ${path}`).toBe(status === 200)
        for (const tag of ['*', '"x"', 'W/"x"', ...tags]) {
          const guessed = await request(path, { as, headers: { 'if-none-match': tag, 'if-modified-since': new Date().toUTCString() } })
          const isOwn = status === 200 && (tag === '*' || tag === own)
          expect([as, path, tag, guessed.status, guessed.text]).toEqual([as, path, tag, isOwn ? 304 : status, isOwn ? '' : text])
        }
      }
    }
  })

  test('S100 files are listed according to permissions', async () => {
    for (const path of ['/upload/files', '/upload/files/page', '/upload/files/1']) {
      for (const query of ['', '?filters[hash][$startsWith]=a', '?populate=related', '?filters[createdBy][id]=1']) {
        expect([path, query, (await request(path + query)).status]).toEqual([path, query, 403])
      }
      expectInvalidKey(
        await request(`${path}?filters[createdBy][email][$startsWith]=a`, { as: 'full' }),
        'filters',
        'createdBy',
        'createdBy',
      )
      expectInvalidKey(await request(`${path}?populate=updatedBy`, { as: 'full' }), 'populate', 'updatedBy', 'updatedBy')
      expect((await request(`${path}?populate=*`, { as: 'full' })).text).not.toMatch(/"(createdBy|updatedBy|folder|folderPath)"/)
    }
    // The documents of a file are shown to callers who may find them, type by type.
    const related = async () => {
      const { body } = await request('/upload/files?populate=related', { as: 'alice' })
      return new Set(body.flatMap((one: { related: { __type: string }[] }) => one.related.map(({ __type }) => __type)))
    }
    expect([...(await related())]).toContain('api::article.article')
    const [role] = await look("select id from up_roles where type = 'authenticated'")
    await change(
      `delete from up_permissions where action = 'api::article.article.find'
        and id in (select permission_id from up_permissions_role_lnk where role_id = ?)`,
      role,
    )
    expect([...(await related())]).not.toContain('api::article.article')
  })

  rule('tokens.1', 'S077 a nearly correct token is as wrong as any: a keyed hash is compared', async () => {
    const right = tokens.full!
    const other = (character: string) => (character === '0' ? '1' : '0')
    const nearly = [
      other(right[0]!) + right.slice(1),
      right.slice(0, -1) + other(right.at(-1)!),
      right.slice(0, -1),
      `${right}0`,
      right.toUpperCase(),
    ]
    const bodies = new Set<string>()
    const hash = (text: string) => createHmac('sha512', secrets.API_TOKEN_SALT!).update(text).digest('hex')
    const stored = (await look("select access_key from strapi_api_tokens where name = 'full'"))[0] as string
    expect(stored).toBe(hash(right))
    for (const token of [...nearly, 'nothing-like-it', stored]) {
      const { status, text } = await request('/users/count', { token })
      expect(status).toBe(401)
      bodies.add(text)
      // A partly correct key has no more of its hash right than by chance.
      let same = 0
      while (hash(token)[same] === stored[same]) same++
      expect(same).toBeLessThan(8)
    }
    expect(bodies.size).toBe(1)
  })
})

test('S041 an attribute deleted and created again as private is unreadable for all former readers', async () => {
  const served = await serveProject(
    {
      ...contentType('note', { name: { type: 'string' }, rank: { type: 'integer' } }),
      ...seeded('note', plain({ first: { rank: 7 } })),
      ...access(reading('note')),
    },
    { environment: ownSecrets },
  )
  await addToken(served, 'full', { type: 'full-access' })
  await grant(served, 'authenticated', 'api::note.note.find')
  const queries = ['filters[rank]=7', 'sort=rank', 'fields=rank']
  const request = async (origin: typeof served) =>
    Promise.all(['', ...queries].map(async (query) => (await origin.request(`/api/notes?${query}`, { token: 'full' })).status))
  expect(await request(served)).toEqual([200, 200, 200, 200])
  const file = join(served.folder, 'src/api/note/content-types/note/schema.json')
  const schema = JSON.parse(readFileSync(file, 'utf8'))
  // As in a database of Strapi: a start that knew the former schemas would not hide content.
  await served.sql('delete from octavo_schemas')
  const without = await startWith({ name: schema.attributes.name })
  expect(await request(without)).toEqual([200, 400, 400, 400])
  await without.close()
  const again = await startWith({ ...schema.attributes, rank: { type: 'integer', private: true } })
  expect(await request(again)).toEqual([200, 400, 400, 400])
  expect((await again.request('/api/notes?populate=*&fields=*', { token: 'full' })).text).not.toContain('rank')
  await again.close()
  await served.close()

  function startWith(attributes: object) {
    writeFileSync(file, JSON.stringify({ ...schema, attributes }))
    return serveExisting(served, ownSecrets)
  }
})
