// Two services with separate folders on one SQLite file; one of them cannot write the files of a change at the other one.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'

const token = 'may-do-everything'
const folder = mkdtempSync(join(tmpdir(), 'octavo-unwritten-'))
const schemaFile = (name: string): string => join(folder, `src/api/${name}/content-types/${name}/schema.json`)
let first: Served
let second: Served

beforeAll(async () => {
  first = await serveProject(contentType('note', { title: { type: 'string' } }), {
    environment: { ...secrets, DATABASE_CLIENT: 'sqlite' },
    config: { admin: { model: 'always' } },
  })
  await addToken(first, token, { type: 'full-access' })
  cpSync(first.folder, folder, { recursive: true, filter: (path) => !path.includes('.tmp') })
  second = await serveExisting({ folder }, { ...secrets, ...first.sameDatabase, DATABASE_CLIENT: 'sqlite' })
})
afterAll(async () => {
  await second.close()
  await first.close()
  rmSync(folder, { recursive: true, force: true })
})

const send = async (at: Served, method: string, path: string, body: object): Promise<TestResponse> => {
  const answer = await at.request(path, {
    ...{ method, token, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}
/** Creates a type with an update-schema request of Strapi's Content-Type Builder. */
const createType = (at: Served, singularName: string, attributes: Readonly<Record<string, object>>): Promise<TestResponse> => {
  const type = {
    action: 'create',
    uid: `api::${singularName}.${singularName}`,
    kind: 'collectionType',
    displayName: singularName,
    singularName,
    pluralName: `${singularName}s`,
    draftAndPublish: false,
    attributes: Object.entries(attributes).map(([name, properties]) => ({ action: 'create', name, properties })),
  }
  return send(at, 'POST', '/content-type-builder/update-schema', { data: { contentTypes: [type], components: [] } })
}
/** Creates a type at the first service whose file the second one cannot write until the returned file is removed. */
async function unwritable(name: string): Promise<string> {
  const blocked = join(folder, `src/api/${name}~content-types~${name}~schema.json.octavo-new`)
  mkdirSync(blocked)
  await createType(first, name, { label: { type: 'string' } })
  expect((await second.request(`/api/${name}s`, { token })).status).toBe(200)
  expect(existsSync(schemaFile(name))).toBe(false)
  return blocked
}

rule('live-model.8', 'requests that change the model and undoing work with files that are only in memory', async () => {
  await unwritable('tag')
  const attributes = { tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' } }
  await createType(second, 'book', attributes)
  await send(second, 'POST', '/api/content-type-builder/undo', { data: {} })
  await send(second, 'PUT', '/api/content-type-builder/schemas', { data: { 'api::tag.tag': null } })
  expect((await first.request('/api/tags', { token })).status).toBe(404)
})

rule('live-model.8', 'files that could not be written are written with the next change', async () => {
  const blocked = await unwritable('label')
  rmSync(blocked, { recursive: true })
  await createType(second, 'shelf', { name: { type: 'string' } })
  expect(existsSync(schemaFile('label'))).toBe(true)
  expect((await first.request('/api/shelfs', { token })).status).toBe(200)
})
