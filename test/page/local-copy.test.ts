// Copies of unsaved changes: no input is lost when the page is killed, whatever the state of the network.
import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBrowserStorage } from '../../admin/form/browser-storage.js'
import { type CopyStorage, copyDelay, createCopyKeeper, findCopies, type LocalCopy, restoreCopy } from '../../admin/form/local-copy.js'
import { createSaver, type DoubtfulRequest, type Saver, savingPause } from '../../admin/form/saver.js'
import { createDocumentStore, createNewDocumentStore, type DocumentStore } from '../../admin/form/store.js'
import { createEntry, type Entry, hasEqualContent, keyOf, readDocument, toUnfinished, unfinishedText } from '../../admin/form/values.js'
import { createClock, createNetwork, type Fate, fates, type InventedClock } from './support/clock.js'
import { anyEdit, draft, perform, section } from './support/drafts.js'
import { createModelServer, type ModelServer, shape } from './support/model-server.js'

const document = { user: '1', type: 'api::story.story', documentId: 'doc', locale: 'en' }

/** Storage that survives pages. */
function createMemory(): CopyStorage & { readonly copies: Map<string, LocalCopy>; isBroken: boolean } {
  const copies = new Map<string, LocalCopy>()
  const memory = {
    copies,
    isBroken: false,
    put: async (copy: LocalCopy) => {
      if (memory.isBroken) throw new Error('full')
      copies.set(copy.id, structuredClone(copy))
    },
    putNow: (copy: LocalCopy) => void copies.set(copy.id, structuredClone(copy)),
    delete: async (id: string) => void copies.delete(id),
    list: async () => [...copies.values()],
  }
  return memory
}

interface Page {
  readonly store: DocumentStore
  readonly saver: Saver
  readonly keeper: ReturnType<typeof createCopyKeeper>
  kill(): void
}

let pages = 0

/** Opens a page with a form, which ends without a farewell. */
function openPage(
  clock: InventedClock,
  server: ModelServer,
  storage: CopyStorage,
  given: { store: DocumentStore; revision: string | null; doubtful: DoubtfulRequest | null },
  nextFate: () => Fate = () => 'ok',
): Page {
  const id = `page${++pages}`
  const { store } = given
  const network = createNetwork(server, clock, nextFate)
  const saver: Saver = createSaver({
    store,
    clock,
    network,
    documentId: server.document()?.documentId ?? null,
    revision: given.revision,
    doubtful: given.doubtful,
    isAutomatic: true,
    newIdempotencyKey: () => `${id} ${Math.floor(clock.now())}`,
    beforeRequest: () => keeper.flush(),
  })
  const keeper = createCopyKeeper({
    id,
    storage,
    store,
    clock,
    saver: () => saver,
    document: () => ({ ...document, documentId: saver.state.documentId }),
  })
  return {
    store,
    saver,
    keeper,
    kill: () => {
      saver.stop()
      keeper.stop()
    },
  }
}

const openDocument = (clock: InventedClock, server: ModelServer, storage: CopyStorage, nextFate?: () => Fate) => {
  const { revision, draft: data } = server.document()!
  return openPage(
    clock,
    server,
    storage,
    { store: createDocumentStore({ shape, data: data!, now: clock.now }), revision, doubtful: null },
    nextFate,
  )
}

/** Opens the document again with the copy that the last page left. */
async function reopen(clock: InventedClock, server: ModelServer, storage: CopyStorage): Promise<Page> {
  const copies = await findCopies(storage, { ...document, documentId: server.document()?.documentId ?? null }, async () => false)
  if (copies.length === 0) return openDocument(clock, server, storage)
  const restored = restoreCopy(copies[0]!, server.document(), { shape, now: clock.now })
  const page = openPage(clock, server, storage, restored)
  await page.keeper.flush()
  for (const { id } of copies) await storage.delete(id)
  return page
}

describe('copies', () => {
  test('a change is copied within 300 ms, and the copy is removed when the server has the change', async () => {
    const [clock, memory] = [createClock(), createMemory()]
    const { store } = openDocument(clock, createModelServer(draft()), memory)
    await clock.advance(5_000)
    expect(memory.copies.size).toBe(0)
    store.set('title', 'a')
    await clock.advance(copyDelay)
    expect([...memory.copies.values()]).toMatchObject([{ ...document, revision: 'r1', doubtful: null }])
    await clock.advance(3_000)
    expect(memory.copies.size).toBe(0)
  })

  test('typing without a pause is copied while it goes on', async () => {
    const [clock, memory] = [createClock(), createMemory()]
    const { store, kill } = openDocument(clock, createModelServer(draft()), memory, () => 'lost')
    for (let key = 0; key < 20; key++) {
      store.set('title', `typed ${key}`)
      await clock.advance(100)
    }
    kill()
    const [copy] = await memory.list()
    // At most the keys of the last 300 ms are missing.
    expect(restoreCopy(copy!, null, { shape }).store.get('title')).toMatch(/typed 1[6-9]/)
  })

  test('a failure of the storage is reported, and a later success too', async () => {
    const [clock, memory] = [createClock(), createMemory()]
    const { store, keeper } = openDocument(clock, createModelServer(draft()), memory, () => 'lost')
    memory.isBroken = true
    store.set('title', 'a')
    await clock.advance(copyDelay)
    expect(keeper.isWorking).toBe(false)
    memory.isBroken = false
    store.set('title', 'ab')
    await clock.advance(copyDelay)
    expect(keeper.isWorking).toBe(true)
  })

  test('only copies of this administrator and document are found, and none of an open page', async () => {
    const storage = createBrowserStorage(new IDBFactory())
    const { toJSON } = createDocumentStore({ shape, data: draft() })
    const copy = { ...document, revision: 'r1', time: 1, form: toJSON(), doubtful: null }
    const others = [{ user: '2' }, { documentId: 'other' }, { locale: 'de' }, { type: 'api::page.page' }, { documentId: null }]
    for (const [index, other] of others.entries()) await storage.put({ ...copy, ...other, id: `other${index}` })
    for (const [index, id] of ['old', 'new', 'open'].entries()) await storage.put({ ...copy, id, time: index })
    const found = await findCopies(storage, document, async (id) => id === 'open')
    expect(found.map(({ id }) => id)).toEqual(['new', 'old'])
    await storage.delete('new')
    expect((await storage.list()).map(({ id }) => id)).not.toContain('new')
  })

  test('IndexedDB returns what was stored, with the keys of entries', async () => {
    const storage = createBrowserStorage(new IDBFactory())
    const store = createDocumentStore({ shape, data: draft() })
    const added = section('new')
    store.insert('sections', added, 1)
    await storage.put({ ...document, id: 'a', revision: 'r1', time: 1, form: store.toJSON(), doubtful: null })
    const [copy] = await storage.list()
    const restored = restoreCopy(copy!, { revision: 'r1', draft: draft() }, { shape })
    expect(restored.store.patch().body).toEqual(store.patch().body)
    expect(restored.store.get(`sections/${keyOf(added)}/heading`)).toBe('new')
  })

  test('long lists of links are restored in their order, with changes to them', async () => {
    const storage = createBrowserStorage(new IDBFactory())
    const links = Array.from({ length: 250 }, (_, index) => ({ id: index, documentId: `link${index}`, name: `Name ${index}`, fields: {} }))
    const data = { ...draft(), tags: links }
    const store = createDocumentStore({ shape, data })
    store.remove(`tags/${keyOf((store.get('tags') as Entry[])[7])}`)
    store.set('title', 'typed')
    await storage.put({ ...document, id: 'a', revision: 'r1', time: 1, form: store.toJSON(), doubtful: null })
    const [copy] = await storage.list()
    const restored = restoreCopy(copy!, { revision: 'r1', draft: data }, { shape })
    expect(restored.store.patch().body).toEqual(store.patch().body)
    expect((restored.store.get('tags') as Entry[]).map(({ name }) => name)).toEqual(
      links.filter(({ id }) => id !== 7).map(({ name }) => name),
    )
  })

  test('a page that is left stores its last copy at once, and the next write replaces it', async () => {
    const texts = new Map<string, string>()
    const left = {
      get length() {
        return texts.size
      },
      key: (index: number) => [...texts.keys()][index] ?? null,
      getItem: (name: string) => texts.get(name) ?? null,
      setItem: (name: string, text: string) => void texts.set(name, text),
      removeItem: (name: string) => void texts.delete(name),
    } as Storage
    const storage = createBrowserStorage(new IDBFactory(), left)
    const store = createDocumentStore({ shape, data: draft() })
    const copyAt = (time: number) => ({ ...document, id: 'a', revision: 'r1', time, form: store.toJSON(), doubtful: null })
    store.set('title', 'first')
    await storage.put(copyAt(1))
    store.set('title', 'last letters')
    storage.putNow(copyAt(2))
    texts.set('octavo-copy-broken', '{')
    const [copy, ...others] = await storage.list()
    expect(others).toEqual([])
    expect(restoreCopy(copy!, { revision: 'r1', draft: draft() }, { shape }).store.get('title')).toBe('last letters')
    await storage.put(copyAt(3))
    expect([...texts.keys()]).toEqual(['octavo-copy-broken'])
    // A write or a deletion under way does not take the copy of a page that is left meanwhile.
    for (const [index, begin] of [() => storage.put(copyAt(4)), () => storage.delete('a')].entries()) {
      const begun = begin()
      store.set('title', `left ${index}`)
      storage.putNow(copyAt(5 + index))
      await begun
      const [last] = await storage.list()
      expect(restoreCopy(last!, { revision: 'r1', draft: draft() }, { shape }).store.get('title')).toBe(`left ${index}`)
    }
    await storage.delete('a')
    expect(await storage.list()).toEqual([])
  })

  test('a new document that was sent without a response is made once', async () => {
    const clock = createClock()
    const memory = createMemory()
    const server = createModelServer(null)
    const store = createNewDocumentStore(shape, { sections: [], links: [], tags: [], gallery: [] }, clock.now)
    const page = openPage(clock, server, memory, { store, revision: null, doubtful: null }, () => 'lostResponse')
    store.set('title', 'a')
    await clock.advance(1_350)
    store.set('title', 'ab')
    await clock.advance(copyDelay)
    page.kill()
    expect(server.document()).not.toBeNull()
    const [copy] = await findCopies(memory, { ...document, documentId: null }, async () => false)
    const restored = restoreCopy(copy!, null, { shape, now: clock.now })
    const next = createSaver({
      store: restored.store,
      clock,
      network: createNetwork(server, clock, () => 'ok'),
      documentId: null,
      revision: null,
      doubtful: restored.doubtful,
      isAutomatic: true,
      newIdempotencyKey: () => 'another',
    })
    await clock.advance(5_000)
    expect([next.state.documentId, server.document()!.draft!.title]).toEqual(['doc', 'ab'])
  })
})

describe('texts that do not parse yet', () => {
  test('are in the copy, also in entries that were new, until they are values', async () => {
    const clock = createClock()
    const memory = createMemory()
    const server = createModelServer(draft())
    const page = openDocument(clock, server, memory)
    const quote = createEntry(shape, shape.components['block.quote']!.attributes, { __component: 'block.quote', text: 'new' })
    page.store.insert('sections', quote, 0)
    const inner = `sections/${keyOf(quote)}/data`
    await clock.advance(savingPause + 1_000)
    page.store.set('data', toUnfinished('{ "nights": ['))
    page.store.set(inner, toUnfinished('[1,'))
    page.store.set('title', 'Mill, saved')
    await clock.advance(savingPause + 1_000)
    expect(page.saver.state.phase).toBe('held')
    expect(server.document()!.draft).toMatchObject({ title: 'Mill, saved', data: { nights: [1, 2] } })
    page.kill()
    const next = await reopen(clock, server, memory)
    expect(['data', inner].map((path) => unfinishedText(next.store.get(path)))).toEqual(['{ "nights": [', '[1,'])
    next.store.set('data', { nights: [] })
    next.store.set(inner, [1, 2])
    await clock.advance(savingPause + 1_000)
    expect(next.saver.state.phase).toBe('saved')
    expect(server.document()!.draft).toMatchObject({ data: { nights: [] }, sections: [{ text: 'new', data: [1, 2] }, {}, {}, {}] })
    await clock.advance(copyDelay)
    expect(memory.copies.size).toBe(0)
  })

  test('of a new document are in its copy, which stays when it is restored', async () => {
    const [clock, memory, server] = [createClock(), createMemory(), createModelServer(null)]
    const store = createNewDocumentStore(shape, { sections: [], links: [], tags: [], gallery: [] }, clock.now)
    const page = openPage(clock, server, memory, { store, revision: null, doubtful: null }, () => 'lost')
    store.set('data', toUnfinished('{ "a"'))
    await clock.advance(copyDelay)
    page.kill()
    const next = await reopen(clock, server, memory)
    next.kill()
    expect(memory.copies.size).toBe(1)
    const last = await reopen(clock, server, memory)
    expect(unfinishedText(last.store.get('data'))).toBe('{ "a"')
    last.store.set('data', { a: 1 })
    await clock.advance(savingPause + 1_000)
    expect(server.document()!.draft).toMatchObject({ data: { a: 1 } })
  })
})

describe('a killed page', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: anyEdit(true) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.constantFrom(1, 30, 60, 350, 1_300, 4_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), pause: fc.constantFrom(0, 2_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('theirs' as const), text: fc.constantFrom('p', 'q') }) },
  )

  test('whenever it is killed, the next page has everything that was typed 300 ms before, and the server in the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.array(fc.constantFrom(...fates), { maxLength: 15 }), async (steps, course) => {
        const [clock, memory, server] = [createClock(), createMemory(), createModelServer(draft())]
        const remaining = [...course]
        const nextFate = (): Fate => remaining.shift() ?? 'ok'
        let page = openDocument(clock, server, memory, nextFate)
        for (const one of steps) {
          if (one.kind === 'wait') await clock.advance(one.time)
          else if (one.kind === 'theirs') server.edit((data) => Object.assign(data, { kicker: one.text }))
          else if (one.kind === 'kill') {
            await clock.advance(copyDelay)
            const mine = page.store.get('') as Entry
            page.kill()
            // A late request of the killed page may arrive now, or after the next page has opened.
            await clock.advance(one.pause)
            page = await reopen(clock, server, memory)
            const conflicts = page.store.conflicts()
            expect(conflicts).toEqual([])
            const next = page.store.get('') as Entry
            expect(hasEqualContent({ ...next, kicker: mine.kicker }, mine)).toBe(true)
          } else perform(page.store, one)
          if (page.saver.state.phase === 'signedOut') page.saver.resume()
        }
        for (let turn = 0; turn < 30 && (turn === 0 || page.saver.state.phase !== 'saved'); turn++) {
          page.saver.resume()
          await clock.advance(31_000)
        }
        expect(page.saver.state.phase).toBe('saved')
        expect(
          hasEqualContent({ ...readDocument(shape, server.document()!.draft!), kicker: page.store.get('kicker') }, page.store.get('')),
        ).toBe(true)
        await clock.advance(copyDelay)
        expect(memory.copies.size).toBe(0)
        page.kill()
      }),
      { seed: 29, numRuns: 250 },
    )
  })
})
