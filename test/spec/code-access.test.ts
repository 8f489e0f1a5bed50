// Names available to project code: private attributes in conditions, and in the data of hooks values that callers may not find.
import { afterAll, beforeAll, expect } from 'vitest'
import { grantsOf } from '../../src/foundation/grants.js'
import type { Hook } from '../../src/foundation/public/hooks.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, addUser, grant, jwt, secrets } from './callers.js'

const note = 'api::note.note'
const owner = { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.user' }
const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    info: { singularName: 'note', pluralName: 'notes' },
    attributes: {
      ...{ text: { type: 'string' }, place: { type: 'string', private: true }, secret: { type: 'password', private: true } },
      ...{ owner, about: { type: 'component', component: 'parts.about' } },
      copies: { type: 'relation', relation: 'manyToMany', target: note },
    },
  },
  'src/components/parts/about.json': {
    collectionName: 'components_parts_abouts',
    info: { displayName: 'About' },
    attributes: { reader: owner },
  },
}

/** Adds a value that depends on the text. */
const before: Hook['before'] = ({ data, caller }) => {
  if (data === null || caller?.kind !== 'user') return
  if (data.text === 'with a part') data.about = { reader: caller.id }
  else if (data.text === 'changed below') Object.assign(data.about as object, { reader: caller.id })
  else if (data.text === 'replaced') data.owner = caller.id
  else data.owner ??= caller.id
}

let served: Served
let ann: number
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, code: { hooks: [{ types: [note], before }] } })
  for (const action of ['find', 'create', 'update']) await grant(served, 'authenticated', `${note}.${action}`)
  ann = await addUser(served, 'ann', 'authenticated')
  await addToken(served, 'all', { type: 'full-access' })
})
afterAll(() => served.close())

rule('project-code.5', 'private attributes are compared in filters, orders and conditions of writes, but no passwords', async () => {
  const { service } = served
  const notes = service.documents(note)
  const [first, second] = await notes.createMany({ data: ['a', 'b'].map((place) => ({ text: 'compared', place, secret: 'hush' })) })
  const named = { place: { $in: ['a', 'b'] } }
  const found = await notes.findMany({ filters: named, sort: 'place:desc' })
  expect(found.map(({ documentId }) => documentId)).toEqual([second!.documentId, first!.documentId])
  expect(JSON.stringify(found)).not.toContain('place')
  expect(await notes.count({ filters: { copies: named } })).toBe(0)
  const { documentId } = first!
  const change = (place: string) =>
    service.transaction((write) => ({ one: write(note).update({ documentId, filters: { place }, data: { text: 'changed' } }) }))
  await expect(change('b')).rejects.toMatchObject({ status: 409 })
  expect(await change('a')).toMatchObject({ one: { text: 'changed' } })
  await expect(notes.count({ filters: { secret: 'hush' } })).rejects.toMatchObject({ status: 400 })
  await expect(notes.findMany({ fields: ['place'] })).rejects.toMatchObject({ status: 400 })

  const reader = service.documents(note, { grants: grantsOf('who finds notes', new Set([`${note}.find`])) })
  await expect(reader.count({ filters: named })).rejects.toMatchObject({ status: 400 })
  await expect(reader.findMany({ sort: 'place' })).rejects.toMatchObject({ status: 400 })
  for (const query of ['filters[place]=a', 'sort=place'])
    expect((await served.request(`/api/notes?${query}`, { token: 'all' })).status).toBe(400)
  expect(await notes.deleteMany({ filters: named })).toHaveLength(2)
})

rule('project-code.6', 'a hook adds a relation to what the caller may not find, and the caller may not send it', async () => {
  const headers = { 'content-type': 'application/json' }
  const write = (method: string, path: string, data: object) =>
    served.request(`/api/${path}`, { method, token: jwt(ann), headers, body: JSON.stringify({ data }) })
  const made = await write('POST', 'notes', { text: 'mine' })
  expect([made.status, made.body.data.owner], made.text).toEqual([201, undefined])
  const { documentId } = made.body.data
  const populate = { owner: { fields: ['username'] }, about: { populate: 'reader' } }
  const stored = () => served.service.documents(note).findOne({ documentId, populate })
  expect(await stored()).toMatchObject({ owner: { username: 'ann' } })
  const part = await write('PUT', `notes/${documentId}`, { text: 'with a part' })
  expect(part.status, part.text).toBe(200)
  expect(await stored()).toMatchObject({ about: { reader: { username: 'ann' } } })
  const refused = [{ owner: ann }, { owner: null }, { text: 'replaced', owner: 4711 }, { text: 'changed below', about: {} }]
  for (const data of refused) {
    const { status, body } = await write('POST', 'notes', data)
    expect([data, status, body.error?.details.key]).toEqual([data, 400, 'about' in data ? 'reader' : 'owner'])
  }
  const unknown = await write('POST', 'notes', { text: 'mine', nothing: 1 })
  expect([unknown.status, unknown.body.error.details.key]).toEqual([400, 'nothing'])
})
