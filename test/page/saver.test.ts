// Saving with an invented clock and network: the times of requests, and what is stored after any sequence of failures and changes by others.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSaver, type Outcome, type SaverNetwork, type SaverOptions, savingPause } from '../../admin/form/saver.js'
import { createDocumentStore, createNewDocumentStore, type DocumentStore } from '../../admin/form/store.js'
import { type Entry, hasEqualContent, keyOf, readDocument } from '../../admin/form/values.js'
import { createClock, createNetwork, type Fate, fates } from './support/clock.js'
import { anyEdit, draft, type Edit, perform, section } from './support/drafts.js'
import { createModelServer, type ModelServer, refusedLetter, shape } from './support/model-server.js'

const runs = { seed: 29, numRuns: 250 }

interface Setting {
  readonly store?: DocumentStore
  readonly server?: ModelServer
  readonly nextFate?: () => Fate
  readonly options?: Partial<SaverOptions>
  readonly wrap?: (network: SaverNetwork) => SaverNetwork
}

/** A saver on the model server. */
function start({ server = createModelServer(draft()), nextFate = () => 'ok', options = {}, wrap = (one) => one, ...given }: Setting = {}) {
  const clock = createClock()
  const present = server.document()
  const store = given.store ?? createDocumentStore({ shape, data: present?.draft ?? {}, now: clock.now })
  const requests: string[] = []
  const network = createNetwork(server, clock, nextFate)
  let keys = 0
  const saver = createSaver({
    store,
    clock,
    network: wrap({
      ...network,
      create: (data, key) => {
        requests.push(`create ${key} ${Object.keys(data).join()}`)
        return network.create(data, key)
      },
      change: (id, body, revision) => {
        requests.push(`change ${[...Object.keys(body.changes), ...Object.keys(body.lists)].join()}`)
        return network.change(id, body, revision)
      },
    }),
    documentId: present?.documentId ?? null,
    revision: present?.revision ?? null,
    isAutomatic: true,
    newIdempotencyKey: () => `key${++keys}`,
    ...options,
  })
  const stored = () => readDocument(shape, server.document()!.draft!)
  return { clock, server, store, saver, requests, stored }
}

describe('when', () => {
  test('a change is saved 1.2 s after the last one, and only what changed is sent', async () => {
    const { clock, store, saver, requests, stored } = start()
    store.set('title', 'a')
    await clock.advance(savingPause - 1)
    store.set('title', 'ab')
    store.set('note', 'c')
    await clock.advance(savingPause - 1)
    expect([requests, saver.state.phase]).toEqual([[], 'waiting'])
    await clock.advance(1)
    expect([requests, saver.state.phase]).toEqual([['change title,note'], 'saving'])
    await clock.advance(100)
    expect([stored().title, stored().note, saver.state.phase]).toEqual(['ab', 'c', 'saved'])
  })

  test('leaving a field saves at once, and typing without a pause every ten seconds', async () => {
    const { clock, store, saver, requests } = start()
    saver.hurry()
    store.set('title', 'a')
    saver.hurry()
    await clock.advance(100)
    expect(requests).toHaveLength(1)
    for (let second = 0; second < 21; second++) {
      store.set('title', `typed ${second}`)
      await clock.advance(1_000)
    }
    expect(requests).toHaveLength(3)
  })

  test('one save runs at a time, and changes during it go with the next', async () => {
    const { clock, store, requests, stored } = start({ nextFate: () => 'slow' })
    store.set('title', 'a')
    await clock.advance(savingPause)
    store.set('title', 'ab')
    store.set('note', 'x')
    await clock.advance(4_000)
    expect(requests).toEqual(['change title'])
    expect(store.get('title')).toBe('ab')
    await clock.advance(20_000)
    expect(requests).toEqual(['change title', 'change title,note'])
    expect([stored().title, stored().note]).toEqual(['ab', 'x'])
  })

  test('a change that was undone is not sent', async () => {
    const { clock, store, saver, requests } = start()
    store.set('title', 'a')
    store.undo()
    await clock.advance(5_000)
    expect([requests, saver.state.phase]).toEqual([[], 'saved'])
  })

  test('a type without drafts is saved only on request', async () => {
    const { clock, store, saver, requests, stored } = start({ options: { isAutomatic: false } })
    store.set('title', 'a')
    saver.hurry()
    await clock.advance(60_000)
    expect([requests, saver.state.phase]).toEqual([[], 'waiting'])
    const saved = saver.save()
    await clock.advance(100)
    await saved
    expect([stored().title, saver.state.phase]).toEqual(['a', 'saved'])
  })

  test('leaving waits until everything is stored, including text typed during the save', async () => {
    const { clock, store, saver, stored } = start()
    store.set('title', 'a')
    let isDone = false
    void saver.save().then(() => {
      isDone = true
    })
    await clock.advance(20)
    store.set('title', 'ab')
    await clock.advance(80)
    expect(isDone).toBe(false)
    await clock.advance(100)
    expect([isDone, stored().title]).toEqual([true, 'ab'])
  })
})

describe('new documents', () => {
  test('a new document is made with its first value, once, even if the response is lost', async () => {
    const results: Fate[] = ['lostResponse', 'lost', 'ok']
    const server = createModelServer(null)
    const store = createNewDocumentStore(shape, { note: 'default', sections: [], links: [], tags: [], gallery: [] })
    const created: string[] = []
    const { clock, requests, saver, stored } = start({
      server,
      store,
      nextFate: () => results.shift() ?? 'ok',
      options: { onCreated: (id) => created.push(id) },
    })
    await clock.advance(10_000)
    expect(requests).toEqual([])
    store.set('title', 'a')
    store.insert('sections', section('first'), 0)
    await clock.advance(savingPause + 100)
    store.set('title', 'ab')
    await clock.advance(20_000)
    expect(new Set(requests.slice(0, 3)).size).toBe(1)
    expect(requests.slice(3)).toEqual(['change title'])
    expect([created, saver.state.documentId, stored().title]).toEqual([['doc'], 'doc', 'ab'])
    store.set(`sections/${keyOf((store.get('sections') as Entry[])[0])}/heading`, 'second')
    await clock.advance(2_000)
    expect(stored().sections).toMatchObject([{ heading: 'second', text: null }])
  })

  test('a document that others deleted is made again with my values', async () => {
    const server = createModelServer(draft())
    const { clock, store, saver } = start({ server, wrap: (network) => ({ ...network, create: async (data) => recreate(data) }) })
    let made: Entry | null = null
    const recreate = (data: Entry): Outcome => {
      made = data
      return { kind: 'stored', documentId: 'other', revision: 'r1' }
    }
    server.delete()
    store.set('title', 'mine')
    await clock.advance(2_000)
    expect(saver.state.phase).toBe('gone')
    store.set('note', 'also mine')
    await clock.advance(60_000)
    expect(made).toBeNull()
    saver.createAgain()
    await clock.advance(2_000)
    expect(made).toMatchObject({ title: 'mine', note: 'also mine', kicker: 'Water', tags: { set: [{ documentId: 'water' }, {}, {}] } })
    expect([saver.state.documentId, saver.state.phase]).toEqual(['other', 'saved'])
  })
})

describe('failures', () => {
  test('without network typing goes on, and everything is saved when it is back', async () => {
    let fate: Fate = 'lost'
    const { clock, store, saver, stored } = start({ nextFate: () => fate })
    store.set('title', 'a')
    await clock.advance(5_000)
    expect(saver.state.phase).toBe('offline')
    store.set('note', 'b')
    await clock.advance(60_000)
    fate = 'ok'
    saver.resume()
    await clock.advance(3_000)
    expect([stored().title, stored().note, saver.state.phase]).toEqual(['a', 'b', 'saved'])
  })

  test('the end of a session stops saving until the next sign-in', async () => {
    let fate: Fate = 'signedOut'
    const { clock, store, saver, requests, stored } = start({ nextFate: () => fate })
    store.set('title', 'a')
    await clock.advance(2_000)
    store.set('title', 'ab')
    await clock.advance(60_000)
    expect([requests.length, saver.state.phase, store.get('title')]).toEqual([1, 'signedOut', 'ab'])
    fate = 'ok'
    saver.resume()
    await clock.advance(100)
    expect([stored().title, saver.state.phase]).toEqual(['ab', 'saved'])
  })

  test('values that the server would not store are marked, and the rest is saved', async () => {
    const { clock, store, saver, requests, stored } = start()
    const wrong = `wrong ${refusedLetter}`
    store.set('title', wrong)
    store.set('note', 'right')
    const added = section(wrong)
    store.insert('sections', added, 0)
    await clock.advance(2_000)
    expect([stored().title, stored().note, saver.state.phase]).toEqual(['Mill', 'right', 'held'])
    expect(store.allErrors().map(({ path }) => path)).toEqual([
      'title',
      `sections/${keyOf(added)}/heading`,
      `sections/${keyOf(added)}/links/${keyOf((added.links as Entry[])[0])}/label`,
    ])
    expect(store.get('title')).toBe(wrong)
    await clock.advance(60_000)
    expect(requests).toHaveLength(1)
    store.set('kicker', 'other')
    await clock.advance(2_000)
    expect(requests.at(-1)).toBe('change kicker')
    store.set('title', 'right')
    store.set(`sections/${keyOf(added)}/heading`, 'right')
    store.set(`sections/${keyOf(added)}/links/${keyOf((added.links as Entry[])[0])}/label`, 'right')
    await clock.advance(2_000)
    expect([stored().title, saver.state.phase, store.errorCount('')]).toEqual(['right', 'saved', 0])
    expect(hasEqualContent(stored(), store.get(''))).toBe(true)
  })

  test('after an error of a whole list the document is loaded, and nothing is inserted twice', async () => {
    let isFirst = true
    const refuseList = (network: SaverNetwork): SaverNetwork => ({
      ...network,
      change: async (...given) => {
        const outcome = await network.change(...given)
        if (!isFirst || outcome.kind !== 'stored') return outcome
        isFirst = false
        return { ...outcome, ids: {}, refused: [{ path: ['sections', '#99'], message: 'no', code: 'forbidden' }] }
      },
    })
    const { clock, store, saver, stored } = start({ wrap: refuseList })
    const added = section('new')
    store.insert('sections', added, 0)
    store.set('title', 'a')
    await clock.advance(3_000)
    store.set(`sections/${keyOf(added)}/heading`, 'newer')
    await clock.advance(3_000)
    expect((stored().sections as Entry[]).map(({ heading, text }) => heading ?? text)).toEqual(['newer', 'one', 'two', 'three'])
    expect([stored().title, saver.state.phase]).toEqual(['a', 'saved'])
  })

  test('a server that refuses a whole request gets it without these values', async () => {
    const refuseWhole = (network: SaverNetwork): SaverNetwork => ({
      ...network,
      change: async (id, body, revision) =>
        'title' in body.changes
          ? { kind: 'refused', message: 'no', errors: [{ path: ['title'], message: 'too long', code: 'maxLength', params: { max: 2 } }] }
          : network.change(id, body, revision),
    })
    const { clock, store, saver, stored } = start({ wrap: refuseWhole })
    store.set('title', 'long')
    store.set('note', 'right')
    await clock.advance(2_000)
    expect([stored().note, saver.state.phase, store.errors('title')[0]?.code]).toEqual(['right', 'held', 'maxLength'])
  })

  test('a request that is refused as a whole is not repeated before a change', async () => {
    let calls = 0
    const { clock, store, saver } = start({
      wrap: (network) => ({
        ...network,
        change: async () => {
          calls += 1
          return { kind: 'refused', message: 'The hook says no', errors: [{ path: [], message: 'The hook says no' }] }
        },
      }),
    })
    store.set('title', 'a')
    await clock.advance(60_000)
    expect([calls, saver.state.phase, saver.state.message]).toEqual([1, 'failed', 'The hook says no'])
    store.set('title', 'ab')
    await clock.advance(2_000)
    expect(calls).toBe(2)
  })

  test('a free uid of the server fills the field unless it was changed during the request', async () => {
    const withUid = (network: SaverNetwork): SaverNetwork => ({
      ...network,
      change: async (...given) => ({ ...(await network.change(...given)), values: { kicker: 'free-uid' } }) as Outcome,
    })
    const { clock, store } = start({ wrap: withUid })
    store.set('title', 'a')
    await clock.advance(1_250)
    store.set('kicker', 'my own')
    await clock.advance(2_000)
    expect(store.get('kicker')).toBe('free-uid')
    expect(store.isChanged()).toBe(false)
  })
})

describe('others', () => {
  test('their change of another field is merged and told; the save is repeated', async () => {
    const taken: (readonly string[])[] = []
    const { clock, server, store, saver, requests, stored } = start({ options: { onReceived: (received) => taken.push(received.taken) } })
    store.set('title', 'mine')
    server.edit((data) => Object.assign(data, { kicker: 'theirs' }))
    await clock.advance(2_000)
    expect(requests).toEqual(['change title', 'change title'])
    expect([stored().title, stored().kicker, taken, saver.state.phase]).toEqual(['mine', 'theirs', [['kicker']], 'saved'])
  })

  test('a conflict is not sent until it is decided', async () => {
    const { clock, server, store, saver, stored } = start()
    store.set('title', 'mine')
    server.edit((data) => Object.assign(data, { title: 'theirs' }))
    await clock.advance(2_000)
    expect([stored().title, store.get('title'), saver.state.phase]).toEqual(['theirs', 'mine', 'held'])
    store.decide('title', 'mine')
    await clock.advance(2_000)
    expect([stored().title, saver.state.phase]).toEqual(['mine', 'saved'])
  })

  test('a document that was loaded before a save never takes back what the save stored', async () => {
    const { clock, server, store, saver } = start()
    store.set('title', 'mine')
    const saved = saver.save()
    const refreshed = saver.refresh()
    server.edit((data) => Object.assign(data, { kicker: 'theirs' }))
    await clock.advance(1_000)
    await Promise.all([saved, refreshed])
    expect([store.get('title'), store.get('kicker')]).toEqual(['mine', 'theirs'])
  })

  test('another request waits for the save, and its document is merged', async () => {
    const { clock, server, store, saver } = start()
    store.set('title', 'mine')
    void saver.save()
    let seen: string | null = null
    const acted = saver.act(async (_, revision) => {
      seen = revision
      server.edit((data) => Object.assign(data, { note: 'published' }))
      return server.document()
    })
    store.set('summary', 'typed meanwhile')
    await clock.advance(5_000)
    await acted
    expect([seen, store.get('note'), store.get('summary'), saver.state.phase]).toEqual(['r3', 'published', 'typed meanwhile', 'saved'])
  })
})

/** A step of a random course of events. */
type Step =
  | Edit
  | { readonly kind: 'wait'; readonly time: number }
  | { readonly kind: 'theirs'; readonly what: number; readonly text: string }
  | { readonly kind: 'save' }
  | { readonly kind: 'refresh' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: anyEdit() },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), time: fc.constantFrom(10, 50, 400, 1_300, 6_000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('theirs' as const), what: fc.nat({ max: 5 }), text: fc.constantFrom('p', 'q', 'r') }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'save' as const }, { kind: 'refresh' as const }) },
)
const fate = fc.constantFrom(...fates)

/** Changes values that only the other administrator changes. */
function editTheirs(server: ModelServer, what: number, text: string, added: string[]): void {
  server.edit((data) => {
    const sections = data.sections as Record<string, unknown>[]
    const links = data.links as Record<string, unknown>[]
    if (what === 0) data.kicker = text
    else if (what === 1) (data.seo as Record<string, unknown>).metaDescription = text
    else if (what === 2) links.push(links.shift()!)
    else if (what === 3) links[0]!.label = text
    else if (what === 4) {
      added.push(`theirs ${added.length}`)
      sections.splice(sections.length >> 1, 0, server.withIds({ __component: 'block.quote', text: added.at(-1) }))
    } else data.data = { text }
  })
}

describe('request failures', () => {
  test('in the end the server has base + mine, and theirs where I changed nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(fate, { maxLength: 20 }), async (steps, course) => {
        const remaining = [...course]
        const { clock, server, store, saver } = start({ nextFate: () => remaining.shift() ?? 'ok' })
        const added: string[] = []
        for (const one of steps) {
          if (one.kind === 'wait') await clock.advance(one.time)
          else if (one.kind === 'theirs') editTheirs(server, one.what, one.text, added)
          else if (one.kind === 'save') void saver.save()
          else if (one.kind === 'refresh') void saver.refresh()
          else {
            // An entry that they added is theirs.
            const before = store.get('sections')
            perform(store, one)
            const removed = (before as Entry[]).filter(
              (entry) => !(store.get('sections') as Entry[]).some((other) => keyOf(other) === keyOf(entry)),
            )
            for (const { text } of removed) added.splice(0, added.length, ...added.filter((other) => other !== text))
          }
          if (saver.state.phase === 'signedOut') saver.resume()
        }
        for (let turn = 0; turn < 40 && saver.state.phase !== 'saved'; turn++) {
          for (const { path } of store.conflicts()) store.decide(path, 'mine')
          saver.resume()
          await clock.advance(31_000)
        }
        await Promise.all([saver.refresh(), clock.advance(31_000)])
        expect(saver.state.phase).toBe('saved')
        expect(store.isChanged()).toBe(false)
        expect(hasEqualContent(readDocument(shape, server.document()!.draft!), store.get(''))).toBe(true)
        const texts = (store.get('sections') as Entry[]).map(({ heading, text }) => heading ?? text)
        expect(new Set(texts).size).toBe(texts.length)
        saver.stop()
      }),
      runs,
    )
  })

  test('fields never jump: what I typed last is in its field at every step, and on the server in the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.array(fate, { maxLength: 20 }), async (steps, course) => {
        const remaining = [...course]
        const { clock, server, store, saver } = start({ nextFate: () => remaining.shift() ?? 'ok' })
        const typed = new Map<string, string>()
        const check = () => {
          for (const [path, text] of typed) expect(store.get(path)).toBe(text)
        }
        for (const one of steps) {
          if (one.kind === 'wait') await clock.advance(one.time)
          else if (one.kind === 'theirs') editTheirs(server, one.what % 3, one.text, [])
          else if (one.kind === 'save' || one.kind === 'refresh') void saver[one.kind]()
          else if (one.kind === 'type') {
            store.set(one.field, one.text)
            typed.set(one.field, one.text)
          }
          check()
          if (saver.state.phase === 'signedOut') saver.resume()
        }
        for (let turn = 0; turn < 40 && saver.state.phase !== 'saved'; turn++) {
          saver.resume()
          await clock.advance(31_000)
          check()
        }
        expect([saver.state.phase, store.conflicts()]).toEqual(['saved', []])
        const stored = createDocumentStore({ shape, data: server.document()!.draft! })
        for (const [path, text] of typed) expect(stored.get(path)).toBe(text)
        saver.stop()
      }),
      runs,
    )
  })

  test('nobody overwrites unknowingly: a value that is gone was shown to whoever replaced it', async () => {
    const move = fc.oneof(
      fc.record({ kind: fc.constant('mine' as const) }),
      fc.record({ kind: fc.constant('theirs' as const) }),
      fc.record({ kind: fc.constant('wait' as const), time: fc.constantFrom(20, 60, 700, 1_300, 5_000) }),
      fc.record({ kind: fc.constant('decide' as const), side: fc.constantFrom('mine' as const, 'theirs' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 25 }), fc.array(fate, { maxLength: 15 }), async (moves, course) => {
        const remaining = [...course]
        const { clock, server, store, saver } = start({ nextFate: () => remaining.shift() ?? 'ok' })
        const seenByMe = new Set<unknown>()
        const seenByThem = new Set<unknown>()
        const look = () => {
          seenByMe.add(store.get('title')).add(store.conflict('title')?.theirs)
          seenByThem.add(server.document()!.draft!.title)
        }
        const [mine, theirs]: [string[], string[]] = [[], []]
        let texts = 0
        let hasGivenUp = false
        look()
        for (const one of moves) {
          if (one.kind === 'wait') {
            for (let time = 0; time < one.time; time += 10) {
              await clock.advance(10)
              look()
            }
          } else if (one.kind === 'mine') mine.push(`mine ${texts++}`) && store.set('title', mine.at(-1))
          else if (one.kind === 'theirs')
            server.edit((data) => Object.assign(data, { title: theirs[theirs.push(`theirs ${texts++}`) - 1] }))
          else {
            hasGivenUp ||= one.side === 'theirs' && store.conflict('title') !== undefined
            store.decide('title', one.side)
          }
          look()
          if (saver.state.phase === 'signedOut') saver.resume()
        }
        for (let turn = 0; turn < 40 && saver.state.phase !== 'saved'; turn++) {
          look()
          for (const { path } of store.conflicts()) store.decide(path, 'mine')
          saver.resume()
          await clock.advance(31_000)
          look()
        }
        await Promise.all([saver.refresh(), clock.advance(31_000)])
        look()
        const end = server.document()!.draft!.title
        expect([store.get('title'), saver.state.phase]).toEqual([end, 'saved'])
        // A last value is gone only if the other one has seen it, or its writer chose the other value.
        if (theirs.length > 0 && !theirs.includes(String(end))) expect(seenByMe.has(theirs.at(-1))).toBe(true)
        if (mine.length > 0 && !mine.includes(String(end)) && !hasGivenUp) expect(seenByThem.has(mine.at(-1))).toBe(true)
        saver.stop()
      }),
      runs,
    )
  })
})
