// Relations that are columns of their table (`useJoinTable: false`): both versions of a document show them, each the fitting version.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { access, component, contentType, reading } from './library.js'
import { type Document, serveWritable, type WritableProject } from './writable-project.js'

const name = { type: 'string' }
const inColumn = (kind: string, target: string, more: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  useJoinTable: false,
  ...more,
})
const columns = {
  writer: inColumn('oneToOne', 'writer'),
  topic: inColumn('manyToOne', 'topic', { inversedBy: 'cols' }),
  place: inColumn('manyToOne', 'place'),
}
const part = { type: 'component', component: 'parts.part' }
const project = {
  ...contentType('writer', { name }),
  ...contentType(
    'topic',
    { name, cols: { type: 'relation', relation: 'oneToMany', target: 'api::col.col', mappedBy: 'topic' } },
    { draftAndPublish: true },
  ),
  ...contentType('place', { name }, { draftAndPublish: true, localized: true }),
  ...contentType('col', { name, ...columns, boss: inColumn('manyToOne', 'col'), part }, { draftAndPublish: true }),
  ...contentType('note', { name, ...columns, topic: inColumn('manyToOne', 'topic'), part }),
  ...contentType(
    'sheet',
    { name: { ...name, pluginOptions: { i18n: { localized: true } } }, ...columns, topic: inColumn('manyToOne', 'topic'), part },
    { draftAndPublish: true, localized: true },
  ),
  ...component('parts', 'part', { label: name, ...columns, topic: inColumn('manyToOne', 'topic') }),
  ...access(reading(), [
    { code: 'en', name: 'English', default: true },
    { code: 'de', name: 'German' },
  ]),
}
const populated = ['populate=writer,topic,place,part.writer,part.topic,part.place'].join('&')

describe.each(['specification', 'strapi'] as const)('contract %s', (contract) => {
  let writable: WritableProject
  let known: Record<'writer' | 'other' | 'topic' | 'place', string>
  beforeAll(async () => {
    writable = await serveWritable(project, contract)
    const make = async (path: string) => (await writable.make(path, { name: path })).documentId as string
    known = { writer: await make('writers'), other: await make('writers'), topic: await make('topics'), place: await make('places') }
  })
  afterAll(() => writable.served.close())

  const ids = (one: Document) => ['writer', 'topic', 'place'].map((key) => one[key]?.documentId ?? null)
  const shown = async (path: string, query = '') => {
    const read = async (status: string) => {
      const one = await writable.read(`${path}?${populated}&status=${status}${query}`)
      return [...ids(one), ...(one.part === null ? [] : ids(one.part))]
    }
    return { draft: await read('draft'), published: await read('published') }
  }
  const same = (list: readonly (string | null)[]) => ({ draft: list, published: list })
  const links = () => ({ writer: known.writer, topic: known.topic, place: known.place })
  const all = () => [known.writer, known.topic, known.place, known.writer, known.topic, known.place]

  rule('relations.22', 'a relation in a column is in the draft and in the published version, and stays over other writes', async () => {
    for (const plural of ['cols', 'notes', 'sheets']) {
      const path = `${plural}/${(await writable.make(plural, { name: 'a', ...links(), part: links() })).documentId}`
      expect(await shown(path), plural).toEqual(same(all()))
      await writable.change(path, { name: 'b' })
      expect(await shown(path), plural).toEqual(same(all()))
      await writable.change(path, { writer: known.other, topic: { disconnect: [known.topic] }, place: { disconnect: [known.place] } })
      const changed = [known.other, null, null, ...all().slice(3)]
      expect(await shown(path), plural).toEqual(same(changed))
      await writable.change(path, {
        writer: { disconnect: [known.writer] },
        topic: { connect: [known.topic] },
        place: { set: [known.place] },
      })
      expect(await shown(path), plural).toEqual(same([known.other, ...all().slice(1)]))
      await writable.change(path, { writer: null, topic: [], part: null })
      expect(await shown(path), plural).toEqual(same([null, null, known.place]))
    }
  })

  rule('relations.22', 'a draft alone has its own, publishing and discarding move it', async () => {
    const path = `cols/${(await writable.make('cols', { name: 'a', ...links() })).documentId}`
    await writable.change(`${path}?status=draft`, { writer: known.other, topic: null })
    expect(await shown(path)).toEqual({ draft: [known.other, null, known.place], published: all().slice(0, 3) })
    await writable.send('POST', `${path}/actions/discard`)
    expect(await shown(path)).toEqual(same(all().slice(0, 3)))
    await writable.change(`${path}?status=draft`, { writer: known.other })
    await writable.change(path, { name: 'published with all that the draft has' })
    expect(await shown(path)).toEqual(same([known.other, known.topic, known.place]))
    await writable.change(`${path}?status=draft`, { writer: known.writer })
    await writable.send('POST', `${path}/actions/publish`)
    expect(await shown(path)).toEqual(same(all().slice(0, 3)))
    await writable.send('POST', `${path}/actions/unpublish`)
    await writable.send('POST', `${path}/actions/publish`)
    expect(await shown(path)).toEqual(same(all().slice(0, 3)))
  })

  rule('relations.22', 'a target that is not published is shown once it is', async () => {
    const { documentId: topic } = await writable.make('topics?status=draft', { name: 'later' })
    for (const plural of ['cols', 'notes']) {
      const path = `${plural}/${(await writable.make(plural, { name: 'a', topic, part: { topic } })).documentId}`
      const waits = { draft: [null, topic, null, null, topic, null], published: [null, null, null, null, null, null] }
      expect(await shown(path), plural).toEqual(waits)
      await writable.send('POST', `topics/${topic}/actions/publish`)
      expect(await shown(path), plural).toEqual(same(waits.draft))
      await writable.send('POST', `topics/${topic}/actions/unpublish`)
      expect(await shown(path), plural).toEqual(waits)
      const plain = { filters: `${plural}?filters[topic][documentId]=${topic}&status=draft` }
      expect(await writable.read(plain.filters)).toHaveLength(1)
    }
  })

  test('a document that names another of its type, and the other side', async () => {
    const { documentId: boss } = await writable.make('cols', { name: 'boss' })
    const { documentId } = await writable.make('cols', { name: 'a', boss, topic: known.topic })
    for (const status of ['draft', 'published']) {
      expect((await writable.read(`cols/${documentId}?populate=boss&status=${status}`)).boss.documentId).toBe(boss)
      const { cols } = await writable.read(`topics/${known.topic}?populate=cols&status=${status}`)
      expect(cols.map((each: Document) => each.documentId)).toContain(documentId)
    }
    expect(await writable.read(`cols?filters[boss][name]=boss&sort=boss.name&fields=name`)).toHaveLength(1)
    const { documentId: topic } = await writable.make('topics', { name: 'with columns', cols: [documentId] })
    await writable.send('POST', `cols/${documentId}/actions/publish`)
    for (const status of ['draft', 'published'])
      expect((await writable.read(`topics/${topic}?populate=cols&status=${status}`)).cols).toMatchObject([{ documentId }])
  })

  rule('relations.22', 'a new locale has its own, and what components of all locales name is in the locale', async () => {
    const { documentId } = await writable.make('sheets', { name: 'English', ...links(), part: links() })
    const path = `sheets/${documentId}`
    await writable.change(`${path}?locale=de`, { name: 'Deutsch' })
    expect(await shown(path)).toEqual(same(all()))
    const german = [null, null, null, known.writer, known.topic, null]
    expect(await shown(path, '&locale=de')).toEqual(same(german))
    await writable.change(`${path}?locale=de`, { name: 'Deutsch 2', part: { topic: known.topic, writer: known.other } })
    expect((await shown(path)).published).toEqual([...all().slice(0, 3), known.other, known.topic, known.place])
  })

  test('existing rows keep their targets', async () => {
    const { documentId } = await writable.make('cols', { name: 'a' })
    const [row] = await writable.served.sql('select id from topics where document_id = ? and published_at is not null', known.topic)
    await writable.served.sql(
      'update cols set topic_id = ? where document_id = ? and published_at is not null',
      row!.id as number,
      documentId,
    )
    const [draft] = await writable.served.sql('select id from topics where document_id = ? and published_at is null', known.topic)
    await writable.served.sql(
      'update cols set topic_id = ? where document_id = ? and published_at is null',
      draft!.id as number,
      documentId,
    )
    const path = `cols/${documentId}`
    expect(await shown(path)).toEqual(same([null, known.topic, null]))
    await writable.change(path, { name: 'b' })
    await writable.send('POST', `topics/${known.topic}/actions/unpublish`)
    await writable.send('POST', `topics/${known.topic}/actions/publish`)
    expect(await shown(path)).toEqual(same([null, known.topic, null]))
  })
})
