// Links to drafts from outside: files by uploads, rows of types without drafts, polymorphic lists, relations of one owner.
// A PUT remembers drafts that it left in sync, so each is requested after such a PUT too.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { access, component, contentType, reading } from './library.js'
import { serveWritable, type WritableProject } from './writable-project.js'

const relation = (kind: string, name: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${name}.${name}`,
  ...more,
})
const name = { type: 'string' }
const drafts = { draftAndPublish: true }

let writable: WritableProject
beforeAll(async () => {
  const left = {
    name,
    cover: { type: 'media', multiple: false },
    part: { type: 'component', component: 'parts.frame' },
    polys: relation('morphMany', 'poly', { morphBy: 'subjects' }),
    one: relation('oneToOne', 'right', { inversedBy: 'back' }),
    shelves: relation('manyToMany', 'shelf', { mappedBy: 'lefts' }),
    lamp: relation('oneToOne', 'shelf', { mappedBy: 'lit' }),
  }
  const shelf = {
    name,
    lefts: relation('manyToMany', 'left', { inversedBy: 'shelves' }),
    lit: relation('oneToOne', 'left', { inversedBy: 'lamp' }),
  }
  const project = {
    ...contentType('left', left, drafts),
    ...contentType(
      'right',
      { name, back: relation('oneToOne', 'left', { mappedBy: 'one' }), sign: relation('oneToOne', 'sign', { mappedBy: 'right' }) },
      drafts,
    ),
    ...contentType('sign', { right: relation('oneToOne', 'right', { inversedBy: 'sign' }) }, { ...drafts, localized: true }),
    ...access(reading(), [
      { code: 'en', name: 'English', default: true },
      { code: 'de', name: 'German' },
    ]),
    ...contentType('poly', { name, subjects: { type: 'relation', relation: 'morphToMany' } }, { ...drafts, plural: 'polies' }),
    ...contentType('shelf', shelf, { plural: 'shelves' }),
    ...component('parts', 'frame', { name, picture: { type: 'media', multiple: false } }),
  }
  writable = await serveWritable(project, 'specification')
})
afterAll(() => writable.served.close())

interface Document {
  readonly documentId: string
  readonly [attribute: string]: unknown
}
const documentOf = (value: unknown) => (value as Document | null)?.documentId ?? null
const both = async (path: string, shown: (document: Document) => unknown) => {
  const read = async (status: string) => shown(await writable.read(`${path}${path.includes('?') ? '&' : '?'}status=${status}`))
  return [await read('draft'), await read('published')]
}
const isModified = async (plural: string, documentId: string) =>
  (await writable.read(`${plural}?filters[documentId]=${documentId}&publicationFilter=modified`)).length === 1

/** A left that a PUT has left in sync, and the row id of its draft. */
async function leftInSync(): Promise<{ id: string; draft: number; part: number }> {
  const { documentId: id } = await writable.make('lefts', { name: 'left', part: { name: 'frame' } })
  await writable.change(`lefts/${id}`, { name: 'in sync' })
  const { id: draft, part } = await writable.read(`lefts/${id}?status=draft&populate=part`)
  return { id, draft, part: part.id }
}

async function upload(fields: Readonly<Record<string, string>>): Promise<void> {
  const form = new FormData()
  form.set('files', new Blob(['a text'], { type: 'text/plain' }), 'a.txt')
  for (const [key, value] of Object.entries(fields)) form.set(key, value)
  const answer = await fetch(`${writable.served.origin}/api/upload`, {
    method: 'POST',
    headers: { authorization: 'Bearer full' },
    body: form,
  })
  expect(answer.status).toBe(201)
}

test.each(['the draft', 'a component of the draft'])(
  'a file that is uploaded to %s is in its published version too, and stays there',
  async (where) => {
    const { id, draft, part } = await leftInSync()
    const isDraft = where === 'the draft'
    await upload(
      isDraft
        ? { ref: 'api::left.left', refId: String(draft), field: 'cover' }
        : { ref: 'parts.frame', refId: String(part), field: 'picture' },
    )
    expect(await isModified('lefts', id)).toBe(false)
    const shown = (left: Document) => (isDraft ? left.cover : (left.part as Document).picture) !== null
    const shows = () => both(`lefts/${id}?populate[cover]=true&populate[part][populate]=picture`, shown)
    expect(await shows()).toEqual([true, true])
    await writable.change(`lefts/${id}`, { name: 'published' })
    expect(await shows()).toEqual([true, true])
    expect(await isModified('lefts', id)).toBe(false)
  },
)

test.each([
  ['lefts', 'shelves', 'many'],
  ['lit', 'lamp', 'one'],
])('a row of a type without drafts that names the draft row in %s is published by the next PUT', async (key, inverse, how) => {
  const { id, draft } = await leftInSync()
  const target = how === 'many' ? { connect: [{ id: draft }] } : { id: draft }
  const { documentId: shelf } = await writable.make('shelves', { name: 'shelf', [key]: target })
  const shown = (left: Document) => documentOf([left[inverse]].flat()[0])
  await writable.change(`lefts/${id}`, { name: 'published' })
  expect(await both(`lefts/${id}?populate=${inverse}`, shown)).toEqual([shelf, shelf])
  expect(await isModified('lefts', id)).toBe(false)
})

rule('writing.26', 'the polymorphic list of a document keeps its order when those that point at it are published', async () => {
  const polys: string[] = []
  for (const one of ['a', 'b', 'c', 'd']) polys.push((await writable.make('polies', { name: one })).documentId)
  const { documentId: left } = await writable.make('lefts', { name: 'left', polys })
  const order = () => both(`lefts/${left}?populate=polys`, (document) => (document.polys as Document[]).map(documentOf))
  expect(await order()).toEqual([polys, polys])
  await writable.send('POST', `polies/${polys[3]}/actions/unpublish`)
  await writable.change(`polies/${polys[3]}`, { name: 'again' })
  expect(await order()).toEqual([polys, polys])
  await writable.change(`polies/${polys[2]}?status=draft`, { name: 'drafted' })
  await writable.change(`polies/${polys[2]}`, { name: 'published' })
  expect(await order()).toEqual([polys, polys])
  const [a, b, c, d] = polys
  await writable.change(`lefts/${left}`, { polys: { connect: [{ documentId: d, position: { start: true } }] } })
  expect(await order()).toEqual([
    [d, a, b, c],
    [d, a, b, c],
  ])
  for (const each of polys) await writable.change(`polies/${each}`, { name: 'once more' })
  expect(await order()).toEqual([
    [d, a, b, c],
    [d, a, b, c],
  ])
})

rule('relations.11', 'a target of one owner that several waited for has the last of them', async () => {
  const { documentId: right } = await writable.make('rights?status=draft', { name: 'right' })
  const { documentId: a } = await writable.make('lefts', { name: 'a', one: right })
  const { documentId: b } = await writable.make('lefts', { name: 'b', one: right })
  const owners = () => Promise.all([a, b].map(async (each) => documentOf((await writable.read(`lefts/${each}?populate=one`)).one)))
  await writable.change(`rights/${right}`, { name: 'published' })
  expect(await owners()).toEqual([null, right])
  expect(documentOf((await writable.read(`rights/${right}?populate=back`)).back)).toBe(b)
  await writable.send('POST', `rights/${right}/actions/unpublish`)
  await writable.change(`lefts/${a}`, { one: right })
  await writable.send('POST', `rights/${right}/actions/publish`)
  expect(await owners()).toEqual([right, null])
})

rule('relations.11', 'a target of one owner that waits for it in several locales gets all of them', async () => {
  const { documentId: right } = await writable.make('rights?status=draft', { name: 'right' })
  const { documentId: sign } = await writable.make('signs', { right })
  await writable.change(`signs/${sign}?locale=de`, { right })
  await writable.change(`rights/${right}`, { name: 'published' })
  for (const locale of ['en', 'de'])
    expect(await both(`signs/${sign}?populate=right&locale=${locale}`, (document) => documentOf(document.right))).toEqual([right, right])
  expect(await both(`rights/${right}?populate=sign`, (document) => documentOf(document.sign))).toEqual([sign, sign])
})
