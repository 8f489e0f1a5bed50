// Custom field types: their declaration in a project, their columns, their registration by code, and known plugins.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { component, contentType } from './library.js'

const field = (customField: string, more: object = {}) => ({ type: 'customField', customField, ...more })
const place = {
  shape: field('plugin::maps.shape'),
  place: field('plugin::strapi-location-picker.location-picker'),
  rank: field('plugin::crm-fields.ranking'),
  state: field('plugin::crm-fields.state'),
  code: field('global::code', { required: true }),
  page: field('plugin::ckeditor5.CKEditor'),
  uuid: field('plugin::strapi-advanced-uuid.uuid'),
  mood: field('plugin::moods.mood', { customType: 'boolean' }),
  other: field('plugin::nobody.knows'),
  video: { type: 'component', component: 'a.clip' },
}
const files = {
  ...contentType('place', { title: { type: 'string' }, ...place }),
  ...component('a', 'clip', { file: field('plugin::video-field.video'), note: field('plugin::nobody.knows') }),
  'src/index.ts': `
    const fields = [{ name: 'code', type: 'string' as const }]
    export default {
      register({ strapi }: { strapi: any }) { strapi.customFields.register(fields) },
      bootstrap() {},
    }`,
  'src/plugins/crm-fields/strapi-server.js': `
    const pluginPkg = require('./package.json')
    module.exports = {
      register({ strapi }) {
        strapi.customFields.register({ name: 'ranking', plugin: 'crm-fields', type: 'integer' })
        strapi.customFields.register({ name: 'state', plugin: pluginPkg.strapi.name, type: 'enumeration' })
      },
    }`,
}
const settings = { 'plugin::maps.shape': 'json', 'plugin::map.shape': 'text' }
const values = {
  shape: { lines: [1, 2] },
  place: { lat: 1.5, lng: 2 },
  rank: 7,
  state: 'open',
  code: 'c1',
  page: `# ${'long '.repeat(100)}`,
  uuid: 'a-1',
  mood: true,
  other: 'text '.repeat(100),
  video: { file: { provider: 'youtube' }, note: 'n' },
}

let served: Served
let again: Served | null = null
beforeAll(async () => {
  served = await serveProject({ ...files, 'octavo.config.json': { customFields: settings } }, { environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
})
afterAll(async () => {
  await again?.close()
  await served.close()
})

const send = (at: Served, method: string, path: string, body?: object) =>
  at.request(path, {
    ...{ method, token: 'full' },
    ...(body === undefined ? {} : { body: JSON.stringify({ data: body }), headers: { 'content-type': 'application/json' } }),
  })

const warned = ({ log }: Served) =>
  log.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && !msg.includes('slow')) as readonly {
    readonly msg: string
  }[]

rule('projects.18', 'a custom field has the type that octavo.config, the code or a table of plugins says; others are text', async () => {
  const { status, body } = await send(served, 'POST', '/api/places?populate=*', values)
  expect([status, body.error]).toEqual([201, undefined])
  const { file, note } = body.data.video
  expect({ ...body.data, video: { file, note } }).toMatchObject(values)
  for (const wrong of [{ rank: 'seven' }, { rank: 1.5 }, { place: 3 }, { mood: 'yes' }, { code: 3 }, { uuid: 'a-1' }, { other: 3 }])
    expect([wrong, (await send(served, 'POST', '/api/places', { ...values, uuid: 'b', ...wrong })).status]).toEqual([
      wrong,
      'place' in wrong ? 201 : 400,
    ])
  const texts = warned(served).map(({ msg }) => msg)
  expect(texts.filter((text) => text.includes('nobody.knows'))).toEqual([
    expect.stringContaining(
      'api::place.place.other is the custom field plugin::nobody.knows, whose type is not known; it is taken for text',
    ),
    expect.stringMatching(/^a\.clip\.note is .+"customFields": \{ "plugin::nobody\.knows": "json" \}$/),
  ])
  expect(texts.filter((text) => text.includes('plugin::map.shape'))).toEqual([
    'customFields of octavo.config has "plugin::map.shape", which no attribute is; did you mean "plugin::maps.shape"?',
  ])
  expect(texts).toHaveLength(3)
  const description = await served.request('/api/openapi.json', { token: 'full' })
  const { properties } = Object.values(description.body.components.schemas).find(
    (schema) => (schema as { properties?: object }).properties !== undefined && 'rank' in (schema as { properties: object }).properties,
  ) as { properties: Record<string, { type?: unknown }> }
  expect([JSON.stringify(properties.rank), JSON.stringify(properties.mood)]).toEqual([
    expect.stringContaining('integer'),
    expect.stringContaining('boolean'),
  ])
})

rule('projects.18', 'the column of an existing database counts more than the code and the table', async () => {
  writeFileSync(join(served.folder, 'octavo.config.json'), '{}')
  writeFileSync(
    join(served.folder, 'src/plugins/crm-fields/strapi-server.js'),
    `module.exports = { register({ strapi }) { strapi.customFields.register({ name: 'ranking', plugin: 'crm-fields', type: 'json' }) } }`,
  )
  again = await serveExisting(served, secrets)
  const { body } = await send(again, 'GET', '/api/places?filters[title][$null]=true&populate=*&sort=id')
  expect(body.data[0]).toMatchObject({ ...values, video: { file: values.video.file, note: 'n' } })
  expect(await send(again, 'POST', '/api/places', { ...values, uuid: 'c', rank: { a: 1 } })).toMatchObject({ status: 400 })
  expect(await send(again, 'POST', '/api/places', { ...values, uuid: 'a-1' })).toMatchObject({ status: 400 })
  expect(warned(again)).toEqual([])
})

rule('projects.18', 'an explicit setting counts more than the column', async () => {
  writeFileSync(join(served.folder, 'octavo.config.json'), JSON.stringify({ customFields: { 'global::code': 'uid' } }))
  await again?.close()
  again = await serveExisting(served, secrets)
  expect(await send(again, 'POST', '/api/places', { ...values, uuid: 'd', code: 'with spaces' })).toMatchObject({ status: 400 })
  if (!isOnServer) {
    const wrong = serveExisting(served, { ...secrets, OCTAVO_CONFIG: '{"customFields":{"global::code":"jsn"}}' })
    await expect(wrong).rejects.toThrow(/customFields/)
  }
})
