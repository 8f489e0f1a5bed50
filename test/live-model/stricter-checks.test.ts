// Schema files with errors that end a start today, but did not when the project was served as Strapi's, or by an earlier version.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { octavo } from '../start/command.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'

const fileOf = (name: string) => `src/api/${name}/content-types/${name}/schema.json`
const typeOf = (name: string, attributes: object) => ({
  kind: 'collectionType',
  collectionName: `${name}s`,
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  attributes,
})
const title = { type: 'string' }
const slug = (targetField: string) => ({ title, slug: { type: 'uid', targetField } })
const strapis = { dependencies: { '@strapi/strapi': '5.54.0' } }
const token = 'may-do-everything'
const users = 'src/extensions/users-permissions/content-types/user/schema.json'

let served: Served
beforeAll(async () => {
  const files = { 'package.json': strapis, [fileOf('note')]: typeOf('note', slug('nme')), [fileOf('page')]: typeOf('page', { title }) }
  served = await serveProject(files, { environment: secrets })
  await addToken(served, token, { type: 'full-access' })
  const body = JSON.stringify({ data: { title: 'kept', slug: 'kept' } })
  const headers = { 'content-type': 'application/json' }
  expect((await served.request('/api/notes', { method: 'POST', token, headers, body })).status).toBe(201)
  await served.service.close()
})
afterAll(() => served.close().catch(() => {}))

const save = (file: string, content: object) => writeFileSync(join(served.folder, file), JSON.stringify(content))
const model = (...words: readonly string[]) =>
  octavo(['model', ...words, served.folder], { ...secrets, ...served.sameDatabase, LOG_LEVEL: 'error' })

/** The notes that a start serves. */
async function notesAfterStart(): Promise<unknown> {
  const again = await serveExisting(served, secrets)
  try {
    return (await again.request('/api/notes', { token })).body.data
  } finally {
    await again.service.close()
  }
}

rule('live-model.20', "schemas that end a start once the project is no longer Strapi's can be corrected", async () => {
  save('package.json', { dependencies: { octavo: '1.0.0' } })
  const mistake = 'note/schema.json: attributes.slug.targetField "nme" is not an attribute'
  await expect(notesAfterStart()).rejects.toThrow(mistake)
  for (const command of ['plan', 'apply']) {
    const { status, err } = await model(command)
    expect([status, err]).toEqual([1, expect.stringMatching(/^octavo: [^\n]+\n$/)])
    expect(err).toContain(mistake)
  }
  save(fileOf('note'), typeOf('note', slug('title')))
  expect(await model('plan')).toMatchObject({ status: 0 })
  expect(await notesAfterStart()).toMatchObject([{ title: 'kept', slug: 'kept' }])
})

rule('live-model.20', 'schemas that an earlier version did not check can be corrected', async () => {
  const relation = { type: 'relation', relation: 'manyToOne', target: 'api::page.page', mappedBy: 'notes' }
  const hidden = { type: 'string', conditions: { visible: { unknown: [{ var: 'title' }, 'a'] } } }
  const page = JSON.stringify(typeOf('page', { title, hidden, parent: { ...relation, mappedBy: 'children' } }))
  const extension = JSON.stringify({ attributes: { email: { type: 'media' }, note: title } })
  // The database as left by a service without these checks.
  save(fileOf('page'), typeOf('page', { title, hidden: title, parent: { ...relation, mappedBy: undefined } }))
  mkdirSync(dirname(join(served.folder, users)), { recursive: true })
  save(users, { attributes: { note: title } })
  await notesAfterStart()
  await served.sql(`update octavo_schemas set text = '${page}' where path = '${fileOf('page')}'`)
  expect(await model('plan')).toMatchObject({ status: 0 })
  await served.sql(`update octavo_schemas set text = '${extension}' where path = '${users}'`)
  expect(await model('plan')).toMatchObject({ status: 0 })
  expect(await notesAfterStart()).toMatchObject([{ title: 'kept' }])
  expect(await notesAfterStart()).toMatchObject([{ title: 'kept' }])
})
