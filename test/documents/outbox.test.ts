// Events: the content of Strapi's webhooks, recorded with the change itself, without gaps, and only if there are listeners.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Document } from '../../src/foundation/public/documents.js'
import type { ContentEvent, EntryEvent } from '../../src/foundation/public/events.js'
import { isOnServer } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveExisting, serveGolden } from '../support/serve.js'
import { patience } from '../support/until.js'

const token = goldenTokens().full!
const json = { 'content-type': 'application/json' }
const send = (served: Served, method: string, path: string, data?: object) =>
  served.request(path, { method, token, ...(data === undefined ? {} : { headers: json, body: JSON.stringify({ data }) }) })

/** Replaces values that differ between runs by their kinds. */
function steady(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((entry) => steady(entry))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, steady(inner, name)]))
  if (value === null) return null
  if (key === 'id') return '(id)'
  if (key === 'documentId' && value !== 'nobody') return '(documentId)'
  if (key === 'createdAt' || key === 'updatedAt' || key === 'publishedAt') return '(moment)'
  return typeof value === 'string' ? value.replace(/\b([ab])_[0-9a-f]{10}/, '$1_(hash)') : value
}

describe('compared with recordings of Strapi', () => {
  interface Step {
    readonly rest?: readonly [method: string, path: string, data?: object]
    readonly service?: readonly [uid: string, method: 'publish', parameters: { documentId: string }]
    readonly upload?: readonly [method: string, path: string, file: string | null, info?: object]
    readonly answer?: unknown
    readonly events: readonly ContentEvent[]
  }
  const lines = readFileSync(join(import.meta.dirname, 'strapi-events.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const made: { documentId?: string; id?: number }[] = []
  let served: Served
  let sequence = 0
  beforeAll(async () => {
    served = await serveGolden({ config: { events: { outbox: true } } })
  })
  afterAll(() => served.close())

  /** `$3` and `@3` are the documentId and the id in the response of the fourth step. */
  const filled = (line: string): Step =>
    JSON.parse(line.replace(/\$(\d+)/g, (_, step) => made[step]!.documentId!).replace(/@(\d+)/g, (_, step) => String(made[step]!.id)))

  async function perform({ rest, service, upload }: Step): Promise<unknown> {
    if (service !== undefined) return served.service.documents(service[0])[service[1]](service[2])
    if (rest !== undefined) return (await send(served, ...(rest as [string, string]))).body
    const [method, path, file, info] = upload!
    const body = new FormData()
    if (file !== null) body.set('files', new Blob([`content of ${file}`], { type: 'text/plain' }), file)
    if (info !== undefined) body.set('fileInfo', JSON.stringify(info))
    return (await served.request(path, { method, token, body })).body
  }

  /** Unlike Octavo, Strapi's document service shows passwords and private attributes, and the locale of types without locales. */
  const shown = (answer: unknown): unknown =>
    JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
      key === 'secretCode' || key === 'internalNote' || (key === 'locale' && value === null) ? undefined : value,
    )

  test.each(lines.map((line, index) => [index, line.slice(0, 110), line] as const))('%i: %s', async (_, __, line) => {
    const step = filled(line)
    const answer = (await perform(step)) as { data?: Document } & Partial<Document>
    const file = (Array.isArray(answer) ? answer[0] : answer) as { id?: number } | null
    made.push({ documentId: answer?.data?.documentId ?? answer?.documentId, id: file?.id })
    const events = await served.service.events.after(sequence)
    expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => sequence + 1 + index))
    sequence += events.length
    expect(steady(events.map(({ sequence: _sequence, ...payload }) => payload))).toEqual(steady(step.events))
    if (step.service !== undefined) expect(steady(answer ?? null)).toEqual(steady(shown(step.answer)))
  })
})

/** The raw content of the outbox. */
const stored = ({ sql }: Served) => sql('select sequence, event, payload from octavo_outbox order by sequence')

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

async function withGolden(options: Parameters<typeof serveGolden>[0], work: (served: Served) => Promise<void>): Promise<void> {
  const served = await serveGolden(options)
  try {
    await work(served)
  } finally {
    await served.close()
  }
}

test('without listeners nothing is recorded', () =>
  withGolden({}, async (served) => {
    const { body } = await send(served, 'POST', '/api/tags', { name: 'nobody listens' })
    await send(served, 'DELETE', `/api/tags/${body.data.documentId}`)
    expect(await stored(served)).toEqual([])
    expect(await served.service.events.after(0)).toEqual([])
  }))

test('private attributes and passwords are in no event, also not in components and of related entries', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const data = {
      title: 'Nothing private',
      internalNote: 'hush-note',
      secretCode: 'hush-code',
      author: 2,
      owner: 1,
      blocks: [{ __component: 'blocks.rich', hidden: 'hush-hidden' }],
    }
    expect(
      (await send(served, 'PUT', `/api/authors/${await firstOf(served, 'authors', 2)}`, { salary: 77_123, pin: 'hush-pin' })).status,
    ).toBe(200)
    const { body } = await send(served, 'POST', '/api/articles', data)
    const documents = served.service.documents('api::article.article')
    const { documentId } = body.data as Document
    await documents.discardDraft({ documentId })
    await documents.unpublish({ documentId })
    await documents.delete({ documentId })
    const payloads = (await stored(served)).map(({ payload }) => payload)
    expect(payloads).toHaveLength(6)
    for (const payload of payloads) {
      expect(payload).not.toMatch(
        /hush|77123|\$2[aby]\$|"(password|pin|salary|secretCode|internalNote|hidden|resetPasswordToken|confirmationToken)"/,
      )
    }
  }))

test('addresses of private files are not signed: stored events outlive a signature', () => {
  const storage = { provider: 'local' as const, private: true }
  return withGolden({ config: { events: { outbox: true }, uploads: { storage } } }, async (served) => {
    const { body } = await send(served, 'POST', '/api/articles?populate=cover', { title: 'With a cover', cover: 1 })
    expect(body.data.cover.url).toMatch(/signature=/)
    const form = new FormData()
    form.set('fileInfo', JSON.stringify({ caption: 'said of it' }))
    expect((await served.request('/api/upload?id=1', { method: 'POST', token, body: form })).body.url).toMatch(/signature=/)
    const payloads = (await stored(served)).map(({ payload }) => payload)
    expect(payloads).toHaveLength(3)
    for (const payload of payloads) {
      expect(payload).toContain('/uploads/large_photo_')
      expect(payload).not.toMatch(/signature|isUrlSigned/)
    }
  })
})

test('types without drafts show the published versions of their relations', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const articles = served.service.documents('api::article.article')
    const { documentId } = await articles.create({ data: { title: 'Published' }, status: 'published' })
    await articles.update({ documentId, data: { title: 'Draft' } })
    await send(served, 'POST', '/api/authors', { name: 'An author', favorites: [documentId] })
    const [last] = (await served.service.events.after(3)) as readonly EntryEvent[]
    expect(last!.entry).toMatchObject({ name: 'An author', favorites: [{ title: 'Published' }] })
  }))

/** The documentId of a row. */
async function firstOf(served: Served, path: string, id: number): Promise<string> {
  return (await served.request(`/api/${path}?filters[id]=${id}`, { token })).body.data[0].documentId as string
}

/** Numbers from 1 on: on SQLite without gaps, while servers leave out those of writes that failed or were run again. */
function expectNumbered(events: readonly { readonly sequence: number }[], count: number): void {
  const sequences = events.map(({ sequence }) => sequence)
  if (isOnServer) expect([...new Set(sequences)].sort((one, other) => one - other)).toEqual(sequences)
  else expect(sequences).toEqual(range(count).map((index) => index + 1))
  expect(sequences).toHaveLength(count)
}

test('writes that fail leave no event and no gap, however many come at once', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const answers = await Promise.all(
      range(40).map((index) =>
        send(served, 'POST', '/api/tags', { name: index % 2 === 0 ? `told ${index}` : 'one and only', weight: index }),
      ),
    )
    const succeeded = answers.filter(({ status }) => status === 201)
    expect(succeeded).toHaveLength(21)
    const events = (await served.service.events.after(0)) as readonly EntryEvent[]
    expectNumbered(events, 42)
    const told = events.filter(({ event }) => event === 'entry.publish').map(({ entry }) => entry.documentId)
    expect([...told].sort()).toEqual(succeeded.map(({ body }) => body.data.documentId).sort())
  }))

test('readers never miss events under concurrent writes', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const read: number[] = []
    let isWritten = false
    const reading = (async () => {
      for (let isLast = false; ; isLast = isWritten) {
        const events = await served.service.events.after(read.at(-1) ?? 0, 1000)
        read.push(...events.map(({ sequence }) => sequence))
        if (isLast) return
        // On SQLite a read comes at once, and would leave the writes no turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const large = range(5).map((index) => ({ heading: `Section ${index}`, links: [{ label: `Link ${index}` }] }))
    const statuses = new Set<number>()
    for (const round of range(8)) {
      const answers = await Promise.all(
        range(12).map((index) => {
          const data = index % 3 === 0 ? { title: `Slow ${round} ${index}`, sections: large } : { name: `quick ${round} ${index}` }
          return send(served, 'POST', index % 3 === 0 ? '/api/articles' : '/api/cities', data)
        }),
      )
      for (const { status } of answers) statuses.add(status)
    }
    isWritten = true
    await reading
    expect([...statuses]).toEqual([201])
    const recorded = (await served.service.events.after(0, 1000)).map(({ sequence }) => sequence)
    expect(recorded).toHaveLength(8 * (4 * 2 + 8))
    expect(read).toEqual(recorded)
  }))

test('an event is the version as its write left it, regardless of later writes', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const { body } = await send(served, 'POST', '/api/cities', { name: 'city', area: 0 })
    await Promise.all(range(10).map((index) => send(served, 'PUT', `/api/cities/${body.data.documentId}`, { area: index + 1 })))
    const areas = ((await served.service.events.after(0)) as readonly EntryEvent[]).map(({ entry }) => entry.area)
    expect([...areas].sort((a, b) => Number(a) - Number(b))).toEqual(range(11))
    const last = (await served.request(`/api/cities/${body.data.documentId}`, { token })).body.data.area
    expect(areas.at(-1)).toBe(last)
  }))

test('limits.outboxEvents: the oldest events go, sequences go on', () =>
  withGolden({ config: { events: { outbox: true }, limits: { outboxEvents: 10 } } }, async (served) => {
    for (const index of range(35)) await send(served, 'POST', '/api/cities', { name: `city ${index}` })
    const kept = (await stored(served)).map(({ sequence }) => sequence)
    expect(kept.length).toBeGreaterThanOrEqual(10)
    expect(kept.length).toBeLessThan(20)
    expect(kept.at(-1)).toBe(35)
    const events = await served.service.events.after(0)
    expect(events.map(({ sequence }) => sequence)).toEqual(kept)
    expect(await served.service.events.after(33, 1)).toMatchObject([{ sequence: 34 }])
  }))

test('an entry of more than 256 KiB comes without its relations', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    const { body } = await send(served, 'POST', '/api/authors', { name: 'few' })
    const [few] = (await served.service.events.after(0)) as readonly EntryEvent[]
    expect(few!.entry).toMatchObject({ name: 'few', articles: [] })
    const large = await send(served, 'POST', '/api/articles', { title: 'Large', body: 'x'.repeat(300_000) })
    const favorites = (await served.request('/api/articles?pagination[pageSize]=20', { token })).body.data.map(
      ({ documentId }: Document) => documentId,
    )
    await send(served, 'PUT', `/api/authors/${body.data.documentId}`, {
      name: 'many',
      favorites: [...favorites, large.body.data.documentId],
    })
    const many = ((await served.service.events.after(0)) as readonly EntryEvent[]).at(-1)
    expect(many!.entry).toMatchObject({ name: 'many' })
    expect(many!.entry).not.toHaveProperty('favorites')
    expect((await stored(served)).at(-1)!.payload.length).toBeLessThan(2_000)
  }))

describe('listeners', () => {
  test('get every event in order, also under concurrent writes; a failed listener gets it again and blocks no others', async () => {
    const heard: ContentEvent[] = []
    const failing: number[] = []
    const fails = ({ sequence }: ContentEvent) => {
      failing.push(sequence)
      if (failing.filter((other) => other === sequence).length < 2) throw new Error('this listener fails at first')
    }
    const hears = async (event: ContentEvent) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
      heard.push(event)
    }
    const served = await serveGolden({ code: { listeners: [fails, hears] } })
    const answers = await Promise.all(range(30).map((index) => send(served, 'POST', '/api/tags', { name: `heard ${index}` })))
    expect(answers.map(({ status }) => status)).toEqual(range(30).map(() => 201))
    const recorded = await served.service.events.after(0)
    await expect.poll(() => heard.length, patience).toBe(60)
    expect(heard).toEqual(recorded)
    expectNumbered(heard, 60)
    const [first, second] = heard.map(({ sequence }) => sequence)
    await expect.poll(() => failing.slice(0, 4), patience).toEqual([first, first, second, second])
    await served.close()
    expect(served.log.some((line) => line.includes('this listener fails at first'))).toBe(true)
  })

  test('a listener that takes too long gets the event ten times, whatever limits.webhookAttempts is, and then the next one', async () => {
    const tried: number[] = []
    const heard: number[] = []
    const never = ({ sequence }: ContentEvent) => {
      tried.push(sequence)
      return new Promise(() => {})
    }
    const hears = ({ sequence }: ContentEvent) => void heard.push(sequence)
    const code = { listeners: [never, hears] }
    const served = await serveGolden({ code, config: { limits: { hookTimeout: 20, webhookAttempts: 1 } } })
    try {
      await send(served, 'POST', '/api/tags', { name: 'too slow' })
      await expect.poll(() => tried.slice(0, 2), patience).toEqual([1, 1])
      expect(heard).toEqual([1, 2])
      await served.service.close()
      expect(served.log.filter((line) => line.includes('took longer than 20 milliseconds'))).toHaveLength(tried.length)
      tried.length = 0
      // The pauses before ten attempts are minutes.
      await served.sql("update octavo_deliveries set attempts = 9, due_at = 0 where consumer = 'never' and sequence = 1")
      const again = await serveExisting(served, {}, code)
      await expect.poll(() => tried.slice(0, 2), patience).toEqual([1, 2])
      await again.close()
      expect(again.log.some((line) => line.includes('Event 1 failed 10 times and is skipped'))).toBe(true)
    } finally {
      await served.close()
    }
  })
})

test('octavo events prints recorded events', () =>
  withGolden({ config: { events: { outbox: true } } }, async (served) => {
    for (const index of range(3)) await send(served, 'POST', '/api/cities', { name: `city ${index}` })
    const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
    const run = (...given: string[]) =>
      new Promise<{ failed: boolean; text: string; errors: string }>((resolve) => {
        const environment = { ...process.env, UPLOADS_DIR: 'uploads', API_TOKEN_SALT: 'salt', JWT_SECRET: 'secret' }
        execFile(process.execPath, [command, 'events', served.folder, ...given], { env: environment }, (error, text, errors) =>
          resolve({ failed: error !== null, text, errors }),
        )
      })
    const printed = ({ text }: { text: string }) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as EntryEvent)
    expect(printed(await run())).toEqual(await served.service.events.after(0))
    expect(printed(await run('--after', '1', '--limit', '1'))).toMatchObject([
      { sequence: 2, event: 'entry.create', entry: { name: 'city 1' } },
    ])
    expect(await run('--after', 'soon')).toMatchObject({ failed: true, errors: expect.stringContaining('--after is "soon"') })
  }))
