// `documents(uid)`: the API of scripts. One test is a separate script, compiled against the declarations of the build.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { grantsOf } from '../../src/foundation/grants.js'
import type { Document } from '../../src/foundation/public/documents.js'
import { createDatabase, isOnServer, nameDatabase, removeDatabase } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

const root = join(import.meta.dirname, '..', '..')
const token = goldenTokens().full!
const articles = 'api::article.article'
const tags = 'api::tag.tag'

describe('a script', () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-script-'))
  let database: Readonly<Record<string, string>> | null = null
  beforeAll(async () => {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(root, join(folder, 'node_modules', 'octavo'))
    cpSync(join(root, 'examples', 'magazine', 'src'), join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, '.env'), 'API_TOKEN_SALT=salt\nJWT_SECRET=secret\n')
    if (!isOnServer) return
    database = await createDatabase(false)
    nameDatabase(folder, database)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    if (database !== null) await removeDatabase(database)
  })

  const script = readFileSync(join(import.meta.dirname, 'script.txt'), 'utf8')

  function complaints(text: string): readonly string[] {
    const file = join(folder, 'script.mts')
    writeFileSync(file, text)
    const program = ts.createProgram([file], {
      ...{ target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
      ...{ strict: true, noEmit: true, types: ['node'], typeRoots: [join(root, 'node_modules', '@types')], lib: ['lib.es2023.d.ts'] },
      // Only Octavo's declarations are checked, not those of libraries.
      skipLibCheck: true,
    })
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.includes('/dist/') || fileName.endsWith('script.mts'))
    expect(own.length).toBeGreaterThan(3)
    expect(program.getOptionsDiagnostics()).toEqual([])
    return own.flatMap((source) =>
      ts.getPreEmitDiagnostics(program, source).map(({ start = 0, messageText }) => {
        const line = source.text.split('\n')[source.getLineAndCharacterOfPosition(start).line]!
        return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
      }),
    )
  }

  test('type-checks and works', () => {
    expect(complaints(script)).toEqual([])
    const file = join(folder, 'script.mjs')
    writeFileSync(
      file,
      ts.transpileModule(script, { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } }).outputText,
    )
    const text = execFileSync(process.execPath, [file, folder], { encoding: 'utf8' })
    expect(JSON.parse(text)).toEqual({ created: 'FROM A SCRIPT', changed: true, entries: 1, found: 1, count: 1, events: 0 })
  })

  test('that is wrong does not type-check', () => {
    const wrong = [
      ['limit: 5 })', "limit: 'many' })"],
      ["status: 'draft'", "status: 'secret'"],
      ['await articles.publish(', 'await articles.release('],
      ['hookTimeout: 1000', "hookTimeout: 'long'"],
      ['call.data = {', 'call.result = {'],
      ['heard.push(event.event)', 'heard.push(event.name)'],
      ['data: { title:', 'values: { title:'],
    ] as const
    for (const [right] of wrong) expect(script).toContain(right)
    const found = complaints(wrong.reduce((text, [right, instead]) => text.replace(right, instead), script))
    expect(wrong.map(([, instead]) => instead).filter((instead) => !found.some((line) => line.includes(instead)))).toEqual([])
  })

  test('the package names its declarations', () => {
    const { types } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(readFileSync(join(root, types), 'utf8')).toContain('createService')
  })
})

describe('documents(uid)', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden()
  })
  afterAll(() => served.close())
  const documents = (uid: string) => served.service.documents(uid)
  const get = async (path: string) => (await served.request(path, { token })).body

  test('reads drafts by default, and creates them', async () => {
    const { documentId } = await documents(tags).create({ data: { name: 'only a draft' } })
    expect((await served.request(`/api/tags/${documentId}`, { token })).status).toBe(404)
    expect((await get(`/api/tags/${documentId}?status=draft`)).data.name).toBe('only a draft')
    expect(await documents(tags).findOne({ documentId })).toMatchObject({ name: 'only a draft' })
    expect(await documents(tags).findOne({ documentId, status: 'published' })).toBeNull()
  })

  test('finds what the REST API finds, with the same filters, sort keys and populate', async () => {
    const query = 'filters[rank][$gt]=3&filters[author][active][$eq]=true&sort=title:desc&fields=title&populate[author][fields]=name'
    const { data } = await get(`/api/articles?${query}&pagination[pageSize]=10`)
    const found = await documents(articles).findMany({
      filters: { rank: { $gt: 3 }, author: { active: { $eq: true } } },
      ...{ sort: { title: 'desc' }, fields: ['title'], populate: { author: { fields: 'name' } }, limit: 10, status: 'published' },
    })
    expect(found).toEqual(data)
    expect(found).toHaveLength(10)
  })

  test('pages: start and limit, pages from 1, or all', async () => {
    const all = await documents(articles).findMany({ sort: 'id' })
    expect(all).toHaveLength(await documents(articles).count())
    expect(all.length).toBeGreaterThan(200)
    const ids = (found: readonly Document[]) => found.map(({ id }) => id)
    expect(ids(await documents(articles).findMany({ sort: 'id', start: 3, limit: 4 }))).toEqual(ids(all.slice(3, 7)))
    expect(ids(await documents(articles).findMany({ sort: 'id', pagination: { page: 3, pageSize: 7 } }))).toEqual(ids(all.slice(14, 21)))
    expect(ids(await documents(articles).findMany({ sort: 'id', pagination: { start: 5, limit: 2 } }))).toEqual(ids(all.slice(5, 7)))
    expect(await documents(articles).findFirst({ sort: 'id' })).toEqual(all[0])
    for (const wrong of [{ start: -1 }, { limit: 0.5 }, { pagination: { page: 0 } }])
      await expect(documents(articles).findMany(wrong)).rejects.toMatchObject({ status: 400 })
  })

  test('dates, large numbers and long lists in data and filters', async () => {
    const starts = new Date('2031-02-03T04:05:06.789Z')
    const made = await documents(articles).create({ data: { title: 'Of a later day', starts, views: 9007199254740993n, rank: undefined } })
    expect(made).toMatchObject({ starts: '2031-02-03T04:05:06.789Z', rank: null })
    expect(await documents(articles).findMany({ filters: { starts }, fields: ['title'] })).toMatchObject([{ title: 'Of a later day' }])
    const $in = Array.from({ length: 500 }, (_, index) => 100_000 + index)
    expect(await documents(articles).findMany({ filters: { id: { $in: [...$in, made.id] } } })).toMatchObject([{ id: made.id }])
  })

  test('publish, unpublish, discardDraft and delete in all locales at once', async () => {
    const { documentId } = await documents(articles).create({ data: { title: 'English' } })
    await documents(articles).update({ documentId, locale: 'fr', data: { title: 'Français' } })
    const titles = ({ entries }: { entries: readonly Document[] }) => entries.map(({ locale, title }) => `${locale} ${title}`)
    expect(titles(await documents(articles).publish({ documentId, locale: '*' }))).toEqual(['en English', 'fr Français'])
    expect((await get(`/api/articles/${documentId}?locale=fr`)).data.title).toBe('Français')
    for (const locale of ['en', 'fr']) await documents(articles).update({ documentId, locale, data: { title: 'Changed' } })
    expect(titles(await documents(articles).discardDraft({ documentId, locale: '*' }))).toEqual(['en English', 'fr Français'])
    expect(titles(await documents(articles).unpublish({ documentId, locale: 'fr' }))).toEqual(['fr Français'])
    expect(titles(await documents(articles).unpublish({ documentId, locale: '*', fields: ['title', 'locale'] }))).toEqual(['en English'])
    expect(titles(await documents(articles).delete({ documentId, locale: '*' }))).toEqual(['en English', 'fr Français'])
    expect(await documents(articles).findMany({ filters: { documentId }, locale: '*' })).toEqual([])
  })

  test('entries show the selected values, also of deleted versions', async () => {
    const { documentId } = await documents(tags).create({ data: { name: 'gone soon' }, status: 'published' })
    const article = await documents(articles).create({ data: { title: 'Tagged', tags: [documentId] } })
    const { entries } = await documents(tags).delete({ documentId, fields: ['name'], populate: { articles: { fields: ['title'] } } })
    expect(entries).toHaveLength(2)
    expect(entries[0]).toEqual({
      ...{ id: expect.any(Number), documentId, name: 'gone soon' },
      articles: [{ id: article.id, documentId: article.documentId, title: 'Tagged' }],
    })
  })

  test('the document of a single type needs no documentId', async () => {
    const setting = documents('api::setting.setting')
    expect(await setting.update({ data: { siteName: 'Scripted' } })).toMatchObject({ siteName: 'Scripted' })
    expect(await setting.findFirst()).toMatchObject({ siteName: 'Scripted' })
    expect((await setting.delete()).entries).toMatchObject([{ siteName: 'Scripted' }])
    expect(await setting.findFirst()).toBeNull()
    expect(await setting.update({ data: { siteName: 'Anew' } })).toMatchObject({ siteName: 'Anew' })
  })

  test('errors are those of the REST API', async () => {
    const wrong = documents(tags).create({ data: { name: 5, color: 'red' }, status: 'published' })
    await expect(wrong).rejects.toMatchObject({ name: 'ValidationError', status: 400, details: { errors: [{ path: ['name'] }] } })
    await expect(documents(tags).findMany({ filters: { nothing: 1 } })).rejects.toMatchObject({
      name: 'ValidationError',
      message: 'Invalid key nothing',
    })
    await expect(documents(tags).findMany({ populate: ['nothing'] })).rejects.toMatchObject({ status: 400 })
    await expect(documents(tags).create({ data: { name: 'x', nothing: 1 } })).rejects.toMatchObject({ message: 'Invalid key nothing' })
    await expect(documents('api::city.city').publish({ documentId: 'x' })).rejects.toMatchObject({
      message: 'api::city.city has no drafts',
    })
    await expect(documents(articles).update({ documentId: 'x', locale: '*', data: {} })).rejects.toMatchObject({ status: 400 })
    await expect(documents(tags).create({} as never)).rejects.toMatchObject({ message: 'Missing "data" payload in the request body' })
  })

  test('an undefined documentId is not ignored: nothing is written without one', async () => {
    const before = await documents(tags).findMany({ sort: 'id' })
    for (const documentId of [undefined, null, '', 5, {}]) {
      for (const method of ['update', 'delete', 'publish', 'unpublish', 'discardDraft', 'findOne'] as const) {
        const forgotten = { documentId, ...(method === 'update' && { data: { weight: 99 } }) } as never
        await expect((documents(tags)[method] as (given: never) => Promise<unknown>)(forgotten)).rejects.toThrow('needs a documentId')
      }
    }
    expect(await documents(tags).findMany({ sort: 'id' })).toEqual(before)
  })

  test('parameters that there are not are refused by name, and nothing is done', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: what a script without types could say
    const loose = served.service.documents(articles) as any
    const before = await loose.count()
    const wrong: readonly (readonly [method: string, given: unknown, named: RegExp])[] = [
      ['findMany', { limt: 5 }, /findMany has no parameter limt: there are .*limit/],
      ['findMany', { where: {} }, /no parameter where: there are .*filters/],
      ['findFirst', { where: { title: 'x' } }, /findFirst has no parameter where/],
      ['findFirst', { limit: 1 }, /no parameter limit/],
      ['findOne', { documentId: 'x', filters: {} }, /no parameter filters/],
      ['findOne', 'x', /takes an object of parameters: there are documentId/],
      ['count', { sort: 'title' }, /no parameter sort/],
      ['create', undefined, /create takes an object of parameters: there are data/],
      ['create', { title: 'x' }, /no parameter title: there are data/],
      ['create', { data: { title: 'x' }, documentId: 'x' }, /no parameter documentId/],
      ['update', undefined, /update takes an object/],
      ['update', { documentID: 'x', data: {} }, /no parameter documentID/],
      ['delete', { filters: {} }, /no parameter filters/],
      ['delete', 'x', /takes an object/],
      ['publish', { status: 'draft' }, /no parameter status/],
      ['unpublish', [], /takes an object/],
      ['discardDraft', { id: 1 }, /no parameter id/],
    ]
    for (const [method, given, named] of wrong) {
      const refusal = await loose[method](given).catch((error: Error) => error)
      expect([method, refusal]).toEqual([method, expect.any(TypeError)])
      expect(refusal.message).toMatch(named)
    }
    expect(await loose.count()).toBe(before)
    expect(await loose.findMany({ limit: 1, where: undefined })).toHaveLength(1)
  })

  test('unknown types, and types with special rules', async () => {
    await expect(documents('api::nobody.nobody').findMany()).rejects.toThrow('There is no type api::nobody.nobody')
    const users = documents('plugin::users-permissions.user')
    expect((await users.findMany({ fields: ['username'], limit: 1 })).map(({ username }) => username)).toHaveLength(1)
    await expect(users.create({ data: { username: 'x' } })).rejects.toThrow('cannot be written as a document')
    await expect(documents('plugin::upload.file').delete({ documentId: 'x' })).rejects.toThrow('cannot be written as a document')
  })

  test('passwords and private attributes are written, and never shown', async () => {
    const data = { title: 'With secrets', secretCode: 'hush', internalNote: 'hush too' }
    const { documentId } = await documents(articles).create({ data })
    expect(JSON.stringify(await documents(articles).findOne({ documentId, populate: '*' }))).not.toMatch(/hush|secretCode|internalNote|\$2/)
    await expect(documents(articles).findOne({ documentId, fields: ['secretCode'] })).rejects.toMatchObject({ status: 400 })
  })

  test('reads one after the other, each as soon as the answer before is taken: none is lost', async () => {
    const ids = (await documents(tags).findMany({ fields: ['id'], limit: 20 })).map(({ documentId }) => documentId)
    for (let round = 0; round < 1_500; round++) {
      const documentId = ids[round % ids.length]!
      expect(await documents(tags).findOne({ documentId, fields: ['name'] })).toMatchObject({ documentId })
    }
  })

  test('grants: forbidden operations are refused, unreadable values are not shown', async () => {
    const grants = grantsOf('a reader of articles', new Set([`${articles}.find`, `${articles}.findOne`]))
    const reader = served.service.documents(articles, { grants })
    const [first] = await reader.findMany({ limit: 1, populate: ['author', 'cover'] })
    expect(first).toHaveProperty('cover')
    expect(first).not.toHaveProperty('author')
    expect(await reader.findOne({ documentId: first!.documentId })).toMatchObject({ documentId: first!.documentId })
    const { documentId } = first!
    const refused = await Promise.allSettled([
      reader.create({ data: { title: 'x' } }),
      reader.update({ documentId, data: { title: 'x' } }),
      ...(['delete', 'publish', 'unpublish', 'discardDraft'] as const).map((method) => reader[method]({ documentId })),
      served.service.documents(tags, { grants }).findMany(),
      served.service.documents(tags, { grants }).count(),
    ])
    for (const each of refused) expect(each).toMatchObject({ status: 'rejected', reason: { name: 'ForbiddenError', status: 403 } })
  })
})
