// docs/spec/relations.md: how a body says what a relation points to.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { addToken } from './callers.js'
import type { Document, WritableProject } from './writable-project.js'
import { servePublisher } from './writable-project.js'

let project: WritableProject
let strapi: WritableProject
let names: Readonly<Record<string, string>>
beforeAll(async () => {
  project = await servePublisher('specification')
  strapi = await servePublisher('strapi')
  names = await fiveTags(project)
})
afterAll(async () => {
  await project.served.close()
  await strapi.served.close()
})

async function fiveTags({ make }: WritableProject): Promise<Readonly<Record<string, string>>> {
  const made: Record<string, string> = {}
  for (const name of ['a', 'b', 'c', 'd', 'e']) made[name] = (await make('tags', { name })).documentId
  return made
}

const ids = (letters: string, from = names): readonly string[] => [...letters].map((letter) => from[letter]!)
const letters = (list: readonly Document[]): string => list.map(({ name }) => name).join('')

let books = 0
/** A new book with tags, by their letters. */
const bookWith = async (tags: string, { make } = project, from = names): Promise<string> =>
  (await make('books', { title: `Book ${++books}`, tags: ids(tags, from) })).documentId

/** The tags of a book, published and draft, which are the same after a write that publishes. */
async function tagsOf(book: string, { read } = project): Promise<string> {
  const [published, draft] = await Promise.all(['published', 'draft'].map((status) => read(`books/${book}?populate=tags&status=${status}`)))
  expect(letters(draft.tags)).toBe(letters(published.tags))
  return letters(published.tags)
}

/** Writes `tags` of a new book with `before` and returns its tags afterwards. */
async function after(before: string, tags: unknown): Promise<string> {
  const book = await bookWith(before)
  await project.change(`books/${book}`, { tags })
  return tagsOf(book)
}

/** Writes `tags` of a new book with `before`, which is refused and changes nothing. */
async function refused(before: string, tags: unknown): Promise<string> {
  const book = await bookWith(before)
  const message = await project.refusal('PUT', `books/${book}`, { tags })
  expect(await tagsOf(book)).toBe(before)
  return message
}

rule('relations.1', 'connect and disconnect change, set replaces in the given order', async () => {
  expect(await after('abc', { connect: ids('d') })).toBe('abcd')
  expect(await after('abc', { disconnect: ids('b') })).toBe('ac')
  expect(await after('abc', { connect: ids('de'), disconnect: ids('ac') })).toBe('bde')
  expect(await after('abc', { set: ids('eca') })).toBe('eca')
  expect(await after('abc', { disconnect: ids('e') })).toBe('abc')
  expect(await after('abc', { connect: ids('a') })).toBe('bca')
})

rule('relations.1', 'the other side shows the same', async () => {
  const book = await bookWith('ab')
  const has = async (letter: string) => {
    const { books } = await project.read(`tags/${names[letter]}?populate[books][fields]=title`)
    return books.some(({ documentId }: Document) => documentId === book)
  }
  await project.change(`books/${book}`, { tags: { connect: ids('c'), disconnect: ids('a') } })
  expect([await has('a'), await has('b'), await has('c')]).toEqual([false, true, true])
  await project.change(`tags/${names.d}`, { books: { connect: [book] } })
  expect(await tagsOf(book)).toBe('bcd')
})

rule('relations.2', 'entries are documentIds, row ids or objects; where both are given, documentId counts', async () => {
  const { id } = await project.read(`tags/${names.d}?status=draft`)
  const [a, b] = ids('ab')
  expect(await after('c', { connect: [a, { documentId: b }] })).toBe('cab')
  expect(await after('c', [{ documentId: a }, b])).toBe('ab')
  expect(await after('c', { set: [{ id, documentId: a }] })).toBe('a')
  for (const entry of [id, String(id), { id }]) expect(await after('c', { set: [entry] })).toBe('d')
  for (const entry of [a, { documentId: a }]) expect(await after('c', entry)).toBe('a')
  for (const wrong of ['', [''], [{}], [{ name: 'a' }], [[a]], { nope: [a] }]) await refused('c', wrong)
})

rule('relations.3', 'null and empty lists empty the relation, what says nothing changes nothing', async () => {
  for (const tags of [null, [], { set: [] }]) expect(await after('ab', tags)).toBe('')
  for (const tags of [{}, { connect: [] }, { disconnect: [] }, { connect: [], disconnect: [] }, undefined])
    expect(await after('ab', tags)).toBe('ab')
})

rule('relations.3', 'false and empty lists among the entries are left out, a single false is a missing target', async () => {
  const [c] = ids('c')
  expect(await after('ab', [false, c, []])).toBe('c')
  expect(await after('ab', [[]])).toBe('')
  expect(await after('ab', { connect: [false, c] })).toBe('abc')
  expect(await after('ab', { disconnect: [[], ...ids('a')] })).toBe('b')
  expect(await refused('ab', false)).toBe('1 relation(s) of type api::tag.tag associated with this entity do not exist')
  expect(await refused('ab', { connect: false })).toBe('Invalid relations')
})

rule('relations.4', 'set next to connect or disconnect is 400, or wins in the contract strapi', async () => {
  for (const tags of [
    { set: ids('c'), connect: ids('d') },
    { set: ids('c'), disconnect: ids('a') },
    { set: [], connect: [] },
  ])
    expect(await refused('ab', tags)).toMatch(/set cannot be combined with connect or disconnect/)
  const there = await fiveTags(strapi)
  const book = await bookWith('ab', strapi, there)
  await strapi.change(`books/${book}`, { tags: { set: ids('c', there), connect: ids('d', there) } })
  expect(await tagsOf(book, strapi)).toBe('c')
  for (const tags of [
    { set: [], connect: ['nobody'] },
    { set: [], disconnect: [{ documentId: 'nobody' }] },
  ])
    expect(await strapi.refusal('PUT', `books/${book}`, { tags })).toMatch(/Document with id "nobody"/)
  expect(await strapi.refusal('PUT', `books/${book}`, { tags: { set: [], connect: [999_999] } })).toMatch(/do not exist/)
  await strapi.change(`books/${book}`, { tags: { set: ids('d', there), disconnect: [999_999] } })
  expect(await tagsOf(book, strapi)).toBe('d')
})

rule('relations.5', 'the same document twice in connect is 400, or once in the contract strapi', async () => {
  const [c] = ids('c')
  for (const connect of [
    [c, c],
    [c, { documentId: c }],
    [{ documentId: c, position: { start: true } }, c],
  ])
    expect(await refused('ab', { connect })).toMatch(/You cannot connect the same relation twice/)
  const there = await fiveTags(strapi)
  const book = await bookWith('ab', strapi, there)
  await strapi.change(`books/${book}`, { tags: { connect: [there.c, { documentId: there.c }] } })
  expect(await tagsOf(book, strapi)).toBe('abc')
  const { id } = await strapi.read(`tags/${there.d}?status=draft`)
  await strapi.change(`books/${book}`, { tags: { connect: [{ id }, there.e, there.d] } })
  expect(await tagsOf(book, strapi)).toBe('abcde')
  const different = ['start', 'end'].map((place) => ({ documentId: there.d, position: { [place]: true } }))
  expect(await strapi.refusal('PUT', `books/${book}`, { tags: { connect: different } })).toMatch(
    /You cannot connect the same relation twice/,
  )
})

rule('relations.6', 'a position is before or after a document, at the start or at the end', async () => {
  const at = (position: object) => ({ connect: [{ documentId: names.d, position }] })
  expect(await after('abc', at({ start: true }))).toBe('dabc')
  expect(await after('abc', at({ end: true }))).toBe('abcd')
  expect(await after('abc', at({ before: names.b }))).toBe('adbc')
  expect(await after('abc', at({ after: names.b }))).toBe('abdc')
  expect(await after('abcd', at({ before: names.a }))).toBe('dabc')
  expect(await after('abc', { set: ids('cd'), connect: undefined })).toBe('cd')
})

rule('relations.6', 'exactly one of them, of the right type, but in the contract strapi', async () => {
  const wrong = [
    {},
    { before: names.a, after: names.b },
    { start: true, end: true },
    { start: false },
    { end: 'yes' },
    { before: true },
    { middle: true },
    'start',
  ]
  for (const position of wrong)
    expect(await refused('abc', { connect: [{ documentId: names.d, position }] })).toMatch(
      /position must have exactly one of before, after, start and end/,
    )
  const there = await fiveTags(strapi)
  const book = await bookWith('abc', strapi, there)
  await strapi.change(`books/${book}`, { tags: { connect: [{ documentId: there.d, position: { start: true, end: true, middle: 1 } }] } })
  expect(await tagsOf(book, strapi)).toBe('dabc')
})

rule('relations.6', 'a position may name the version of its neighbour', async () => {
  const inBoth = async (title: string) => {
    const { documentId } = await strapi.make('books', { title })
    await strapi.change(`books/${documentId}?locale=de`, { title: `${title} (de)` })
    return documentId
  }
  const [first, last, placed] = [await inBoth('First'), await inBoth('Last'), await inBoth('Placed')]
  const { documentId: draft } = await strapi.make('books?status=draft', { title: 'A draft' })
  const set = ['en', 'de'].flatMap((locale) => [first, last].map((documentId) => ({ documentId, locale })))
  const titles = async (entry: object) => {
    const { documentId } = await strapi.make('people', { name: 'An author', books: { set } })
    const { books } = await strapi.change(`people/${documentId}?populate=books`, { books: { connect: [{ documentId: placed, ...entry }] } })
    return books.map(({ title }: Document) => title).join()
  }
  expect(await titles({ locale: 'de', position: { after: first } })).toBe('First,Last,First (de),Placed (de),Last (de)')
  expect(await titles({ position: { before: first, locale: 'de' } })).toBe('First,Last,Placed,First (de),Last (de)')
  const { documentId } = await strapi.make('people', { name: 'An author', books: { set } })
  const refused = (entry: object) =>
    strapi.refusal('PUT', `people/${documentId}`, { books: { connect: [{ documentId: placed, ...entry }] } })
  const missing = `Document with id "${draft}", locale`
  expect(await refused({ status: 'published', position: { after: draft } })).toBe(`${missing} "en" not found`)
  expect(await refused({ position: { after: draft, status: 'published' } })).toBe(`${missing} "en" not found`)
  expect(await refused({ locale: 'de', position: { after: draft } })).toBe(`${missing} "de" not found`)
  expect(await refused({ position: { after: draft, status: 'draft' } })).toMatch(
    /at position {"after":\d+,"status":"draft","locale":"en"}\. The relation with id \d+ needs to be connected first/,
  )
})

rule('relations.7', 'entries are placed one after the other, and may name each other', async () => {
  const at = (letter: string, position: object) => ({ documentId: names[letter], position })
  expect(await after('ab', { connect: [at('c', { before: names.a }), at('d', { after: names.c }), at('e', { start: true })] })).toBe(
    'ecdab',
  )
  expect(await after('ab', { connect: [at('d', { before: names.c }), at('c', { start: true })] })).toBe('dcab')
  expect(await after('abc', { connect: [at('d', { after: names.a })], disconnect: ids('a') })).toMatch(/^db?c?/)
})

rule('relations.7', 'circles and neighbours that are not there are refused', async () => {
  const at = (letter: string, position: object) => ({ documentId: names[letter], position })
  expect(await refused('ab', { connect: [at('c', { before: names.d }), at('d', { before: names.c })] })).toMatch(/circular reference/)
  expect(await refused('ab', { connect: [at('c', { before: names.c })] })).toMatch(/circular reference/)
  expect(await refused('ab', { connect: [at('c', { before: names.e })] })).toMatch(/needs to be connected first/)
  expect(await refused('ab', { connect: [at('c', { after: 'nothing' })] })).toMatch(/not found/)
})

rule('relations.8', 'a relation to one keeps the last entry', async () => {
  const people: string[] = []
  for (const name of ['one', 'two', 'three']) people.push((await project.make('people', { name })).documentId)
  const [one, two, three] = people
  const { documentId } = await project.make('books', { title: 'With an author', author: one })
  const author = async () => (await project.read(`books/${documentId}?populate=author`)).author?.documentId ?? null
  const says: readonly (readonly [unknown, string | null])[] = [
    [two, two!],
    [[one, two, three], three!],
    [{ connect: [one, two] }, two!],
    [{ set: [{ documentId: one }] }, one!],
    [{ disconnect: [two] }, one!],
    [{ disconnect: [one] }, null],
    [{ documentId: three }, three!],
    [null, null],
  ]
  for (const [value, wanted] of says) {
    await project.change(`books/${documentId}`, { author: value })
    expect([value, await author()]).toEqual([value, wanted])
  }
})

rule('relations.8', 'entries before the last one are ignored', async () => {
  const { documentId: author } = await project.make('people', { name: 'The last' })
  const book = await project.make('books?populate=author', { title: 'By the last', author: ['nobody', 999_999, {}, author] })
  expect(book.author.documentId).toBe(author)
  const changed = await project.change(`books/${book.documentId}?populate=author`, { author: { set: ['nobody', author] } })
  expect(changed.author.documentId).toBe(author)
  expect(await project.refusal('PUT', `books/${book.documentId}`, { author: [author, 'nobody'] })).toMatch(
    /"nobody", locale "\w+" not found/,
  )
})

rule('relations.8', 'of several that are connected the contract strapi keeps the first', async () => {
  const people: string[] = []
  for (const name of ['one', 'two']) people.push((await strapi.make('people', { name })).documentId)
  const book = await strapi.make('books?populate=author', { title: 'With an author', author: { connect: people } })
  expect(book.author.documentId).toBe(people[0])
  const reversed = await strapi.make('books?populate=author', { title: 'With an author', author: { connect: people.toReversed() } })
  expect(reversed.author.documentId).toBe(people[0])
  const books: string[] = []
  for (const title of ['The first', 'The second']) books.push((await strapi.make('books?status=draft', { title })).documentId)
  const edits = { connect: books.toReversed() }
  const { documentId } = await strapi.make('people', { name: 'An editor of one', edits })
  const editor = await strapi.read(`people/${documentId}?populate=edits&status=draft`)
  expect(editor.edits.documentId).toBe(books[1])
})

rule('relations.8', 'a target with a single owner is removed from the previous one', async () => {
  const { documentId: editor } = await project.make('people', { name: 'An editor' })
  const first = (await project.make('books', { title: 'Edited first', editor })).documentId
  const second = (await project.make('books', { title: 'Edited then', editor })).documentId
  for (const status of ['published', 'draft']) {
    expect((await project.read(`books/${first}?populate=editor&status=${status}`)).editor).toBeNull()
    expect((await project.read(`books/${second}?populate=editor&status=${status}`)).editor.documentId).toBe(editor)
    expect((await project.read(`people/${editor}?populate=edits&status=${status}`)).edits.documentId).toBe(second)
  }
  const { documentId: sequel } = await project.make('books', { title: 'The sequel of two' })
  for (const book of [first, second]) await project.change(`books/${book}`, { sequel })
  for (const book of [first, second]) expect((await project.read(`books/${book}?populate=sequel`)).sequel.documentId).toBe(sequel)
})

rule('relations.8', 'the locales of one owner share what may have one owner only', async () => {
  for (const { make, change, read } of [project, strapi]) {
    const { documentId: editor } = await make('people', { name: 'An editor' })
    const { documentId: book } = await make('books?locale=de', { title: 'Ein Buch', editor })
    const shown = async () => {
      const versions = ['en', 'de'].flatMap((locale) => ['draft', 'published'].map((status) => `locale=${locale}&status=${status}`))
      const books = await Promise.all(versions.map((version) => read(`books/${book}?populate=editor&${version}`)))
      return books.map((each) => each.editor?.documentId ?? null)
    }
    await change(`books/${book}`, { title: 'A book', editor })
    expect(await shown()).toEqual([editor, editor, editor, editor])
    await change(`books/${book}`, { editor: null })
    expect(await shown()).toEqual([null, null, editor, editor])
    await change(`books/${book}`, { editor: { connect: [editor] } })
    expect(await shown()).toEqual([editor, editor, editor, editor])
    await change(`people/${editor}`, { edits: { connect: [book] } })
    expect(await shown()).toEqual([editor, editor, editor, editor])
    expect((await read(`people/${editor}?populate=edits`)).edits.documentId).toBe(book)
    const { documentId: other } = await make('books', { title: 'Another', editor })
    expect(await shown()).toEqual([null, null, null, null])
    expect((await read(`people/${editor}?populate=edits`)).edits.documentId).toBe(other)
  }
})

rule('relations.9', 'a documentId means the version that fits; what does not exist is 400', async () => {
  const book = await bookWith('ab')
  const [published, draft] = await Promise.all(
    ['published', 'draft'].map((status) => project.read(`books/${book}?populate=tags&status=${status}`)),
  )
  expect(published.tags.every(({ publishedAt }: Document) => publishedAt !== null)).toBe(true)
  expect(draft.tags.map(({ publishedAt }: Document) => publishedAt)).toEqual([null, null])

  const target = (await project.make('books', { title: 'In both' })).documentId
  await project.change(`books/${target}?locale=de`, { title: 'In beiden' })
  const onlyEnglish = (await project.make('books', { title: 'In English only' })).documentId
  await project.change(`books/${book}`, { sequel: target })
  await project.change(`books/${book}?locale=de`, { title: 'Ein Buch', sequel: target })
  expect((await project.read(`books/${book}?populate=sequel`)).sequel.title).toBe('In both')
  expect((await project.read(`books/${book}?populate=sequel&locale=de`)).sequel.title).toBe('In beiden')
  expect(await project.refusal('PUT', `books/${book}?locale=de`, { sequel: onlyEnglish })).toBe(
    `Document with id "${onlyEnglish}", locale "de" not found`,
  )
  expect(await project.refusal('PUT', `books/${book}`, { sequel: names.a })).toBe(`Document with id "${names.a}", locale "en" not found`)
  expect(await refused('ab', { connect: ['nothing'] })).toBe('Document with id "nothing", locale "null" not found')
  expect(await refused('ab', { disconnect: ['nothing'] })).toBe('Document with id "nothing", locale "null" not found')
  expect(await refused('ab', [999_999])).toMatch(/^1 relation\(s\) of type api::tag\.tag associated with this entity do not exist$/)
})

rule('relations.9', 'a new locale of a document is not there before it is written', async () => {
  const { documentId } = await project.make('books', { title: 'Of its own' })
  const path = `books/${documentId}?locale=de`
  const missing = `Document with id "${documentId}", locale "de" not found`
  expect(await project.refusal('PUT', path, { title: 'Sein eigenes', sequel: documentId })).toBe(missing)
  expect(await project.refusal('PUT', path, { title: 5, sequel: documentId })).toBe(missing)
  expect((await project.send('GET', path)).status).toBe(404)
  await project.change(path, { title: 'Sein eigenes' })
  expect((await project.change(`${path}&populate=sequel&status=draft`, { sequel: documentId })).sequel.documentId).toBe(documentId)
})

rule('relations.10', 'media are set, and connected in the contract strapi only', async () => {
  for (const [{ served, make, change, read, refusal }, isStrict] of [
    [project, true],
    [strapi, false],
  ] as const) {
    const files: number[] = []
    for (const name of ['one.txt', 'two.txt']) {
      const form = new FormData()
      form.append('files', new Blob([name]), name)
      files.push((await served.request('/api/upload', { method: 'POST', token: 'full', body: form })).body[0].id)
    }
    const [one, two] = files
    const { documentId } = await make('books', { title: 'Illustrated', cover: one, pictures: [two, one] })
    const path = `books/${documentId}?populate=cover,pictures`
    const shown = ({ cover, pictures }: Document) => [cover?.id ?? null, pictures.map(({ id }: Document) => id)]
    expect(shown(await read(path))).toEqual([one, [two, one]])
    expect(shown(await change(path, { cover: { set: [two] }, pictures: { set: [one, two] } }))).toEqual([two, [one, two]])
    expect(shown(await change(path, { cover: null, pictures: [one] }))).toEqual([null, [one]])
    if (isStrict) {
      expect(await refusal('PUT', path, { pictures: { connect: [two] } })).toMatch(/connect and disconnect cannot be used on media/)
      expect(await refusal('PUT', path, { pictures: { disconnect: [one] } })).toMatch(/connect and disconnect cannot be used on media/)
      expect(shown(await read(path))).toEqual([null, [one]])
    } else {
      expect(shown(await change(path, { pictures: { connect: [{ id: two }] } }))).toEqual([null, [one, two]])
      expect(shown(await change(path, { pictures: { disconnect: [{ id: one }] } }))).toEqual([null, [two]])
    }
  }
})

rule('relations.11', 'a link to an unpublished document waits for it', async () => {
  const { documentId: tag } = await project.make('tags?status=draft', { name: 'later' })
  const { documentId: book } = await project.make('books', { title: 'Waiting', tags: [names.a, tag, names.b] })
  const shown = async (status: string) => letters((await project.read(`books/${book}?populate=tags&status=${status}`)).tags)
  expect([await shown('draft'), await shown('published')]).toEqual(['alaterb', 'ab'])
  await project.change(`tags/${tag}`, { name: 'now' })
  expect([await shown('draft'), await shown('published')]).toEqual(['anowb', 'anowb'])
})

rule('relations.11', 'a list that is given when the target is published counts, not what waited for it', async () => {
  const { documentId: tag } = await project.make('tags?status=draft', { name: 'later' })
  const { documentId: book } = await project.make('books', { title: 'Waiting', tags: [names.a, tag, names.b] })
  const { documentId: other } = await project.make('books', { title: 'Also waiting', tags: [tag] })
  const { books } = await project.change(`tags/${tag}?populate=books`, { name: 'now', books: [other] })
  expect(books.map(({ documentId }: { documentId: string }) => documentId)).toEqual([other])
  const shown = async (status: string) => letters((await project.read(`books/${book}?populate=tags&status=${status}`)).tags)
  expect([await shown('draft'), await shown('published')]).toEqual(['ab', 'ab'])
  await project.send('POST', `tags/${tag}/actions/unpublish`)
  await project.send('POST', `tags/${tag}/actions/publish`)
  expect([await shown('draft'), await shown('published')]).toEqual(['ab', 'ab'])
})

rule('relations.12', 'a relation to a target that the caller may not find cannot be written', async () => {
  const actions = ['book.book.create', 'book.book.update', 'book.book.find', 'tag.tag.find'].map((action) => `api::${action}`)
  await addToken(project.served, 'books', { type: 'custom', actions })
  const { documentId: contract } = await project.make('contracts', { text: 'Secret' })
  const book = await bookWith('a')
  for (const value of [contract, 'nothing', null, [], { connect: [contract] }, { disconnect: [contract] }]) {
    for (const [method, path] of [
      ['POST', 'books'],
      ['PUT', `books/${book}`],
    ] as const) {
      const { status, body } = await project.send(method, path, { title: 'A title', contract: value }, 'books')
      expect([status, body.error.message, body.error.details]).toEqual([
        400,
        'Invalid key contract',
        { key: 'contract', path: 'contract', source: 'body' },
      ])
    }
  }
  expect((await project.send('PUT', `books/${book}`, { tags: ids('ab') }, 'books')).status).toBe(200)
  expect(await project.change(`books/${book}?populate=contract`, { contract })).toMatchObject({ contract: { documentId: contract } })
})

rule('relations.13', 'the relations of one locale are written, those of the others stay', async () => {
  const book = await bookWith('ab')
  const german = await project.change(`books/${book}?locale=de&populate=tags`, { title: 'Auf Deutsch', tags: ids('c') })
  expect(letters(german.tags)).toBe('c')
  expect(await tagsOf(book)).toBe('ab')
  await project.change(`books/${book}`, { tags: ids('d') })
  expect(letters((await project.read(`books/${book}?locale=de&populate=tags`)).tags)).toBe('c')
})
