// Rows of types without locales that have one in their column, and documents with several rows of one version: other programs, concurrent
// processes and earlier releases leave both.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { removeProject, type Served, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { addGerman, addToken, insert, secrets, sending } from './callers.js'
import { component, contentType } from './library.js'
import { signInClient } from './newsroom.js'

const to = (relation: string, type: string, more: object = {}) => ({ type: 'relation', relation, target: `api::${type}.${type}`, ...more })

const project = {
  ...component('part', 'line', { text: { type: 'string' }, tag: to('oneToOne', 'tag') }),
  ...contentType('tag', {
    name: { type: 'string', unique: true },
    weight: { type: 'integer' },
    posts: to('manyToMany', 'post', { mappedBy: 'tags' }),
  }),
  ...contentType('need', { code: { type: 'string' }, req: { type: 'string', required: true } }),
  ...contentType('post', { title: { type: 'string' }, tags: to('manyToMany', 'tag', { inversedBy: 'posts' }) }),
  ...contentType('setting', { name: { type: 'string' } }, { kind: 'singleType' }),
  ...contentType('topic', { name: { type: 'string' } }, { draftAndPublish: true }),
  ...contentType(
    'article',
    {
      title: { type: 'string' },
      rank: { type: 'integer' },
      topics: to('oneToMany', 'topic'),
      tags: to('oneToMany', 'tag'),
      lines: { type: 'component', component: 'part.line', repeatable: true },
    },
    { draftAndPublish: true },
  ),
  ...contentType('crate', {
    name: { type: 'string' },
    cover: { type: 'media' },
    gallery: { type: 'media', multiple: true },
    tag: to('oneToOne', 'tag', { useJoinTable: false }),
    one: { type: 'relation', relation: 'morphToOne' },
    things: { type: 'relation', relation: 'morphToMany' },
    lid: to('oneToOne', 'need'),
  }),
  ...contentType(
    'page',
    { title: { type: 'string', pluginOptions: { i18n: { localized: true } } } },
    { draftAndPublish: true, localized: true },
  ),
}

describe.each(['specification', 'strapi'] as const)('contract %s', (contract) => {
  let served: Served
  beforeAll(async () => {
    served = await serveProject(project, { environment: secrets, config: { api: { rest: { contract } } } })
    await addToken(served, 'everything', { type: 'full-access' })
    await addGerman(served)
  })
  afterAll(() => served?.close())

  const send = sending(() => served, 'everything')
  const make = async (plural: string, data: object): Promise<string> => (await send('POST', plural, data)).documentId
  const statusOf = async (path: string) => (await served.request(`/api/${path}`, { token: 'everything' })).status
  const rowsOf = (table: string, id: string) => served.sql(`SELECT * FROM ${table} WHERE document_id = ? ORDER BY id`, id)
  /** Another row of the same version, changed `later` seconds after all others. */
  async function again(table: string, row: Record<string, unknown>, changes: object, later: number): Promise<number> {
    const { id: _, ...values } = row
    return insert(served, table, { ...values, ...changes, updated_at: Number(row.updated_at) + later * 1_000 } as never)
  }

  rule('writing.29', 'a locale in the column of a type without locales counts for nothing', async () => {
    for (const locale of ['fr', 'en']) {
      const tag = await make('tags', { name: `a ${locale}`, weight: 1 })
      await served.sql('UPDATE tags SET locale = ?', locale)
      expect(await send('PUT', `tags/${tag}`, { weight: 2 })).toMatchObject({ name: `a ${locale}`, weight: 2 })
      expect(await send('PUT', `tags/${tag}`, { name: `b ${locale}` })).toMatchObject({ name: `b ${locale}`, weight: 2 })
      expect((await rowsOf('tags', tag)).map((row) => row.locale)).toEqual([locale])
      expect(await send('GET', `tags?filters[documentId]=${tag}`)).toHaveLength(1)
      const post = await send('POST', 'posts?populate=tags', { title: 'p', tags: [tag] })
      expect(post.tags.map((one: { documentId: string }) => one.documentId)).toEqual([tag])
      await send('DELETE', `tags/${tag}`)
      expect(await rowsOf('tags', tag)).toEqual([])
    }
    const need = await make('needs', { code: 'a', req: 'r' })
    await served.sql("UPDATE needs SET locale = 'fr'")
    expect(await send('PUT', `needs/${need}`, { code: 'b' })).toMatchObject({ code: 'b', req: 'r' })
    await send('PUT', 'setting', { name: 'one' })
    await served.sql("UPDATE settings SET locale = 'fr'")
    expect(await send('PUT', 'setting', { name: 'two' })).toMatchObject({ name: 'two' })
    expect(await served.sql('SELECT name FROM settings')).toEqual([{ name: 'two' }])
  })

  rule('writing.29', 'drafts and published versions belong together regardless of the locales of their rows', async () => {
    for (const [draft, published] of [
      ['fr', 'fr'],
      ['fr', null],
      [null, 'fr'],
      ['en', 'fr'],
    ]) {
      const topic = await make('topics?status=draft', { name: 't' })
      const id = await make('articles', { title: 'first', topics: [topic], lines: [{ text: 'x' }] })
      await served.sql('UPDATE topics SET locale = ? WHERE document_id = ? AND published_at IS NULL', draft!, topic)
      await served.sql('UPDATE articles SET locale = ? WHERE document_id = ? AND published_at IS NULL', draft!, id)
      await served.sql('UPDATE articles SET locale = ? WHERE document_id = ? AND published_at IS NOT NULL', published!, id)
      await served.sql('UPDATE octavo_pending_links SET target_locale = ? WHERE target_document = ?', published!, topic)
      const shown = async (status: string) => {
        const { title, topics } = await send('GET', `articles/${id}?populate=topics&status=${status}`)
        return [title, topics.map((one: { documentId: string }) => one.documentId)]
      }
      expect(await send('PUT', `articles/${id}`, { title: 'second' })).toMatchObject({ title: 'second' })
      expect([await shown('draft'), await shown('published')]).toEqual([
        ['second', [topic]],
        ['second', []],
      ])
      await send('POST', `topics/${topic}/actions/publish`)
      await served.sql('UPDATE topics SET locale = ? WHERE document_id = ? AND published_at IS NOT NULL', published!, topic)
      expect(await shown('published')).toEqual(['second', [topic]])
      await send('PUT', `articles/${id}?status=draft`, { title: 'third' })
      expect([await shown('draft'), await shown('published')]).toEqual([
        ['third', [topic]],
        ['second', [topic]],
      ])
      expect(await send('POST', `articles/${id}/actions/discard`)).toMatchObject({ title: 'second' })
      await send('PUT', `articles/${id}?status=draft`, { title: 'fourth' })
      expect(await send('POST', `articles/${id}/actions/publish`)).toMatchObject({ title: 'fourth' })
      expect(await shown('published')).toEqual(['fourth', [topic]])
      await send('POST', `topics/${topic}/actions/unpublish`)
      expect(await shown('published')).toEqual(['fourth', []])
      await send('POST', `topics/${topic}/actions/publish`)
      expect(await shown('published')).toEqual(['fourth', [topic]])
      expect(await rowsOf('articles', id)).toHaveLength(2)
      await send('POST', `articles/${id}/actions/unpublish`)
      expect(await statusOf(`articles/${id}`)).toBe(404)
      await send('DELETE', `articles/${id}`)
      expect(await rowsOf('articles', id)).toEqual([])
    }
  })

  rule('writing.29', 'administrators work with such documents as with others', async () => {
    const ada = await signInClient(served, `ada.${contract}@rows.example`)
    const type = 'api::article.article'
    const id = await make('articles?status=draft', { title: 'first' })
    await served.sql("UPDATE articles SET locale = 'fr' WHERE document_id = ?", id)
    const path = `/content/${type}/${id}`
    const tag = async () => ({ 'if-match': (await ada.get(path)).headers.get('etag') ?? '' })
    const done = async (answer: Promise<TestResponse>) => {
      const { status, body, text } = await answer
      expect(status, text).toBeLessThan(300)
      return body.data
    }
    await done(ada.send('PATCH', path, { changes: { title: 'second' } }, await tag()))
    expect(await done(ada.get(`${path}/history`))).toMatchObject([{ status: 'draft' }])
    const bulk = async (action: string) => {
      const { results } = await done(ada.send('POST', '/bulk', { action, type, documents: [id] }))
      expect(results).toMatchObject([{ error: null }])
    }
    await bulk('publish')
    await served.sql('UPDATE articles SET locale = NULL WHERE document_id = ? AND published_at IS NOT NULL', id)
    expect((await done(ada.get(path))).locales).toMatchObject([{ locale: null, state: 'published' }])
    await done(ada.send('PATCH', path, { changes: { title: 'third' } }, await tag()))
    expect((await done(ada.get(path))).locales).toMatchObject([{ locale: null, state: 'changed' }])
    await done(ada.send('POST', `${path}/discard`, undefined, await tag()))
    await done(ada.send('POST', `${path}/publish`, undefined, await tag()))
    expect(await send('GET', `articles/${id}`)).toMatchObject({ title: 'second' })
    await bulk('unpublish')
    expect(await rowsOf('articles', id)).toHaveLength(1)
    await bulk('delete')
    expect(await rowsOf('articles', id)).toEqual([])
  })

  rule('writing.30', 'a write makes several rows of a version one, and loses nothing that is newer or linked', async () => {
    const tag = await make('tags', { name: `doubled ${contract}`, weight: 1 })
    const [row] = await rowsOf('tags', tag)
    const newer = await again('tags', row!, { name: null, weight: 2, locale: 'fr' }, 60)
    const posts = await Promise.all(['one', 'two'].map((title) => make('posts', { title })))
    for (const [index, owner] of [row!.id, newer].entries()) {
      const [post] = await rowsOf('posts', posts[index]!)
      await insert(served, 'posts_tags_lnk', { post_id: post!.id, tag_id: owner })
    }
    expect(await send('PUT', `tags/${tag}?populate=posts`, {})).toMatchObject({
      ...{ id: row!.id, name: `doubled ${contract}`, weight: 2 },
      posts: expect.arrayContaining(posts.map((documentId) => expect.objectContaining({ documentId }))),
    })
    expect(await rowsOf('tags', tag)).toHaveLength(1)

    const id = await make('articles', { title: 'first', rank: 1, tags: [tag], lines: [{ text: 'x', tag }] })
    const [draft, published] = await rowsOf('articles', id)
    const draftToo = await again('articles', draft!, { title: 'newest', rank: null, locale: 'fr' }, 60)
    await again('articles', published!, { title: 'stale', locale: 'fr' }, -60)
    const line = await insert(served, 'components_part_lines', { text: 'y' })
    await insert(served, 'articles_cmps', { entity_id: draftToo, cmp_id: line, component_type: 'part.line', field: 'lines', order: 1 })
    expect(await send('PUT', `articles/${id}?populate=*`, { rank: 5 })).toMatchObject({
      ...{ title: 'newest', rank: 5, lines: [{ text: 'y' }], tags: [{ documentId: tag }] },
    })
    expect((await rowsOf('articles', id)).map((one) => [one.id, one.title, one.rank])).toEqual([
      [draft!.id, 'newest', 5],
      [published!.id, 'newest', 5],
    ])
    expect(await served.sql("SELECT count(*) AS rest FROM components_part_lines WHERE text = 'x'")).toMatchObject([{ rest: 0 }])
  })

  rule('writing.30', 'links and files of every kind lead to and from the row that stays', async () => {
    const [tag, other] = [await make('tags', { name: `linked ${contract}` }), await make('tags', { name: `also linked ${contract}` })]
    const [need, newer] = [await make('needs', { code: 'old', req: 'r' }), await make('needs', { code: 'new', req: 'r' })]
    const of = (documentId: string) => ({ __type: 'api::tag.tag', documentId })
    const id = await make('crates', { name: 'first', tag, things: [of(tag)], lid: need })
    const [row] = await rowsOf('crates', id)
    const twin = await make('crates', { name: 'twin', things: [of(other), of(tag)], lid: newer })
    const [second] = await rowsOf('crates', twin)
    const files: number[] = []
    for (const name of ['a', 'b', 'c'])
      files.push(
        await insert(served, 'files', {
          document_id: name.repeat(24),
          name,
          hash: name,
          url: `/${name}`,
          provider: 'local',
          mime: 'text/plain',
        }),
      )
    for (const [owner, field, file] of [
      [row!.id, 'cover', files[0]],
      [second!.id, 'cover', files[1]],
      [row!.id, 'gallery', files[0]],
      [row!.id, 'gallery', files[2]],
      [second!.id, 'gallery', files[1]],
      [second!.id, 'gallery', files[2]],
    ] as const)
      await insert(served, 'files_related_mph', {
        file_id: file!,
        related_id: owner,
        related_type: 'api::crate.crate',
        field,
        order: file!,
      })
    await served.sql('UPDATE crates SET document_id = ? WHERE id = ?', id, second!.id)
    await again('tags', (await rowsOf('tags', tag))[0]!, { weight: 7 }, 60)
    const [, copy] = await rowsOf('tags', tag)
    await served.sql(
      'UPDATE crates SET tag_id = ?, target_id = ?, target_type = ? WHERE id = ?',
      copy!.id,
      copy!.id,
      'api::tag.tag',
      row!.id,
    )
    await served.sql('UPDATE crates_things_mph SET things_id = ? WHERE crate_id = ? AND things_id <> ?', copy!.id, row!.id, copy!.id)
    await send('PUT', `tags/${tag}`, {})
    await send('PUT', `crates/${id}`, {})
    const shown = await send('GET', `crates/${id}?populate=*`)
    const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
    expect([shown.id, shown.name, shown.tag.weight, shown.cover.name]).toEqual([row!.id, 'twin', 7, 'b'])
    expect([namesOf(shown.gallery), shown.lid.code]).toEqual([['b', 'c', 'a'], 'new'])
    expect(namesOf(shown.things)).toEqual([`also linked ${contract}`, `linked ${contract}`])
    const [[crate, ...crates], [kept, ...tags]] = [await rowsOf('crates', id), await rowsOf('tags', tag)]
    expect([crates, tags, crate!.target_id]).toEqual([[], [], kept!.id])
  })

  rule('writing.30', 'publishing, changing and unpublishing leave no other published row of the locale', async () => {
    for (const [plural, query] of [
      ['articles', ''],
      ['pages', '?locale=de'],
    ] as const) {
      const act = (id: string, name: string) => send('POST', `${plural}/${id}/actions/${name}${query}`)
      const id = await make(plural, { title: 'en' })
      await send('PUT', `${plural}/${id}${query}`, { title: 'first' })
      const isMeant = plural === 'pages' ? "locale = 'de'" : '1 = 1'
      const live = () => served.sql(`SELECT * FROM ${plural} WHERE document_id = ? AND published_at IS NOT NULL AND ${isMeant}`, id)
      const double = async () => again(plural, (await live())[0]!, { title: 'stale' }, -60)
      await double()
      await send('PUT', `${plural}/${id}${query}`, { title: 'second' })
      expect((await live()).map((row) => row.title)).toEqual(['second'])
      await double()
      await act(id, 'publish')
      expect((await live()).map((row) => row.title)).toEqual(['second'])
      await double()
      await double()
      await act(id, 'unpublish')
      expect(await live()).toEqual([])
      if (plural === 'pages') expect(await send('GET', `pages/${id}`)).toMatchObject({ title: 'en' })
    }
  })

  rule('writing.30', 'a write changes the row that reads show, and leaves rows of other locales and states', async () => {
    const past = Date.now() - 3_600_000
    const documentOf = async (...rows: readonly object[]): Promise<string> => {
      const id = await make('tags', { name: `apart ${contract} ${Math.random()}`, weight: 1 })
      const [row] = await rowsOf('tags', id)
      for (const [index, changes] of rows.entries())
        await again('tags', row!, { name: `${index} ${id}`, published_at: row!.published_at, ...changes }, 60 + index)
      await served.sql('DELETE FROM tags WHERE id = ?', row!.id as number)
      return id
    }
    const [draft, live] = [{ published_at: null }, { published_at: past }]
    const [en, de] = [{ locale: 'en' }, { locale: 'de' }]
    for (const [rows, copies] of [
      [[en, de], []],
      [[de, en, de, {}], [2]],
      [[{}, en, de], []],
      [[draft, live], []],
      [[live, draft, live], [2]],
      [[{ ...draft, ...en }, { ...live, ...de }, draft], [2]],
    ] as [object[], number[]][]) {
      const id = await documentOf(...rows)
      const before = await rowsOf('tags', id)
      const others = before.filter((_, index) => index > 0 && !copies.includes(index))
      for (const weight of [8, 9]) {
        const name = `${copies[0] ?? 0} ${id}`
        expect(await send('PUT', `tags/${id}`, { weight }), JSON.stringify(rows)).toMatchObject({ id: before[0]!.id, name, weight })
        expect(await send('GET', `tags/${id}`)).toMatchObject({ id: before[0]!.id, name, weight })
        const [first, ...rest] = await rowsOf('tags', id)
        expect([rest, first!.locale]).toEqual([others, before[0]!.locale])
        if (rest.some((row) => row.published_at !== null)) expect(first!.published_at === null).toBe(before[0]!.published_at === null)
      }
      await send('DELETE', `tags/${id}`)
      expect(await rowsOf('tags', id)).toEqual([])
    }
    const ada = await signInClient(served, `ada.${contract}@apart.example`)
    const id = await documentOf(live, draft)
    const path = `/content/api::tag.tag/${id}`
    const tag = { 'if-match': (await ada.get(path)).headers.get('etag') ?? '' }
    expect((await ada.send('PATCH', path, { changes: { weight: 3 } }, tag)).status).toBeLessThan(300)
    expect((await rowsOf('tags', id)).map(({ weight }) => weight)).toEqual([3, 1])
    await send('DELETE', `tags/${id}`)
  })

  rule('writing.30', 'drafts and published rows of several locales stay, and unpublishing leaves none that is published', async () => {
    const id = await make('articles', { title: 'english', rank: 1 })
    await served.sql("UPDATE articles SET locale = 'en' WHERE document_id = ?", id)
    for (const row of await rowsOf('articles', id)) await again('articles', row, { title: 'deutsch', locale: 'de' }, 60)
    const german = async () => (await rowsOf('articles', id)).filter((row) => row.locale === 'de')
    const before = await german()
    expect(await send('PUT', `articles/${id}`, { rank: 9 })).toMatchObject({ title: 'english', rank: 9 })
    await send('PUT', `articles/${id}?status=draft`, { title: 'draft' })
    for (const [status, title] of [
      ['draft', 'draft'],
      ['published', 'english'],
    ])
      expect(await send('GET', `articles/${id}?status=${status}`)).toMatchObject({ title, rank: 9 })
    await send('POST', `articles/${id}/actions/discard`)
    expect(await send('GET', `articles/${id}?status=draft`)).toMatchObject({ title: 'english', rank: 9 })
    expect(await german()).toEqual(before)
    await send('POST', `articles/${id}/actions/unpublish`)
    expect(await statusOf(`articles/${id}`)).toBe(404)
    expect(await german()).toEqual(before.filter((row) => row.published_at === null))
  })

  rule('writing.30', 'a link to a document with several rows of a version is one link, and goes as a whole', async () => {
    const topic = await make('topics', { name: 't' })
    for (const row of await rowsOf('topics', topic)) await again('topics', row, {}, 1)
    const id = await make('articles', { title: 'a', topics: [topic] })
    const links = async () => Number((await served.sql('SELECT count(*) AS total FROM articles_topics_lnk'))[0]!.total)
    const before = await links()
    for (const status of ['draft', 'published'])
      expect((await send('GET', `articles/${id}?populate=topics&status=${status}`)).topics).toHaveLength(1)
    const [draft] = await rowsOf('articles', id)
    await insert(served, 'articles_topics_lnk', { article_id: draft!.id, topic_id: (await rowsOf('topics', topic))[2]!.id })
    await send('PUT', `articles/${id}`, { topics: { disconnect: [topic] } })
    expect(await links()).toBe(before - 2)
  })

  rule('writing.30', 'octavo doctor names such documents, and its remedy makes their rows one', async () => {
    const tag = await make('tags', { name: `found ${contract}` })
    await again('tags', (await rowsOf('tags', tag))[0]!, { locale: 'fr', name: `newer ${contract}` }, 60)
    const page = await make('pages', { title: 'en' })
    await send('PUT', `pages/${page}?locale=de`, { title: 'de' })
    const [row] = (await rowsOf('pages', page)).filter((one) => one.locale === 'de' && one.published_at === null)
    await again('pages', row!, { title: 'newer' }, 60)
    const found = async () => {
      const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
      const env = { ...process.env, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
      const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env }).catch(
        (error: { readonly stdout: string }) => error,
      )
      const { checks } = JSON.parse(stdout) as { checks: { name: string; examples: string[]; remedy?: string }[] }
      return checks.find(({ name }) => name === 'a document has at most one draft and one published row per locale')!
    }
    const { examples, remedy } = await found()
    for (const name of [`api::tag.tag ${tag}: 2 rows with the same status`, `api::page.page ${page} (de): 2 rows with the same status`])
      expect(examples).toContain(name)
    for (const part of ['PUT {"data":{}}', 'differ in locale or state', 'switching localization (i18n) or draftAndPublish on'])
      expect(remedy).toContain(part)
    await send('PUT', `tags/${tag}?status=draft`, {})
    const apart = await make('tags', { name: `apart ${contract}` })
    await served.sql("UPDATE tags SET locale = 'en' WHERE document_id = ?", apart)
    await again('tags', (await rowsOf('tags', apart))[0]!, { locale: 'de', name: `getrennt ${contract}` }, 60)
    await send('PUT', `tags/${apart}`, {})
    expect((await found()).examples).toContain(`api::tag.tag ${apart}: 2 rows with the same status`)
    await send('DELETE', `tags/${apart}`)
    await send('PUT', `pages/${page}?status=draft&locale=de`, {})
    expect(await send('GET', `tags/${tag}`)).toMatchObject({ name: `newer ${contract}` })
    expect(await send('GET', `pages/${page}?locale=de&status=draft`)).toMatchObject({ title: 'newer' })
    expect(await send('GET', `pages/${page}?locale=de`)).toMatchObject({ title: 'de' })
    const { examples: rest } = await found()
    expect(rest.filter((example) => example.includes(tag) || example.includes(page))).toEqual([])
  })
})

rule('writing.30', 'rows that stay apart are shown again once the schema has locales and drafts', async () => {
  const data = { title: { type: 'string', pluginOptions: { i18n: { localized: true } } } }
  const served = await serveProject(contentType('note', data), { environment: secrets })
  const id = 'n'.repeat(24)
  const now = Date.now()
  for (const [title, locale, published, updated] of [
    ['draft', 'en', null, now + 1_000],
    ['live', 'en', now, now],
    ['entwurf', 'de', null, now + 1_000],
    ['öffentlich', 'de', now, now],
  ] as const)
    await insert(served, 'notes', { document_id: id, title, locale, published_at: published, created_at: now, updated_at: updated })
  await addToken(served, 'everything', { type: 'full-access' })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: { title: 'changed' } })
  const put = await served.request(`/api/notes/${id}`, { method: 'PUT', token: 'everything', headers, body })
  expect(put.body.data).toMatchObject({ title: 'changed' })
  await served.service.close()
  for (const [path, content] of Object.entries(contentType('note', data, { draftAndPublish: true, localized: true })))
    writeFileSync(join(served.folder, path), JSON.stringify(content))
  const again = await serveExisting(served, secrets)
  try {
    const shown = []
    for (const query of ['locale=en&status=draft', 'locale=en', 'locale=de&status=draft', 'locale=de'])
      shown.push((await again.request(`/api/notes/${id}?${query}`, { token: 'everything' })).body.data?.title)
    expect(shown).toEqual(['changed', 'live', 'entwurf', 'öffentlich'])
    expect(await again.sql('SELECT id FROM notes')).toHaveLength(4)
  } finally {
    await again.close()
    await removeProject(served.folder)
  }
})
