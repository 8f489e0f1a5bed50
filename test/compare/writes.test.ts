// `octavo compare --writes`: each service has a separate database, and two services on one database get no requests.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { component, contentType } from '../spec/library.js'
import { removeProjects } from '../start/command.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'
import { compare, fileOf, report } from './compared.js'

const files = {
  ...contentType(
    'note',
    { name: { type: 'string', required: true }, rank: { type: 'integer' }, side: { type: 'component', component: 'a.side' } },
    { draftAndPublish: true },
  ),
  ...contentType('tag', { name: { type: 'string' }, notes: { type: 'relation', relation: 'manyToMany', target: 'api::note.note' } }),
  ...component('a', 'side', { text: { type: 'string' } }),
}
const key = 'a-full-access-token-of-the-tests'
const writes = ['--writes', '--as', `full=${key}`]

let [theirs, ours] = [] as unknown as [Served, Served]
beforeAll(async () => {
  theirs = await serveProject(files, { environment: secrets })
  ours = await serveProject(files, { environment: secrets })
  for (const served of [theirs, ours]) await addToken(served, key, { type: 'full-access' })
})
afterAll(async () => {
  await theirs.close()
  await ours.close()
  removeProjects()
})

const conversation = [
  { method: 'POST', path: '/api/notes', body: { data: { name: 'First', rank: 1, side: { text: 'inside' } } }, name: 'first' },
  { method: 'POST', path: '/api/tags?populate=notes', body: { data: { name: 'All', notes: ['{{first.data.documentId}}'] } }, name: 'tag' },
  { method: 'PUT', path: '/api/notes/{{first.data.documentId}}', body: { data: { rank: 2 } } },
  '/api/notes?populate=*',
  '/api/tags/{{tag.data.documentId}}?populate=*',
  { method: 'POST', path: '/api/notes', body: { data: { rank: 'many' } } },
  { method: 'DELETE', path: '/api/notes/{{first.data.documentId}}' },
  '/api/tags?populate=notes',
]

test('a conversation with both services has no differences in generated ids and times', async () => {
  const found = await report(theirs.origin, ours.origin, conversation, ...writes)
  expect(found, JSON.stringify(found.groups, null, 1)).toMatchObject({ same: conversation.length, different: 0, status: 0 })
  expect(await theirs.sql('select name from notes')).toEqual([])
  expect((await ours.sql('select name from tags')).length).toBe(1)
})

test('finds differences', async () => {
  await theirs.sql("update tags set name = 'Other'")
  const requests = [{ method: 'POST', path: '/api/notes', body: { data: { name: 'Second' } } }, '/api/tags']
  const found = await report(theirs.origin, ours.origin, requests, ...writes)
  expect(found).toMatchObject({ same: 1, different: 1, status: 1 })
  expect(found.groups[0]!.examples[0]!.differences).toMatchObject([{ path: 'data[0].name', strapi: '"Other"', octavo: '"All"' }])
})

test('services with one database are refused, and nothing remains of the check', async () => {
  const beside = await serveExisting(ours, secrets)
  try {
    const rows = () => ours.sql('select id, name, document_id from notes order by id')
    const before = await rows()
    const { status, err, out } = await compare(beside.origin, ours.origin, ...writes, '--requests', fileOf(conversation))
    expect(err).toBe('octavo: Both services have the same database: with --writes each needs a separate copy.\n')
    expect([status, out]).toEqual([2, ''])
    expect(await rows()).toEqual(before)
    const same = await compare(ours.origin, ours.origin, ...writes, '--requests', fileOf(conversation))
    expect(same).toMatchObject({ status: 2, out: '' })
    expect(await rows()).toEqual(before)
  } finally {
    await beside.close()
  }
})
