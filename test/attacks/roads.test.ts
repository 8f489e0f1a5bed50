// The same refusals on every road to content (security: S031): the plugins' endpoints, single documents, HEAD, and the
// nested response format.
import { describe, expect, test } from 'vitest'
import { attackFixture, canary, expectInvalidKey, model } from './fixture.js'

const { request, look } = attackFixture()

describe('users', () => {
  test('S031 the users of an installation cannot be found by passwords or tokens', async () => {
    for (const path of ['/users', '/users/count', '/users/1', '/users/me']) {
      for (const name of ['password', 'resetPasswordToken', 'confirmationToken']) {
        expectInvalidKey(await request(`${path}?filters[${name}][$startsWith]=a`, { as: 'bob' }), 'filters', name, name)
        expectInvalidKey(await request(`${path}?filters[$not][${name}][$null]=true`, { as: 'bob' }), 'filters', name, name)
        expectInvalidKey(await request(`${path}?sort=${name}`, { as: 'bob' }), 'sort', name, name)
        expectInvalidKey(await request(`${path}?fields[0]=${name}`, { as: 'bob' }), 'fields', name, name)
      }
      for (const query of ['', 'populate=*', 'populate[role][populate]=*', 'fields=*']) {
        const { text } = await request(`${path}?${query}`, { as: 'bob' })
        expect(text, `${path}?${query}`).not.toMatch(/"(password|resetPasswordToken|confirmationToken|createdBy)"/)
      }
    }
  })

  test("S031 alice's requests about herself reach no further than her permissions to find", async () => {
    const me = await request('/users/me', { as: 'alice' })
    expect(me.status).toBe(200)
    expectInvalidKey(await request('/users/me?filters[role][name]=x', { as: 'alice' }), 'filters', 'role', 'role')
    expectInvalidKey(await request('/users/me?sort=role.name', { as: 'alice' }), 'sort', 'role', 'role')
    expect((await request('/users/me?populate=role', { as: 'alice' })).text).toBe(me.text)
    expect((await request('/users/me?populate[role][populate]=users', { as: 'alice' })).text).toBe(me.text)
  })

  test('S031 users in a relation show no more than users themselves', async () => {
    expectInvalidKey(
      await request('/articles?filters[owner][password][$startsWith]=a', { as: 'bob' }),
      'filters',
      'password',
      'owner.password',
    )
    expectInvalidKey(
      await request('/articles?filters[owner][role][users][password]=a', { as: 'bob' }),
      'filters',
      'password',
      'owner.role.users.password',
    )
    expectInvalidKey(await request('/articles?filters[owner][email][$startsWith]=a'), 'filters', 'owner', 'owner')
    const { text } = await request('/articles?populate[owner][populate]=*&pagination[pageSize]=100', { as: 'bob' })
    expect(text).toContain('bob@example.test')
    expect(text).not.toMatch(/"(password|resetPasswordToken|confirmationToken)"/)
  })
})

describe('files', () => {
  test('S031 the folders of the media library stay private', async () => {
    for (const path of ['/upload/files', '/upload/files/page', '/upload/files/1']) {
      for (const name of ['folderPath', 'folder', 'createdBy', 'updatedBy']) {
        expectInvalidKey(await request(`${path}?filters[${name}][$null]=true`, { as: 'full' }), 'filters', name, name)
        expectInvalidKey(await request(`${path}?populate=${name}`, { as: 'full' }), 'populate', name, name)
      }
      expectInvalidKey(await request(`${path}?fields=folderPath`, { as: 'full' }), 'fields', 'folderPath', 'folderPath')
      expectInvalidKey(await request(`${path}?sort=folder.path`, { as: 'full' }), 'sort', 'folder', 'folder')
    }
    expect((await request(`/upload/files?_q=${canary('kanarie', 'files', 'folder_path', 1)}`, { as: 'full' })).body).toEqual([])
  })

  test('S031 the documents of a file are shown only to callers who may find them', async () => {
    const { body } = await request('/upload/files?populate=related', { as: 'alice' })
    const kinds = new Set(body.flatMap(({ related }: { related: { __type: string }[] }) => related.map(({ __type }) => __type)))
    expect(kinds).toContain('api::article.article')
    for (const kind of kinds)
      expect(await look('select action from up_permissions where action = ?', `${kind}.find`), String(kind)).not.toEqual([])
    expect([...kinds]).not.toContain('plugin::users-permissions.user')
  })
})

describe('documents and formats', () => {
  test('S031 a single document refuses what its list refuses', async () => {
    const [id] = await look('select document_id from articles where published_at is not null limit 1')
    for (const path of [`/articles/${id}`, '/articles/not-there']) {
      expectInvalidKey(await request(`${path}?filters[internalNote][$startsWith]=a`), 'filters', 'internalNote', 'internalNote')
      expectInvalidKey(await request(`${path}?filters[author][salary]=1`), 'filters', 'salary', 'author.salary')
      expectInvalidKey(await request(`${path}?fields=secretCode`), 'fields', 'secretCode', 'secretCode')
      expectInvalidKey(await request(`${path}?sort=internalNote`), 'sort', 'internalNote', 'internalNote')
      expectInvalidKey(await request(`${path}?populate=createdBy`), 'populate', 'createdBy', 'createdBy')
    }
    expect((await request(`/articles/${id}?_q=${canary('kanarie', 'articles', 'internal_note', 2).slice(8, 14)}`)).status).toBe(404)
  })

  test('S031 a single type refuses what a list refuses', async () => {
    expectInvalidKey(await request('/homepage?filters[createdBy][id]=1'), 'filters', 'createdBy', 'createdBy')
    expectInvalidKey(await request('/homepage?sort=updatedBy.email'), 'sort', 'updatedBy', 'updatedBy')
    expectInvalidKey(await request('/homepage?populate=createdBy'), 'populate', 'createdBy', 'createdBy')
  })

  test('S031 the nested format and HEAD refuse what the flat format refuses', async () => {
    const headers = { 'strapi-response-format': 'v4' }
    expectInvalidKey(await request('/articles?filters[secretCode][$startsWith]=a', { headers }), 'filters', 'secretCode', 'secretCode')
    const { text } = await request('/articles?populate=*&pagination[pageSize]=100', { headers, as: 'full' })
    expect(text).not.toMatch(/"(internalNote|secretCode|createdBy)"/)
    const head = await request('/articles?filters[secretCode][$startsWith]=a', { method: 'HEAD' })
    expect([head.status, head.text]).toEqual([400, ''])
    expect((await request('/secret-notes', { method: 'HEAD' })).status).toBe(403)
  })

  test('S031 only callers with the permission can read the model', async () => {
    for (const path of ['content-types', 'content-types/api::article.article', 'components', 'components/blocks.rich']) {
      for (const as of ['public', 'alice', 'bob', 'custom', 'readonly'] as const) {
        expect((await request(`/content-type-builder/${path}`, { as })).status, `${as}: ${path}`).toBe(403)
      }
    }
    const { body } = await request('/content-type-builder/content-types', { as: 'full' })
    expect(body.data.map(({ uid }: { uid: string }) => uid).filter((uid: string) => uid.startsWith('admin::'))).toEqual([])
    expect(body.data.length).toBeGreaterThan([...model.paths].length)
  })

  test('S031 the start page names no value of the database', async () => {
    const { status, text } = await request('../')
    expect(status).toBe(200)
    expect(text).not.toMatch(/kanarie|verborgen|77391/)
  })
})
