// Two callers with separate documents: random writes of one neither change nor reveal documents of the other.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { ScopeCall } from '../../src/foundation/public/type-settings.js'
import { addToken, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const collection = (name: string, attributes: object, options: object = {}) => ({
  kind: 'collectionType',
  collectionName: `${name}s`,
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  options,
  attributes,
})
const relation = (kind: string, target: string, sides: object = {}) => ({ type: 'relation', relation: kind, target, ...sides })
const note = 'api::note.note'
const card = 'api::card.card'
const label = 'api::label.label'
const pin = 'api::pin.pin'

/** Notes have an owner by name; cards belong to a note, or to several; labels are everybody's. */
const files = {
  'src/api/note/content-types/note/schema.json': collection(
    'note',
    {
      title: { type: 'string' },
      owner: { type: 'string' },
      pin: { type: 'relation', relation: 'morphOne', target: pin, morphBy: 'about' },
      card: relation('oneToOne', card, { inversedBy: 'note' }),
      cards: relation('oneToMany', card, { mappedBy: 'home' }),
      labels: relation('manyToMany', label, { inversedBy: 'notes' }),
      links: relation('manyToMany', note, { inversedBy: 'linked' }),
      linked: relation('manyToMany', note, { mappedBy: 'links' }),
      part: { type: 'component', component: 'shared.part', repeatable: true },
    },
    { draftAndPublish: true },
  ),
  'src/api/card/content-types/card/schema.json': collection('card', {
    title: { type: 'string' },
    owner: { type: 'string' },
    note: relation('oneToOne', note, { mappedBy: 'card' }),
    home: relation('manyToOne', note, { inversedBy: 'cards' }),
  }),
  'src/api/label/content-types/label/schema.json': collection('label', {
    title: { type: 'string' },
    notes: relation('manyToMany', note, { mappedBy: 'labels' }),
  }),
  'src/api/pin/content-types/pin/schema.json': collection('pin', {
    title: { type: 'string' },
    about: { type: 'relation', relation: 'morphToOne' },
  }),
  'src/components/shared/part.json': {
    collectionName: 'components_shared_parts',
    info: { displayName: 'part' },
    attributes: { text: { type: 'string' }, notes: relation('oneToMany', note), card: relation('oneToOne', card) },
  },
}

const owners = ['ann', 'bob'] as const
type Owner = (typeof owners)[number]

/** Repeatable numbers from 0 to `below` - 1. */
function openRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('scopes and writes', () => {
  let served: Served
  const everything = { token: 'everybody' }

  const send = (method: string, path: string, token: string, data?: unknown): Promise<TestResponse> =>
    served.request(path, {
      method,
      token,
      ...(data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }),
    })

  beforeAll(async () => {
    const ids = new Map<number, Owner>()
    const scope = ({ caller }: ScopeCall) => caller.kind === 'token' && (ids.has(caller.id!) ? { owner: ids.get(caller.id!)! } : true)
    served = await serveProject(files, { environment: secrets, code: { types: { [note]: { scope }, [card]: { scope } } } })
    await addToken(served, everything.token, { type: 'full-access' })
    for (const owner of owners) {
      await addToken(served, owner, { type: 'full-access' })
      const [row] = await served.sql('select id from strapi_api_tokens where name = ?', owner)
      ids.set(row!.id, owner)
    }
  })
  afterAll(() => served.close())

  /** All that an owner sees of its documents and of labels. */
  async function stateOf(owner: Owner): Promise<string> {
    const populate =
      'populate[part][populate]=*&populate[card]=true&populate[cards]=true&populate[links]=true&populate[linked]=true&populate[labels][fields][0]=documentId'
    const pages = ['draft', 'published'].map((status) => `/api/notes?status=${status}&${populate}&pagination[pageSize]=100`)
    const answers = await Promise.all([...pages, '/api/cards?populate=*&pagination[pageSize]=100'].map((path) => send('GET', path, owner)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    return JSON.stringify(answers.map(({ body }) => body.data))
  }

  /** The links of drafts from one owner's documents to another's, which neither of them sees. */
  async function linksAcross(): Promise<string> {
    const drafts = '(select * from notes where published_at is null)'
    const links = async (table: string, left: string, leftRows: string, right: string, rightRows: string) =>
      served.sql(
        `select l."${left}" as one, l."${right}" as other from "${table}" l join ${leftRows} a on a.id = l."${left}" join ${rightRows} b on b.id = l."${right}"
         where coalesce(a.owner, '') <> coalesce(b.owner, '') order by 1, 2`,
      )
    return JSON.stringify([
      await links('notes_links_lnk', 'note_id', drafts, 'inv_note_id', drafts),
      await links('notes_card_lnk', 'note_id', drafts, 'card_id', 'cards'),
      await links('cards_home_lnk', 'note_id', drafts, 'card_id', 'cards'),
    ])
  }

  rule('scopes.4', 'random writes of two callers change and show nothing of the other', async () => {
    const random = openRandom(Number(process.env.SEED ?? 7))
    const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!
    const known: Record<'notes' | 'cards' | 'labels', { documentId: string; id: number }[]> = { notes: [], cards: [], labels: [] }
    const mark = { ann: 'of-ann', bob: 'of-bob' }
    const make = async (path: 'notes' | 'cards' | 'labels', data: object, token: string): Promise<void> => {
      const answer = await send('POST', `/api/${path}`, token, data)
      expect(answer.status).toBe(201)
      known[path].push(answer.body.data)
    }
    for (const title of ['red', 'blue']) await make('labels', { title }, everything.token)
    for (let count = 0; count < 4; count++) {
      for (const owner of owners) {
        await make('cards', { title: mark[owner], owner }, everything.token)
        await make('notes', { title: mark[owner], owner }, everything.token)
      }
    }
    // Links across scopes, as an administrator creates them.
    for (const { documentId } of known.notes)
      await send('PUT', `/api/notes/${documentId}`, everything.token, {
        links: [pick(known.notes).documentId, pick(known.notes).documentId],
        cards: [pick(known.cards).documentId],
        card: pick(known.cards).documentId,
        labels: [pick(known.labels).documentId],
        part: [{ text: 'part', notes: [pick(known.notes).documentId], card: pick(known.cards).documentId }],
      })
    const target = (path: 'notes' | 'cards' | 'labels'): unknown => {
      const { documentId, id } = pick(known[path])
      return pick<unknown>([documentId, { documentId }, id])
    }
    const many = (path: 'notes' | 'cards' | 'labels'): unknown =>
      pick([
        () => [target(path)],
        () => [],
        () => ({ set: [target(path), target(path)] }),
        () => ({ connect: [target(path)] }),
        () => ({ disconnect: [target(path)] }),
        () => ({ connect: [target(path)], disconnect: [target(path)] }),
      ])()
    const one = (path: 'notes' | 'cards'): unknown =>
      pick([() => target(path), () => null, () => ({ connect: [target(path)] }), () => ({ disconnect: [target(path)] })])()
    const values: Readonly<Record<'notes' | 'cards' | 'labels', Readonly<Record<string, (owner: Owner) => unknown>>>> = {
      notes: {
        title: (owner) => mark[owner],
        owner: () => pick([...owners, 'eve', null]),
        card: () => one('cards'),
        cards: () => many('cards'),
        labels: () => many('labels'),
        links: () => many('notes'),
        linked: () => many('notes'),
        part: () => pick([() => [], () => [{ text: 'new', notes: many('notes'), card: one('cards') }]])(),
      },
      cards: { title: (owner) => mark[owner], owner: () => pick(owners), note: () => one('notes'), home: () => one('notes') },
      labels: { title: () => pick(['red', 'green']), notes: () => many('notes') },
    }
    const statuses = new Map<number, number>()
    const rounds = Number(process.env.ROUNDS ?? 500)
    for (let round = 0; round < rounds; round++) {
      const [owner, other] = pick([
        ['ann', 'bob'],
        ['bob', 'ann'],
      ] as const)
      const [before, across] = [await stateOf(other), await linksAcross()]
      const path = pick(['notes', 'notes', 'cards', 'labels'] as const)
      const names = Object.keys(values[path]).filter(() => random(3) === 0)
      const data = Object.fromEntries(names.map((name) => [name, values[path][name]!(owner)]))
      const { documentId } = pick(known[path])
      const [method, address, body] = pick([
        ['POST', `/api/${path}?populate=*`, { owner, ...data }],
        ['PUT', `/api/${path}/${documentId}?populate=*`, data],
        ['PUT', `/api/${path}/${documentId}?populate=*`, data],
        ['PUT', `/api/${path}/${documentId}?status=draft&populate=*`, data],
        ['DELETE', `/api/${path}/${documentId}`, undefined],
        ['POST', `/api/${path}/${documentId}/actions/${pick(['publish', 'unpublish', 'discard'])}`, undefined],
      ] as const)
      if (method === 'DELETE' && path === 'labels') continue
      const { owner: _owner, ...others } = (body ?? {}) as Record<string, unknown>
      const answer = await send(method, address, owner, body === undefined ? undefined : path === 'labels' ? others : body)
      const sent = `${round} ${owner} ${method} ${address} ${JSON.stringify(body)}: ${answer.status} ${answer.text.slice(0, 300)}`
      expect(answer.status, sent).toBeLessThan(500)
      expect(answer.text, sent).not.toContain(mark[other])
      expect(await stateOf(other), sent).toBe(before)
      if (method === 'PUT') expect(await linksAcross(), sent).toBe(across)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status === 201) known[path].push(answer.body.data)
    }
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([200, 201, 204, 400, 403, 404]))
    expect(statuses.get(200)).toBeGreaterThan(rounds / 20)
  })

  rule('scopes.4', 'a target of a polymorphic relation is not taken away from a hidden document', async () => {
    const make = async (path: string, data: object) => (await send('POST', `/api/${path}`, everything.token, data)).body.data.documentId
    const [theirs, own] = [await make('pins', { title: 'theirs' }), await make('pins', { title: 'own' })]
    const hidden = await make('notes', { owner: 'bob', pin: theirs })
    const note = await make('notes', { owner: 'ann' })
    expect((await send('PUT', `/api/notes/${note}`, 'ann', { pin: theirs })).status).toBe(403)
    expect((await send('PUT', `/api/notes/${note}`, 'ann', { pin: own })).status).toBe(200)
    const pinOf = async (id: string) =>
      (await send('GET', `/api/notes/${id}?populate=pin&status=draft`, everything.token)).body.data.pin?.title
    expect([await pinOf(hidden), await pinOf(note)]).toEqual(['theirs', 'own'])
  })

  rule('scopes.4', 'positions do not reveal linked hidden documents', async () => {
    const make = async (data: object) => (await send('POST', '/api/notes?status=draft', everything.token, data)).body.data
    const [linked, other, own] = [await make({ owner: 'bob' }), await make({ owner: 'bob' }), await make({ owner: 'ann' })]
    const { documentId } = await make({ owner: 'ann', links: [linked.documentId] })
    const answers = []
    for (const { id } of [linked, other]) {
      const links = { connect: [{ documentId: own.documentId, position: { before: id } }] }
      const { status, text } = await send('PUT', `/api/notes/${documentId}?status=draft`, 'ann', { links })
      answers.push(`${status} ${text.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), 'id')}`)
    }
    expect(answers[0]).toBe(answers[1])
  })
})
