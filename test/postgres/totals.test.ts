// The total of a list is counted once per committed state of a server, and never returned for another state.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeServices, type NotesService, range, serveTwoNotes } from '../servers/notes-service.js'
import { describePostgres } from '../servers/server.js'

describePostgres('totals on PostgreSQL', (server) => {
  let url: string
  let first: NotesService
  let second: NotesService
  beforeAll(async () => {
    ;({ url, first, second } = await serveTwoNotes(server()))
  })
  afterAll(() => closeServices(second, first))

  const totalOf = async (service: NotesService, query = ''): Promise<number> => {
    const { body } = await service.request(`/api/notes?pagination[pageSize]=1${query}`)
    return body.meta.pagination.total as number
  }

  it('follow every write, of this process, of another one and of another program', async () => {
    for (const index of range(5)) {
      expect(await totalOf(first)).toBe(index * 2)
      expect(await totalOf(first)).toBe(index * 2)
      const { status, body } = await first.send('POST', '/api/notes', { code: `own ${index}` })
      expect(status).toBe(201)
      expect(await totalOf(first)).toBe(index * 2 + 1)
      expect((await second.send('POST', '/api/notes', { code: `other ${index}` })).status).toBe(201)
      expect([await totalOf(first), await totalOf(second)]).toEqual([index * 2 + 2, index * 2 + 2])
      await server().run(url, `delete from notes where document_id = '${body.data.documentId}'`)
      expect([await totalOf(first), await totalOf(second)]).toEqual([index * 2 + 1, index * 2 + 1])
      await server().run(url, `insert into notes (document_id, code) values ('outside${index}', 'outside ${index}')`)
      expect(await totalOf(second)).toBe(index * 2 + 2)
    }
  })

  it('belong to their filter', async () => {
    const totals = await Promise.all(
      ['own', 'other', 'outside', 'none'].map((text) => totalOf(first, `&filters[code][$startsWith]=${text}`)),
    )
    expect(totals).toEqual([0, 5, 5, 0])
    expect(await totalOf(first, '&filters[code][$startsWith]=other&pagination[page]=3')).toBe(5)
  })

  it('include transactions that began earlier and commit later', async () => {
    const before = await totalOf(first)
    const work = server().run(url, "begin; insert into notes (document_id, code) values ('late', 'late'); select pg_sleep(0.5); commit")
    const seen = new Set<number>()
    let isOver = false
    void work.then(() => (isOver = true))
    while (!isOver) seen.add(await totalOf(first))
    expect(await totalOf(first)).toBe(before + 1)
    expect([...seen].every((total) => total === before || total === before + 1)).toBe(true)
    expect(seen.has(before)).toBe(true)
  })
})
