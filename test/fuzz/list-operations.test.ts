// Random operations on lists of components by ids, positions and keys, in a page's list, in a dynamic zone and in a list inside of an entry:
// what is stored is what a plain array of a model has. FUZZ_RUNS and FUZZ_SEED choose the runs; a failure prints its seed.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Entry, nameOf, page, serveGallery } from '../spec/gallery.js'
import { type AdminClient, signInClient } from '../spec/newsroom.js'
import type { Served } from '../support/serve.js'

const numRuns = Math.ceil(Number(process.env.FUZZ_RUNS ?? 400) / 16)
const seed = Number(process.env.FUZZ_SEED ?? 12_029)

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveGallery()
  ada = await signInClient(served, 'ada@fuzz.example')
})
afterAll(() => served?.close())

/** Numbers that choose an operation, its entry and its position. */
interface Choice {
  readonly kind: 'insert' | 'move' | 'remove' | 'change'
  readonly entry: number
  readonly neighbour: number
  readonly side: 'before' | 'after' | 'start' | 'end'
  readonly byPosition: boolean
}

const choice: fc.Arbitrary<Choice> = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'move', 'move', 'remove', 'change'),
  entry: fc.nat(20),
  neighbour: fc.nat(20),
  side: fc.constantFrom('before', 'after', 'start', 'end'),
  byPosition: fc.boolean(),
})
const lists = ['parts', 'body', 'groups/0/parts'] as const
type ListPath = (typeof lists)[number]
const request = fc.record(
  Object.fromEntries(lists.map((path) => [path, fc.array(choice, { maxLength: 5 })])) as Record<ListPath, fc.Arbitrary<Choice[]>>,
)

/** An entry of the model; `name` null: it is new. */
interface ModelEntry {
  readonly name: string | null
  readonly key: string
  label: string
}

let labels = 0

/** Applies choices to the model. Returns the operations and changes of the request. */
function apply(path: ListPath, list: ModelEntry[], choices: readonly Choice[]) {
  const stored = [...list]
  const operations: object[] = []
  const changes: Record<string, unknown> = {}
  const concerned = new Set<ModelEntry>()
  const anchors = new Set<ModelEntry>()
  const removed = new Set<ModelEntry>()
  const changed = new Set<ModelEntry>()
  const pick = (from: readonly ModelEntry[], number: number) => (from.length === 0 ? undefined : from[number % from.length])
  const nameIn = (entry: ModelEntry, byPosition: boolean) =>
    entry.name === null ? entry.key : byPosition ? String(stored.indexOf(entry)) : entry.name
  for (const { kind, entry: number, neighbour, side, byPosition } of choices) {
    if (kind === 'change') {
      const entry = pick(
        stored.filter((one) => !removed.has(one) && !changed.has(one)),
        number,
      )
      if (entry === undefined) continue
      changed.add(entry)
      entry.label = `label ${++labels}`
      changes[`${path}/${nameIn(entry, byPosition)}/label`] = entry.label
      continue
    }
    const free = stored.filter((one) => !concerned.has(one) && !removed.has(one))
    if (kind === 'remove') {
      const entry = pick(
        free.filter((one) => !anchors.has(one) && !changed.has(one)),
        number,
      )
      if (entry === undefined) continue
      removed.add(entry)
      list.splice(list.indexOf(entry), 1)
      operations.push({ remove: nameIn(entry, byPosition) })
      continue
    }
    const entry = kind === 'move' ? pick(free, number) : { name: null, key: `k${++labels}`, label: `label ${labels}` }
    if (entry === undefined) continue
    const anchor = pick(
      list.filter((one) => one !== entry),
      neighbour,
    )
    const isBeside = anchor !== undefined && (side === 'before' || side === 'after')
    if (kind === 'move') list.splice(list.indexOf(entry), 1)
    if (isBeside) anchors.add(anchor)
    const end = side === 'start' ? 0 : list.length
    list.splice(isBeside ? list.indexOf(anchor) + (side === 'after' ? 1 : 0) : end, 0, entry)
    concerned.add(entry)
    const position = isBeside ? { [side]: nameIn(anchor, !byPosition) } : { at: side === 'start' ? 'start' : 'end' }
    const inserted = { ...(path === 'body' ? { __component: 'block.part' } : {}), label: entry.label }
    operations.push({ ...position, ...(kind === 'move' ? { move: nameIn(entry, byPosition) } : { insert: inserted, key: entry.key }) })
  }
  return { operations, changes }
}

interface Draft {
  readonly parts: readonly Entry[]
  readonly body: readonly Entry[]
  readonly groups: readonly { readonly parts: readonly Entry[] }[]
}

/** The entries of a list in a draft. */
const entriesAt = (draft: Draft, path: ListPath): readonly Entry[] => (path === 'groups/0/parts' ? draft.groups[0]!.parts : draft[path])

test('operations on lists do what they do to an array', async () => {
  const run = async (requests: readonly Record<ListPath, Choice[]>[]): Promise<void> => {
    const parts = ['a', 'b', 'c'].map((label) => ({ label }))
    const body = parts.map((part) => ({ __component: 'block.part', ...part }))
    const made = await ada.send('POST', `/content/${page}`, { data: { title: 'Random', parts, body, groups: [{ parts }] } })
    const path = `/content/${page}/${made.body.data.documentId}`
    const model = (draft: Draft, list: ListPath): ModelEntry[] =>
      entriesAt(draft, list).map((entry) => ({ name: nameOf(entry), key: '', label: entry.label! }))
    let { draft } = made.body.data
    let tag = made.headers.get('etag')!
    for (const choices of requests) {
      const models = lists.map((list) => ({ list, entries: model(draft, list) }))
      const applied = models.map(({ list, entries }) => ({ list, entries, ...apply(list, entries, choices[list]) }))
      const sent = {
        changes: Object.assign({}, ...applied.map(({ changes }) => changes)),
        lists: Object.fromEntries(applied.map(({ list, operations }) => [list, operations])),
      }
      const written = await ada.send('PATCH', path, sent, { 'if-match': tag, prefer: 'return=minimal' })
      expect(written.status, `${JSON.stringify(sent)} ${written.text}`).toBe(200)
      tag = written.headers.get('etag')!
      draft = (await ada.get(path)).body.data.draft
      const { ids } = written.body.data
      for (const { list, entries } of applied) {
        const about = `${list} ${JSON.stringify(sent)}`
        const component = list === 'body' ? 'block.part' : ''
        const names = entries.map(({ name, key }) => name ?? `${component}#${ids[`${list}/${key}`]}`)
        expect(entriesAt(draft, list).map(nameOf), about).toEqual(names)
        expect(
          entriesAt(draft, list).map(({ label }) => label),
          about,
        ).toEqual(entries.map(({ label }) => label))
      }
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 4 }), run), { seed, numRuns })
})
