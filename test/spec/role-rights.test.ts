// What a role allows, as one value of the administration API.
import { afterAll, beforeAll, expect } from 'vitest'
import { adminRole, allowAdmins, rowsOf } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Answer, Served } from '../support/serve.js'
import { type Desk, giveRights, openDesk, serveOffice, story, writer } from './editorial-office.js'

let served: Served
let ada: Desk
beforeAll(async () => {
  served = await serveOffice()
  ada = await openDesk(served, 'ada@office.example')
})
afterAll(() => served?.close())

const explorer = (action: string) => `plugin::content-manager.explorer.${action}`
const pathOf = async (code: string) => `/roles/${await adminRole(served, code)}/rights`
const put = async (desk: Desk, path: string, rights: readonly object[]): Promise<Answer> =>
  desk.send('PUT', path, { rights }, { 'if-match': (await ada.get(path)).headers.get('etag')! })

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
  const nobody = await openDesk(served, 'nobody@office.example', ['nobody'])
  expect([(await nobody.get(path)).status, (await nobody.send('PUT', path, { rights: [] }, { 'if-match': '"x"' })).status]).toEqual([
    403, 403,
  ])
})

rule('rights.15', 'what is written is what Strapi writes', async () => {
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

rule('rights.16', 'nobody gives rights that they lack', async () => {
  await allowAdmins(served, 'lead', 'admin::roles.read', 'admin::roles.update', 'plugin::upload.read')
  await giveRights(served, 'lead', [
    { action: 'read', subject: story, properties: { fields: ['title', 'summary', 'seo.metaTitle'], locales: ['de'] } },
    { action: 'read', subject: writer, conditions: ['admin::is-creator'] },
  ])
  const lead = await openDesk(served, 'lead@office.example', ['lead'])
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
  // What is there may go, and does not come back.
  expect((await put(lead, path, [])).status).toBe(200)
  expect((await put(lead, path, present)).status).toBe(403)
  // Nor for the own role.
  const own = await pathOf('lead')
  expect((await put(lead, own, [{ action: explorer('read'), subject: story }])).status).toBe(403)
})
