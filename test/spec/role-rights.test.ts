// Permissions of a role, as one value of the administration API.
import { afterAll, beforeAll, expect } from 'vitest'
import { adminRole, allowAdmins, rowsOf } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveGolden, type TestResponse } from '../support/serve.js'
import { secrets } from './callers.js'
import { type AdminClient, giveRights, serveNewsroom, signInClient, story, writer } from './newsroom.js'

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
})
afterAll(() => served?.close())

const explorer = (action: string) => `plugin::content-manager.explorer.${action}`
const pathOf = async (code: string) => `/roles/${await adminRole(served, code)}/rights`
const put = async (client: AdminClient, path: string, rights: readonly object[]): Promise<TestResponse> =>
  client.send('PUT', path, { rights }, { 'if-match': (await ada.get(path)).headers.get('etag')! })

rule('rights.14', 'rights are one value with a revision', async () => {
  const path = await pathOf('writing')
  const empty = await ada.get(path)
  expect(empty.body.data).toMatchObject({ everything: false, rights: [] })
  const rights = [
    { action: explorer('read'), subject: story, locales: ['de'], conditions: ['admin::is-creator'] },
    { action: explorer('delete'), subject: writer },
    { action: 'plugin::upload.read' },
  ]
  expect((await ada.send('PUT', path, { rights })).status).toBe(428)
  const wrong = await ada.send('PUT', path, { rights }, { 'if-match': '"other"' })
  expect([wrong.status, wrong.body.error.details.revision]).toEqual([412, empty.body.data.revision])
  const made = await put(ada, path, rights)
  expect(made.status).toBe(200)
  expect(made.body.data.revision).not.toBe(empty.body.data.revision)
  expect((await ada.get(path)).body).toEqual(made.body)
  expect((await ada.send('PUT', path, { rights }, { 'if-match': empty.headers.get('etag')! })).status).toBe(412)
  expect((await ada.get('/roles/9999/rights')).status).toBe(404)
  expect((await ada.get(await pathOf('strapi-super-admin'))).body.data.everything).toBe(true)
  const nobody = await signInClient(served, 'nobody@office.example', ['nobody'])
  expect([(await nobody.get(path)).status, (await nobody.send('PUT', path, { rights: [] }, { 'if-match': '"x"' })).status]).toEqual([
    403, 403,
  ])
})

rule('rights.14', 'administrators who may only change rights cannot read them', async () => {
  await allowAdmins(served, 'changer', 'admin::roles.update')
  const changer = await signInClient(served, 'changer@office.example', ['changer'])
  const path = await pathOf('changer')
  expect((await changer.get(path)).status).toBe(403)
  const refused = await changer.send('PUT', path, { rights: [] }, { 'if-match': '"x"' })
  expect([refused.status, refused.body.error.details, refused.headers.get('etag')]).toEqual([412, {}, null])
})

rule('rights.14', 'a GET response can be sent back, with any rows that Strapi and others have written', async () => {
  const strange = [
    { properties: [] },
    { properties: { fields: ['title', 'gone'], locales: 'en' } },
    { conditions: 'some' },
    { properties: { fields: ['title'] }, conditions: ['api::shop.is-open'] },
  ]
  const code = await adminRole(served, 'strange')
  await giveRights(served, 'strange', [
    ...strange.map((row) => ({ action: 'read' as const, subject: story, ...(row as object) })),
    ...[0, 1].map(() => ({ action: 'publish' as const, subject: writer, properties: {} })),
    { action: 'read', subject: 'api::gone.gone', properties: { fields: ['title'], locales: ['en'] } },
    { action: 'delete', subject: story, properties: { fields: ['title'] } },
  ])
  await allowAdmins(served, 'strange', 'plugin::gone.act', 'admin::users.read')
  const path = `/roles/${code}/rights`
  const rows = await rowsOf(served, 'admin_permissions')
  const { rights } = (await ada.get(path)).body.data
  expect(rights).toContainEqual({ action: explorer('read'), subject: story, fields: [], locales: [], conditions: [] })
  expect(rights).not.toContainEqual({ action: explorer('read'), subject: story, fields: null, locales: [], conditions: [] })
  expect(rights).toContainEqual({ action: explorer('publish'), subject: writer, fields: null, locales: null, conditions: [] })
  const again = await put(ada, path, rights)
  expect([again.status, again.body.data.rights]).toEqual([200, rights])
  expect(await rowsOf(served, 'admin_permissions')).toEqual(rows)
  // A changed row may keep its former names; other invalid ones are refused.
  const of = (one: { fields: string[] | null }) =>
    one.fields?.includes('gone') ? { ...one, fields: ['gone', 'summary'], locales: ['en'] } : one
  expect((await put(ada, path, rights.map(of))).status).toBe(200)
  const mistakes = [
    { action: explorer('publish'), subject: writer, conditions: ['admin::is-creator'] },
    {
      action: explorer('read'),
      subject: story,
      fields: ['title', 'no', 'nothing'],
      conditions: ['admin::is-creator', 'api::shop.is-open'],
    },
    { action: 'plugin::gone.act', subject: story },
  ]
  const refused = await put(ada, path, [...rights.map(of), ...mistakes])
  expect([refused.status, refused.body.error.message]).toEqual([400, '6 errors occurred'])
  const at = (place: number, ...below: string[]) => ['rights', String(rights.length + place), ...below]
  expect(refused.body.error.details.errors.map((error: { path: string[] }) => error.path)).toEqual([
    ...[at(0, 'action'), at(1, 'fields', '1'), at(1, 'fields', '2'), at(1, 'conditions', '1')],
    ...[at(2, 'action'), at(2)],
  ])
})

rule('rights.14', 'the roles of a database of Strapi can be sent back, and be given more', async () => {
  const golden = await serveGolden({ environment: secrets })
  try {
    const root = await signInClient(golden, 'root@office.example')
    const rows = () => rowsOf(golden, 'admin_permissions')
    for (const code of ['strapi-editor', 'strapi-author']) {
      const path = `/roles/${await adminRole(golden, code)}/rights`
      const before = await rows()
      const got = await root.get(path)
      const send = async (rights: readonly object[]) =>
        root.send('PUT', path, { rights }, { 'if-match': (await root.get(path)).headers.get('etag')! })
      const same = await send(got.body.data.rights)
      expect([same.status, same.body]).toEqual([200, got.body])
      expect(await rows()).toEqual(before)
      const more = { action: 'admin::roles.read', subject: null, fields: null, locales: null, conditions: [] }
      const added = await send([...got.body.data.rights, more])
      expect([added.status, added.body.data.rights.length]).toEqual([200, got.body.data.rights.length + 1])
      expect(added.body.data.rights).toEqual(expect.arrayContaining([...got.body.data.rights, more]))
      expect((await send(got.body.data.rights)).status).toBe(200)
      expect(await rows()).toEqual(before)
      // A new role gets the same, but for publications of types without Draft & Publish.
      const other = `/roles/${await adminRole(golden, `like-${code}`)}/rights`
      const etag = (await root.get(other)).headers.get('etag')!
      const refused = await root.send('PUT', other, { rights: got.body.data.rights }, { 'if-match': etag })
      const messages = (refused.body.error?.details.errors ?? []).map(({ message }: { message: string }) => message)
      expect(messages.filter((message: string) => !message.endsWith('has no Draft & Publish'))).toEqual([])
    }
  } finally {
    await golden.close()
  }
})

rule('rights.15', 'rows are written as Strapi writes them', async () => {
  const path = await pathOf('written')
  await put(ada, path, [
    { action: explorer('read'), subject: story },
    { action: explorer('update'), subject: story, fields: ['title', 'seo.metaTitle'], locales: ['en'] },
    { action: explorer('publish'), subject: story, locales: null },
    { action: explorer('read'), subject: writer, conditions: ['admin::is-creator', 'admin::has-same-role-as-creator'] },
  ])
  const parse = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)
  const stored = async () =>
    (await rowsOf(served, 'admin_permissions'))
      .filter(({ action }) => String(action).startsWith('plugin::content-manager.explorer'))
      .map((row) => [row.action, row.subject, parse(row.properties), parse(row.conditions)])
  expect(await stored()).toEqual(
    expect.arrayContaining([
      [
        explorer('read'),
        story,
        {
          fields: expect.arrayContaining(['title', 'secret', 'seo.metaTitle', 'seo.metaSecret', 'links.metaTitle', 'sections', 'writer']),
          locales: null,
        },
        [],
      ],
      [explorer('update'), story, { fields: ['title', 'seo.metaTitle'], locales: ['en'] }, []],
      [explorer('publish'), story, { locales: null }, []],
      [explorer('read'), writer, { fields: ['name', 'phone', 'stories'] }, ['admin::is-creator', 'admin::has-same-role-as-creator']],
    ]),
  )
  // Rows that say the same stay.
  const before = await rowsOf(served, 'admin_permissions')
  const { rights } = (await ada.get(path)).body.data
  const forms = rights.map((right: { subject: string; locales: unknown }) =>
    right.subject === writer ? { ...right, locales: null } : right,
  )
  expect(
    (
      await put(
        ada,
        path,
        forms.map((right: { action: string }) => (right.action === explorer('publish') ? { ...right, fields: null } : right)),
      )
    ).status,
  ).toBe(200)
  expect(await rowsOf(served, 'admin_permissions')).toEqual(before)
  const wrong = [
    { action: 'plugin::mine.act' },
    { action: explorer('destroy'), subject: story },
    { action: explorer('read') },
    { action: explorer('read'), subject: 'api::nothing.nothing' },
    { action: explorer('read'), subject: 'admin::user' },
    { action: explorer('read'), subject: story, fields: ['nothing'] },
    { action: explorer('read'), subject: story, fields: ['sections.heading'] },
    { action: explorer('read'), subject: story, conditions: ['api::shop.is-open'] },
    { action: explorer('publish'), subject: writer },
    { action: explorer('delete'), subject: story, fields: ['title'] },
    { action: explorer('read'), subject: writer, locales: ['de'] },
    { action: 'admin::users.read', conditions: ['admin::is-creator'] },
    { action: 'admin::users.read', subject: story },
    { action: explorer('read'), subject: story, more: true },
  ]
  for (const right of wrong) expect([right, (await put(ada, path, [right])).status]).toEqual([right, 400])
  expect(await rowsOf(served, 'admin_permissions')).toEqual(before)
  expect((await put(ada, await pathOf('strapi-super-admin'), [])).status).toBe(400)
})

rule('administration.24', 'the right to change users can be given, but not by administrators who lack a part of it', async () => {
  const user = 'plugin::users-permissions.user'
  const fields = ['username', 'email', 'provider', 'password', 'resetPasswordToken', 'confirmationToken', 'confirmed', 'blocked', 'role']
  const path = await pathOf('users')
  const rights = (await ada.get(path)).body.data.rights
  expect(rights).toEqual([])
  const named = [
    { action: explorer('read'), subject: user, fields },
    { action: explorer('update'), subject: user, fields },
  ]
  expect((await put(ada, path, named)).status).toBe(200)
  const [, update] = (
    await put(
      ada,
      path,
      named.map((right) => ({ ...right, fields: null })),
    )
  ).body.data.rights
  expect(update.fields).toEqual(fields.filter((name) => !name.endsWith('Token')))
  const clerk = await signInClient(served, 'clerk@office.example', ['users'])
  const [{ id }] = (await served.sql(
    'INSERT INTO up_users (document_id, username, email, created_at, updated_at, published_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id',
    ...['u'.repeat(24), 'reader', 'reader@office.example', Date.now(), Date.now(), Date.now()],
  )) as [{ id: number }]
  expect((await clerk.send('PATCH', `/users/${id}`, { password: 'Correct-Horse-8' })).status).toBe(200)
  expect((await clerk.get('/users')).text).not.toContain('$2')
  // An administrator who may change everything except passwords cannot give the right to change them.
  const most = fields.filter((name) => name !== 'password' && !name.endsWith('Token'))
  await allowAdmins(served, 'most', 'admin::roles.read', 'admin::roles.update')
  await giveRights(
    served,
    'most',
    ['read' as const, 'update' as const].map((action) => ({ action, subject: user, properties: { fields: most } })),
  )
  const mate = await signInClient(served, 'most@office.example', ['most'])
  const other = await pathOf('others')
  const give = async (names: readonly string[] | null) =>
    (await put(mate, other, [{ action: explorer('update'), subject: user, fields: names }])).status
  expect([await give(most), await give([...most, 'password']), await give(null)]).toEqual([200, 403, 403])
})

rule('rights.16', 'administrators cannot give rights that they lack', async () => {
  await allowAdmins(served, 'lead', 'admin::roles.read', 'admin::roles.update', 'plugin::upload.read')
  await giveRights(served, 'lead', [
    { action: 'read', subject: story, properties: { fields: ['title', 'summary', 'seo.metaTitle'], locales: ['de'] } },
    { action: 'read', subject: writer, conditions: ['admin::is-creator'] },
  ])
  const lead = await signInClient(served, 'lead@office.example', ['lead'])
  await giveRights(served, 'given', [{ action: 'update', subject: story }])
  const path = await pathOf('given')
  const present = (await ada.get(path)).body.data.rights as readonly object[]
  const read = { action: explorer('read'), subject: story, fields: ['title'], locales: ['de'] }
  const may = [
    read,
    { ...read, fields: ['title', 'seo.metaTitle'] },
    { ...read, conditions: ['admin::is-creator'] },
    { ...read, fields: [] },
  ]
  for (const right of may) expect([right, (await put(lead, path, [...present, right])).status]).toEqual([right, 200])
  const creators = { action: explorer('read'), subject: writer, conditions: ['admin::is-creator'] }
  expect((await put(lead, path, [...present, creators, { action: 'plugin::upload.read' }])).status).toBe(200)
  await put(ada, path, present)
  const before = await rowsOf(served, 'admin_permissions')
  const lacks = [
    { ...read, fields: ['title', 'secret'] },
    { ...read, fields: ['seo'] },
    { ...read, fields: null },
    { ...read, locales: null },
    { ...read, locales: ['de', 'en'] },
    { ...read, action: explorer('update') },
    { ...read, action: explorer('create') },
    { ...creators, conditions: [] },
    { ...creators, conditions: ['admin::is-creator', 'admin::has-same-role-as-creator'] },
    { action: 'admin::users.create' },
    { action: explorer('delete'), subject: writer },
  ]
  for (const right of lacks) {
    const isUpdate = right.action === explorer('update')
    expect([right, (await put(lead, path, isUpdate ? [right] : [...present, right])).status]).toEqual([right, isUpdate ? 200 : 403])
    if (isUpdate) await put(ada, path, present)
  }
  expect((await rowsOf(served, 'admin_permissions')).length).toBe(before.length)
  // Existing rows may be removed, and do not come back.
  expect((await put(lead, path, [])).status).toBe(200)
  expect((await put(lead, path, present)).status).toBe(403)
  // Nor for the own role.
  const own = await pathOf('lead')
  expect((await put(lead, own, [{ action: explorer('read'), subject: story }])).status).toBe(403)
})
