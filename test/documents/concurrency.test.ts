// Many writes at once, and a service killed during them: acknowledged writes are there, once and whole, and
// `octavo doctor` finds nothing afterwards.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Served, TestResponse } from '../support/serve.js'
import { copyGoldenTo, goldenTokens, removeProject, serveGolden } from '../support/serve.js'
import { patience } from '../support/until.js'

const token = goldenTokens().full!
const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
const environment = { ...process.env, UPLOADS_DIR: 'uploads' }

type Ask = Served['request']
interface Document {
  readonly documentId: string
  readonly [attribute: string]: unknown
}

/** Resolves to what the doctor found wrong; nothing where the project is sound. */
function findings(folder: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [command, 'doctor', folder], { env: environment }, (error, text, errors) => {
      resolve(error === null ? '' : text + errors)
    })
  })
}

function send(request: Ask, method: string, path: string, data?: object): Promise<TestResponse> {
  const headers: Record<string, string> = data === undefined ? {} : { 'content-type': 'application/json' }
  return request(path, { method, token, headers, ...(data === undefined ? {} : { body: JSON.stringify({ data }) }) })
}

async function made(request: Ask, path: string, data: object): Promise<Document> {
  const answer = await send(request, 'POST', path, data)
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data as Document
}

async function read(request: Ask, path: string): Promise<TestResponse['body']> {
  const answer = await request(path, { token })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
const nameOf = (what: string, index: number): string => `${what} ${index}`

describe('requests at once', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden()
  })
  afterAll(() => served.close())

  test.each([
    ['a type with drafts', '/api/tags', 'name', 'one and only'],
    ['a type without drafts', '/api/bounds', 'uString', 'abc'],
  ])('one of 50 that create the same unique value wins: %s', async (_, path, attribute, value) => {
    const answers = await Promise.all(range(50).map(() => send(served.request, 'POST', path, { [attribute]: value })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...range(49).map(() => 400)])
    const filter = `filters[${attribute}][$eq]=${encodeURIComponent(value)}`
    expect(await read(served.request, `${path}?${filter}`)).toHaveLength(1)
    // Nothing of those that lost: no draft either.
    expect(await read(served.request, `${path}?${filter}&status=draft`)).toHaveLength(1)
    expect(await findings(served.folder)).toBe('')
  })

  test('50 that connect different tags to one article are all there, in an order that is whole', async () => {
    const tags = await Promise.all(range(50).map((index) => made(served.request, '/api/tags', { name: nameOf('connected', index) })))
    const article = await made(served.request, '/api/articles', { title: 'Everything at once' })
    const path = `/api/articles/${article.documentId}`
    const answers = await Promise.all(tags.map(({ documentId }) => send(served.request, 'PUT', path, { tags: { connect: [documentId] } })))
    expect(answers.map(({ status }) => status)).toEqual(range(50).map(() => 200))
    const wanted = tags.map(({ documentId }) => documentId).sort()
    const orders: string[][] = []
    for (const status of ['draft', 'published']) {
      const { tags: linked } = await read(served.request, `${path}?populate=tags&status=${status}`)
      const order = (linked as Document[]).map(({ documentId }) => documentId)
      expect([...order].sort()).toEqual(wanted)
      orders.push(order)
    }
    expect(orders[1]).toEqual(orders[0])
    // From the other side too.
    const { articles } = await read(served.request, `/api/tags/${tags[17]!.documentId}?populate=articles`)
    expect((articles as Document[]).map(({ documentId }) => documentId)).toEqual([article.documentId])
    expect(await findings(served.folder)).toBe('')
  })

  test('50 that connect their article to one tag are all there', async () => {
    const tag = await made(served.request, '/api/tags', { name: 'wanted by all' })
    const articles = await Promise.all(range(50).map((index) => made(served.request, '/api/articles', { title: nameOf('Article', index) })))
    const answers = await Promise.all(
      articles.map(({ documentId }) => send(served.request, 'PUT', `/api/articles/${documentId}`, { tags: { connect: [tag.documentId] } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(range(50).map(() => 200))
    for (const status of ['draft', 'published']) {
      const { articles: linked } = await read(served.request, `/api/tags/${tag.documentId}?populate=articles&status=${status}`)
      expect((linked as Document[]).map(({ documentId }) => documentId).sort()).toEqual(articles.map(({ documentId }) => documentId).sort())
    }
  })

  test('the last connected entry is last, also after targets have been deleted', async () => {
    const tags = await Promise.all(range(5).map((index) => made(served.request, '/api/tags', { name: nameOf('in a row', index) })))
    const [first, second, third, fourth, fifth] = tags.map(({ documentId }) => documentId)
    const article = await made(served.request, '/api/articles', { title: 'With gaps', tags: [first, second, third] })
    const path = `/api/articles/${article.documentId}`
    for (const gone of [first, second]) expect((await send(served.request, 'DELETE', `/api/tags/${gone}`)).status).toBe(204)
    for (const added of [fourth, fifth]) expect((await send(served.request, 'PUT', path, { tags: { connect: [added] } })).status).toBe(200)
    for (const status of ['draft', 'published']) {
      const { tags: linked } = await read(served.request, `${path}?populate=tags&status=${status}`)
      expect((linked as Document[]).map(({ documentId }) => documentId)).toEqual([third, fourth, fifth])
    }
    expect(await findings(served.folder)).toBe('')
  })

  test('20 that take the one partner of a one-to-one relation: one has it', async () => {
    const author = await made(served.request, '/api/authors', { name: 'The one reviewer' })
    const articles = await Promise.all(
      range(20).map((index) => made(served.request, '/api/articles', { title: nameOf('Reviewed', index) })),
    )
    const answers = await Promise.all(
      articles.map(({ documentId }) => send(served.request, 'PUT', `/api/articles/${documentId}`, { reviewer: author.documentId })),
    )
    expect(answers.map(({ status }) => status)).toEqual(range(20).map(() => 200))
    for (const status of ['draft', 'published']) {
      const path = `/api/articles?filters[reviewer][documentId][$eq]=${author.documentId}&status=${status}`
      expect(await read(served.request, path)).toHaveLength(1)
    }
    expect(await findings(served.folder)).toBe('')
  })

  test('publish, update and delete of one document, 200 rounds: never a 5xx, each answer a whole document', async () => {
    const tag = await made(served.request, '/api/tags', { name: 'a tag that waits' })
    const unpublished = await send(served.request, 'POST', '/api/tags?status=draft', { name: 'a tag without a published version' })
    const content = (text: string) => ({
      title: `Title ${text}`,
      summary: `Summary ${text}`,
      tags: [tag.documentId, unpublished.body.data.documentId],
      sections: [{ heading: `Heading ${text}`, tags: [unpublished.body.data.documentId], links: [{ label: text }] }],
      blocks: [{ __component: 'blocks.rich', title: `Block ${text}` }],
    })
    const seen = new Set<number>()
    const changed: number[] = []
    for (const _ of range(200)) {
      const { documentId } = await made(served.request, '/api/articles', content('first'))
      const path = `/api/articles/${documentId}`
      const writes = [
        () => send(served.request, 'PUT', path, content('published')),
        () => send(served.request, 'PUT', `${path}?status=draft`, content('draft')),
        () => send(served.request, 'DELETE', path),
      ]
      const reads = ['published', 'draft'].map((status) => () => served.request(`${path}?status=${status}&populate=*`, { token }))
      // A request without a body is read sooner: a random delay for each request makes every order possible.
      const answers = await Promise.all([...writes, ...reads].map((request) => pause(Math.random() * 12).then(request)))
      changed.push(answers[0]!.status, answers[1]!.status)
      for (const { status, text, body } of answers) {
        seen.add(status)
        expect(status, text).toBeLessThan(500)
        if (status !== 200 || body.data === null || body.data.sections === undefined) continue
        const said = (body.data.title as string).slice('Title '.length)
        expect([body.data.summary, body.data.sections[0].heading, body.data.blocks[0].title]).toEqual([
          `Summary ${said}`,
          `Heading ${said}`,
          `Block ${said}`,
        ])
      }
      // Nothing can come back after the delete: what followed it found no document.
      expect((await served.request(path, { token })).status).toBe(404)
      expect((await served.request(`${path}?status=draft`, { token })).status).toBe(404)
    }
    expect([...seen].filter((status) => ![200, 204, 404].includes(status))).toEqual([])
    // Some changes came before the delete, some after it.
    expect([200, 404].map((status) => changed.includes(status))).toEqual([true, true])
    expect(await findings(served.folder)).toBe('')
  })
})

/** All permutations. */
function orders<Each>(things: readonly Each[]): readonly (readonly Each[])[] {
  if (things.length < 2) return [things]
  return things.flatMap((first, index) => orders(things.toSpliced(index, 1)).map((rest) => [first, ...rest]))
}

describe('publishing linked documents in every order', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden()
  })
  afterAll(() => served.close())

  /** A chain: each of the documents links to the next, by an attribute of many targets or of one. */
  const chains = [
    { what: 'many-to-many, articles', attribute: 'related', path: '/api/articles', fields: (name: string) => ({ title: name }) },
    {
      what: 'one-way one-to-many, products',
      attribute: 'crossSell',
      path: '/api/products',
      fields: (name: string) => ({ name, price: 1 }),
    },
  ]
  const cases = chains.flatMap((chain) =>
    [2, 3].flatMap((length) => orders(range(length)).map((order) => ({ ...chain, length, order, shown: order.join(', ') }))),
  )

  test.each(cases)('$what: $length documents, published in the order $shown', async ({ attribute, path, fields, length, order, what }) => {
    const documents: Document[] = []
    for (const index of range(length)) {
      const answer = await send(served.request, 'POST', `${path}?status=draft`, fields(nameOf(what, index)))
      expect(answer.status, answer.text).toBe(201)
      documents.push(answer.body.data)
    }
    for (const index of range(length - 1)) {
      const target = documents[index + 1]!.documentId
      const answer = await send(served.request, 'PUT', `${path}/${documents[index]!.documentId}?status=draft`, { [attribute]: [target] })
      expect(answer.status, answer.text).toBe(200)
    }
    for (const index of order) {
      const answer = await send(served.request, 'PUT', `${path}/${documents[index]!.documentId}`, {})
      expect(answer.status, answer.text).toBe(200)
    }
    for (const status of ['draft', 'published']) {
      for (const index of range(length)) {
        const document = await read(served.request, `${path}/${documents[index]!.documentId}?populate=*&status=${status}`)
        const wanted = index + 1 < length ? [documents[index + 1]!.documentId] : []
        expect((document[attribute] as Document[]).map(({ documentId }) => documentId)).toEqual(wanted)
        if (attribute !== 'related') continue
        const owners = index > 0 ? [documents[index - 1]!.documentId] : []
        expect((document.relatedTo as Document[]).map(({ documentId }) => documentId)).toEqual(owners)
      }
    }
  })

  /** An article with a list, a single relation and a component, each to documents that are published before or after it. */
  test.each(orders(['article', 'first', 'second']).map((order) => ({ order, shown: order.join(', ') })))(
    'a list keeps its order: $shown',
    async ({ order }) => {
      const tags: Document[] = []
      for (const name of ['first', 'second']) {
        const answer = await send(served.request, 'POST', '/api/tags?status=draft', { name: `${name} of ${order.join('-')}` })
        tags.push(answer.body.data)
      }
      const [first, second] = tags.map(({ documentId }) => documentId)
      const product = await send(served.request, 'POST', '/api/products?status=draft', { name: 'picked', price: 1 })
      const data = {
        title: 'With links of every kind',
        tags: [first, second],
        pick: product.body.data.documentId,
        references: [product.body.data.documentId],
        sections: [{ heading: 'Linked', tags: [second, first] }],
      }
      const article = await send(served.request, 'POST', '/api/articles?status=draft', data)
      expect(article.status, article.text).toBe(201)
      const paths: Readonly<Record<string, string>> = {
        article: `/api/articles/${article.body.data.documentId}`,
        first: `/api/tags/${first}`,
        second: `/api/tags/${second}`,
      }
      for (const name of order) expect((await send(served.request, 'PUT', paths[name]!, {})).status).toBe(200)
      expect((await send(served.request, 'PUT', `/api/products/${product.body.data.documentId}`, {})).status).toBe(200)
      const populated = 'populate[tags]=true&populate[pick]=true&populate[references]=true&populate[sections][populate]=tags'
      const shown = await read(served.request, `${paths.article}?${populated}`)
      const ids = (list: readonly Document[]) => list.map(({ documentId }) => documentId)
      expect(ids(shown.tags)).toEqual([first, second])
      expect(ids(shown.sections[0].tags)).toEqual([second, first])
      expect(shown.pick?.documentId).toBe(product.body.data.documentId)
      expect(ids(shown.references)).toEqual([product.body.data.documentId])
    },
  )

  test.each(orders(['owner', 'other']).map((order) => ({ order, shown: order.join(', ') })))(
    'a link said by its other side, to an owner that was published before: $shown',
    async ({ order }) => {
      const owner = await made(served.request, '/api/articles', { title: 'Owner of the link' })
      const data = { title: 'Said by this one', relatedTo: [owner.documentId] }
      const other = (await send(served.request, 'POST', '/api/articles?status=draft', data)).body.data as Document
      const paths = { owner: `/api/articles/${owner.documentId}`, other: `/api/articles/${other.documentId}` }
      for (const name of order) expect((await send(served.request, 'PUT', paths[name as 'owner' | 'other'], {})).status).toBe(200)
      for (const status of ['draft', 'published']) {
        const { related } = await read(served.request, `${paths.owner}?populate=related&status=${status}`)
        expect(
          (related as Document[]).map(({ documentId }) => documentId),
          status,
        ).toEqual([other.documentId])
        const { relatedTo } = await read(served.request, `${paths.other}?populate=relatedTo&status=${status}`)
        expect(
          (relatedTo as Document[]).map(({ documentId }) => documentId),
          status,
        ).toEqual([owner.documentId])
      }
    },
  )

  test('an article that is related to itself, said from both sides', async () => {
    const { documentId } = await made(served.request, '/api/articles', { title: 'About itself' })
    const answer = await send(served.request, 'PUT', `/api/articles/${documentId}`, { related: [documentId], relatedTo: [documentId] })
    expect(answer.status, answer.text).toBe(200)
    for (const status of ['draft', 'published']) {
      const { related, relatedTo } = await read(served.request, `/api/articles/${documentId}?populate=*&status=${status}`)
      expect([related, relatedTo]).toMatchObject([[{ documentId }], [{ documentId }]])
    }
  })

  test('afterwards the doctor finds nothing', async () => {
    expect(await findings(served.folder)).toBe('')
  })
})

describe('a service that is killed', () => {
  let folder: string
  let running: ChildProcess | null = null
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
    await copyGoldenTo(folder)
  })
  afterAll(async () => {
    running?.kill('SIGKILL')
    await removeProject(folder)
  })

  /** Starts the service as a separate process. */
  async function start(): Promise<string> {
    const started = {
      ...environment,
      HOST: '127.0.0.1',
      PORT: '0',
      NODE_ENV: 'production',
      LOG_LEVEL: 'silent',
      OCTAVO_DATABASE_READER_THREADS: '1',
    }
    const child = spawn(process.execPath, [command, 'start', folder], { env: started, stdio: ['ignore', 'pipe', 'inherit'] })
    running = child
    for await (const line of createInterface({ input: child.stdout })) {
      const address = / at (http:\/\/[^ ]+) after /.exec(line)
      if (address !== null) return address[1]!
    }
    throw new Error('the service did not start')
  }

  function kill(): Promise<void> {
    const child = running!
    running = null
    return new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  }

  const asker =
    (origin: string): Ask =>
    async (path, { method = 'GET', headers = {}, body } = {}) => {
      const response = await fetch(origin + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) }
    }

  /** An acknowledged document and the last number written to it; a number without a response may be there as well. */
  interface Written {
    readonly documentId: string
    acknowledged: number
    sent: number
  }

  const content = (number: number, tag: string) => ({
    title: `Number ${number}`,
    rank: number % 1000,
    tags: [tag],
    sections: [{ heading: `Number ${number}`, links: [{ label: `Number ${number}` }] }],
  })

  /** Creates and changes articles until the service is gone. */
  async function stream(request: Ask, tag: string, written: Written[], next: () => number): Promise<void> {
    const mine: Written[] = []
    try {
      for (;;) {
        const number = next()
        const known = mine[number % 3]
        if (known === undefined) {
          const answer = await send(request, 'POST', '/api/articles', content(number, tag))
          expect(answer.status, answer.text).toBe(201)
          mine.push({ documentId: answer.body.data.documentId, acknowledged: number, sent: number })
          written.push(mine.at(-1)!)
          continue
        }
        known.sent = number
        const answer = await send(request, 'PUT', `/api/articles/${known.documentId}`, content(number, tag))
        expect(answer.status, answer.text).toBe(200)
        known.acknowledged = number
      }
    } catch (error) {
      // The kill cut off this request: its outcome is unknown.
      if (!(error instanceof TypeError)) throw error
    }
  }

  test('at ten random moments amid writes, always after some were acknowledged: everything acknowledged is there, whole, and the doctor finds nothing', async () => {
    let number = 0
    const written: Written[] = []
    let request = asker(await start())
    const tag = (await made(request, '/api/tags', { name: 'a tag that outlives all' })).documentId
    for (const round of range(10)) {
      const before = written.length
      const streams = range(4).map(() => stream(request, tag, written, () => ++number))
      await vi.waitUntil(() => written.length > before + 2, patience)
      const moment = Math.random() * 450
      await pause(moment)
      await kill()
      await Promise.all(streams)
      request = asker(await start())
      for (const { documentId, acknowledged, sent } of written) {
        const versions = []
        for (const status of ['draft', 'published']) {
          const path = `/api/articles/${documentId}?populate[tags]=true&populate[sections][populate]=links&status=${status}`
          const shown = await read(request, path)
          expect(
            [acknowledged, sent].map((each) => `Number ${each}`),
            `round ${round}, killed after ${moment} ms`,
          ).toContain(shown.title)
          expect(shown.sections).toMatchObject([{ heading: shown.title, links: [{ label: shown.title }] }])
          expect(shown.tags).toMatchObject([{ documentId: tag }])
          versions.push(shown.title)
        }
        expect(versions[1]).toBe(versions[0])
      }
      expect(await findings(folder), `round ${round}, killed after ${moment} ms`).toBe('')
    }
    await kill()
  })
})
