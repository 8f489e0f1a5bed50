// Many requests at once on a database server, to one process and to two: unique values, relations, publication and permissions hold.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import { closeServices, type NotesService, range, serveTwoNotes } from './notes-service.js'
import { describeServers } from './server.js'

const statusesOf = (answers: readonly TestResponse[]): readonly number[] => answers.map(({ status }) => status)

describeServers('requests at once', (server, kind) => {
  let url: string
  let first: NotesService
  let second: NotesService
  beforeAll(async () => {
    ;({ url, first, second } = await serveTwoNotes(server()))
  })
  afterAll(() => closeServices(second, first))

  /** One of the services, in turn. */
  const both = (index: number): NotesService => (index % 2 === 0 ? first : second)
  const ways: readonly [string, (index: number) => NotesService][] = [
    ['one process', () => first],
    ['two processes', both],
  ]

  async function created(service: NotesService, path: string, data: object): Promise<string> {
    const { status, text, body } = await service.send('POST', path, data)
    expect(status, text).toBe(201)
    return body.data.documentId as string
  }

  it.each(ways)('one of 40 that create the same unique value wins: %s', async (name, of) => {
    for (const round of range(3)) {
      const answers = await Promise.all(range(40).map((index) => of(index).send('POST', '/api/notes', { code: `${name} ${round}` })))
      expect([...statusesOf(answers)].sort()).toEqual([201, ...range(39).map(() => 400)])
      for (const { status, body } of answers) if (status === 400) expect(body.error.message).toBe('This attribute must be unique')
      const rows = await server().run(url, `select code from notes where code = '${name} ${round}'`)
      expect(rows).toHaveLength(1)
    }
  })

  it('lists with relations hold while indexes are made and tables are changed', async () => {
    // Operations that copy a table: on MariaDB older snapshots cannot read it afterwards.
    const rewriting =
      kind.client === 'mysql' ? 'alter table cards_boards_lnk force' : 'alter table cards add column at_$ double precision default random()'
    const board = await created(first, '/api/boards', { name: 'changing' })
    await created(first, '/api/cards', { name: 'changing', boards: [board] })
    let isChanging = true
    const read = async (): Promise<readonly TestResponse[]> => {
      const answers: TestResponse[] = []
      while (isChanging) answers.push(await first.request('/api/cards?filters[name]=changing&populate=boards'))
      return answers
    }
    const reads = range(8).map(read)
    for (const round of range(30)) {
      await server().run(url, `create index changing_${round} on cards (name)`)
      await server().run(url, rewriting.replace('$', String(round)))
    }
    isChanging = false
    const answers = (await Promise.all(reads)).flat()
    for (const { status, text, body } of answers) {
      expect(status, text).toBe(200)
      expect(body.data).toMatchObject([{ name: 'changing', boards: [{ name: 'changing' }] }])
    }
  })

  it.each(ways)('of those that publish the same unique value one wins, and others get through: %s', async (name, of) => {
    for (const round of range(3)) {
      const same = `same ${name} ${round}`
      const answers = await Promise.all(
        range(40).map((index) =>
          of(index).send('POST', '/api/memos', { title: `Memo ${index}`, code: index % 2 === 0 ? same : `${same} ${index}` }),
        ),
      )
      expect(statusesOf(answers.filter((_, index) => index % 2 === 1))).toEqual(range(20).map(() => 201))
      expect([...statusesOf(answers.filter((_, index) => index % 2 === 0))].sort()).toEqual([201, ...range(19).map(() => 400)])
      for (const { status, body } of answers) if (status === 400) expect(body.error.message).toBe('This attribute must be unique')
      const rows = await server().run(url, `select published_at from memos where code = '${same}'`)
      expect(rows.filter(({ published_at: published }) => published !== null)).toHaveLength(1)
      expect(rows).toHaveLength(2)
      for (const { status, body } of answers) if (status === 201) expect(body.data.title).toMatch(/^Memo \d+$/)
    }
  })

  it.each(ways)('a refused write fails alone, also in a shared commit: %s', async (name, of) => {
    for (const round of range(3)) {
      // These conflict, so that the following writes run one by one.
      await Promise.all(range(20).map((index) => of(index).send('POST', '/api/notes', { code: `heat ${name} ${round}` })))
      const isRefused = (index: number): boolean => index % 3 === 0
      const codeOf = (index: number): string => `${isRefused(index) ? 'long '.repeat(100) : 'short'} ${name} ${round} ${index}`
      const answers = await Promise.all(range(40).map((index) => of(index).send('POST', '/api/notes', { code: codeOf(index) })))
      expect(statusesOf(answers)).toEqual(range(40).map((index) => (isRefused(index) ? 400 : 201)))
      const rows = await server().run(url, `select code from notes where code like '%${name} ${round} %'`)
      expect(rows.map(({ code }) => code).sort()).toEqual(
        range(40)
          .filter((index) => !isRefused(index))
          .map(codeOf)
          .sort(),
      )
    }
  })

  it('R24 writes that wait for a foreign lock do not block others, even in a group', async () => {
    await created(first, '/api/boards', { name: 'before' })
    const release = await server().lockTable(url, 'boards')
    const waiting = range(4).map((index) => first.send('POST', '/api/boards', { name: `locked ${index}` }))
    try {
      for (const round of range(4)) {
        const notes = await Promise.all(range(20).map((index) => first.send('POST', '/api/notes', { code: `beside ${round} ${index}` })))
        for (const { status, text } of notes) expect(status, text).toBe(201)
      }
    } finally {
      await release()
    }
    expect(statusesOf(await Promise.all(waiting))).toEqual(range(4).map(() => 201))
  })

  /** The links of boards and cards: both sides of each have places 1 to n, and no link is there twice. */
  async function checkLinks(): Promise<void> {
    const rows = await server().run(url, 'select card_id, board_id, board_ord, card_ord from cards_boards_lnk')
    const pairs = rows.map(({ card_id: card, board_id: board }) => `${card} ${board}`)
    expect(new Set(pairs).size).toBe(pairs.length)
    for (const [owner, place] of [
      ['card_id', 'board_ord'],
      ['board_id', 'card_ord'],
    ] as const) {
      const places = new Map<unknown, number[]>()
      for (const row of rows) places.set(row[owner], [...(places.get(row[owner]) ?? []), Number(row[place])])
      for (const list of places.values()) {
        const sorted = [...list].sort((one, other) => one - other)
        expect(new Set(sorted).size, `${place}: ${sorted.join(' ')}`).toBe(sorted.length)
      }
    }
  }

  async function linked(path: string, populate: string): Promise<readonly string[]> {
    const { status, text, body } = await first.request(`${path}?populate=${populate}`)
    expect(status, text).toBe(200)
    return (body.data[populate] as { readonly documentId: string }[]).map(({ documentId }) => documentId)
  }

  it.each(ways)('40 cards that connect themselves to one board are all on it, in an order that is whole: %s', async (name, of) => {
    const board = await created(first, '/api/boards', { name })
    const cards: string[] = []
    for (const index of range(40)) cards.push(await created(first, '/api/cards', { name: `${name} ${index}` }))
    const connect = cards.map((card, index) => of(index).send('PUT', `/api/cards/${card}`, { boards: { connect: [board] } }))
    expect(statusesOf(await Promise.all(connect))).toEqual(range(40).map(() => 200))
    expect([...(await linked(`/api/boards/${board}`, 'cards'))].sort()).toEqual([...cards].sort())
    const rows = await server().run(
      url,
      `select card_ord as place from cards_boards_lnk l join boards b on b.id = l.board_id where b.document_id = '${board}' order by card_ord`,
    )
    expect(rows.map(({ place }) => place)).toEqual(range(40).map((index) => index + 1))
    await checkLinks()
  })

  it.each(ways)('40 cards that are connected to one board, while others are disconnected: %s', async (name, of) => {
    const cards: string[] = []
    for (const index of range(40)) cards.push(await created(first, '/api/cards', { name: `${name} ${index}` }))
    const [old, fresh] = [cards.slice(0, 20), cards.slice(20)]
    const board = await created(first, '/api/boards', { name, cards: old })
    const path = `/api/boards/${board}`
    const answers = await Promise.all(
      range(20).flatMap((index) => [
        of(index).send('PUT', path, { cards: { connect: [fresh[index]] } }),
        of(index + 1).send('PUT', path, { cards: { disconnect: [old[index]] } }),
      ]),
    )
    expect(statusesOf(answers)).toEqual(range(40).map(() => 200))
    expect([...(await linked(path, 'cards'))].sort()).toEqual([...fresh].sort())
    for (const card of fresh) expect(await linked(`/api/cards/${card}`, 'boards')).toEqual([board])
    for (const card of old) expect(await linked(`/api/cards/${card}`, 'boards')).toEqual([])
    await checkLinks()
  })

  it.each(ways)('R23 two hundred writers of ten documents, from both sides of their relations, all end: %s', async (name, of) => {
    const [boards, cards]: [string[], string[]] = [[], []]
    for (const index of range(5)) {
      boards.push(await created(first, '/api/boards', { name: `${name} ${index}` }))
      cards.push(await created(first, '/api/cards', { name: `${name} ${index}` }))
    }
    const answers = await Promise.all(
      range(200).map((index) => {
        const [board, card] = [boards[index % 5], cards[Math.floor(index / 5) % 5]]
        const change = index % 7 === 0 ? 'disconnect' : 'connect'
        return index % 2 === 0
          ? of(index).send('PUT', `/api/boards/${board}`, { cards: { [change]: [card] } })
          : of(index).send('PUT', `/api/cards/${card}`, { boards: { [change]: [board] } })
      }),
    )
    expect(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([])
    await checkLinks()
    // Both sides show the same links.
    const pairs: string[] = []
    for (const card of cards) for (const board of await linked(`/api/cards/${card}`, 'boards')) pairs.push(`${board} ${card}`)
    const others: string[] = []
    for (const board of boards) for (const card of await linked(`/api/boards/${board}`, 'cards')) others.push(`${board} ${card}`)
    expect(pairs.sort()).toEqual(others.sort())
  })

  it('one document is published, unpublished, updated and deleted at once: at most one draft and one published row', async () => {
    for (const round of range(12)) {
      const memo = await created(first, '/api/memos', { title: `Memo ${round}` })
      const path = `/api/memos/${memo}`
      const work: (() => Promise<TestResponse>)[] = range(6).flatMap((index) => [
        () => both(index).send('PUT', `${path}?status=draft`, { title: `Draft ${index}` }),
        () => both(index + 1).send('PUT', path, { title: `Published ${index}` }),
        () => both(index).send('POST', `${path}/actions/publish`, {}),
        () => both(index + 1).send('POST', `${path}/actions/unpublish`, {}),
      ])
      if (round % 2 === 0) work.splice(7, 0, () => first.send('DELETE', path))
      for (const { status, text } of await Promise.all(work.map((each) => each())))
        expect([200, 204, 400, 404, 409, 503], text).toContain(status)
      const rows = await server().run(
        url,
        `select count(*) - count(published_at) as drafts, count(published_at) as published from memos where document_id = '${memo}'`,
      )
      const { drafts, published } = rows[0] as { readonly drafts: number; readonly published: number }
      expect(drafts).toBe(round % 2 === 0 ? drafts : 1)
      expect(drafts).toBeLessThanOrEqual(1)
      expect(published).toBeLessThanOrEqual(drafts)
    }
  })

  it('a permission that is removed is refused by the next request, in every process', async () => {
    const permission = "action = 'api::board.board.find'"
    const take = `delete from up_permissions_role_lnk where permission_id in (select id from up_permissions where ${permission})`
    const give = `insert into up_permissions_role_lnk (permission_id, role_id) select p.id, r.id from up_permissions p, up_roles r where p.${permission} and r.type = 'public'`
    for (const _ of range(15)) {
      expect(statusesOf(await Promise.all(range(6).map((index) => both(index).request('/api/boards?pagination[pageSize]=1'))))).toEqual(
        range(6).map(() => 200),
      )
      await server().run(url, take)
      expect(statusesOf(await Promise.all(range(6).map((index) => both(index).request('/api/boards?pagination[pageSize]=1'))))).toEqual(
        range(6).map(() => 403),
      )
      await server().run(url, give)
    }
  })

  it('writers of unrelated documents all get through', async () => {
    const answers = await Promise.all(
      range(8).map(async (client) => {
        const own: TestResponse[] = []
        for (const index of range(25)) own.push(await both(client).send('POST', '/api/notes', { code: `own ${client} ${index}` }))
        return own
      }),
    )
    expect(new Set(statusesOf(answers.flat()))).toEqual(new Set([201]))
  })
})
