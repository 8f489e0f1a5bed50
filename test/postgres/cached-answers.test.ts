// Cached results on a PostgreSQL server (caching.1, caching.5): a query is executed again only if a commit of any client may have changed
// its result. The metrics count the reads that the server has executed.
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DocumentService, ReadBeforeCall, ScopeCall } from '../../src/service/index.js'
import { closeServices, type NotesService, range, serveNotes, serveSecondNotes } from '../servers/notes-service.js'
import { describePostgres } from '../servers/server.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'

describePostgres(
  'answers kept on PostgreSQL',
  (server) => {
    let url: string
    let first: NotesService
    let second: NotesService
    let note: string
    beforeAll(async () => {
      url = await server().createDatabase()
      first = await serveNotes(url, { config: managed })
      second = await serveSecondNotes(first, url)
      note = (await first.send('POST', '/api/notes', { code: 'one', text: 'first' })).body.data.documentId
      await first.send('POST', '/api/cards', {
        name: 'a card',
        boards: [(await first.send('POST', '/api/boards', { name: 'b' })).body.data.id],
      })
    })
    afterAll(() => closeServices(second, first))

    const executed = async () => sumOf(await scrape(first), 'db_client_operation_duration_seconds_count', { octavo_purpose: 'read' }) ?? 0

    /** Number of reads that the server executes for two requests. */
    async function reads(path: string): Promise<number> {
      const before = await executed()
      const texts = [(await first.request(path)).text, (await first.request(path)).text]
      expect(texts[0]).toBe(texts[1])
      return (await executed()) - before
    }

    const notes = '/api/notes?sort=id'
    const sql = (text: string) => server().run(url, text)

    it('are executed once while nothing is committed', async () => {
      expect(await reads(notes)).toBe(1)
      expect(await reads(notes)).toBe(0)
    })

    it('stay where a service, this one or another, changes other tables', async () => {
      await reads(notes)
      for (const at of [first, second]) {
        expect((await at.send('POST', '/api/memos', { title: 'a memo' })).status).toBe(201)
        expect(await reads(notes)).toBe(0)
      }
    })

    it('are executed again where a service changes their tables', async () => {
      for (const [index, at] of [first, second, first].entries()) {
        await at.send('PUT', `/api/notes/${note}`, { text: `text ${index}` })
        expect(await reads(notes)).toBe(1)
        expect((await first.request(notes)).text).toContain(`text ${index}`)
      }
    })

    it('depend on the tables of relations', async () => {
      const cards = '/api/cards?populate=boards'
      expect(await reads(cards)).toBe(1)
      const { documentId } = (await first.request('/api/boards')).body.data[0]
      await second.send('PUT', `/api/boards/${documentId}`, { name: 'renamed' })
      expect((await first.request(cards)).text).toContain('renamed')
      await second.send('PUT', `/api/boards/${documentId}`, { cards: [] })
      expect((await first.request(cards)).text).not.toContain('renamed')
    })

    it('are executed again after any transaction of another program', async () => {
      for (const index of range(5)) {
        await reads(notes)
        await sql(`update notes set text = 'by hand ${index}'`)
        expect((await first.request(notes)).text).toContain(`by hand ${index}`)
      }
    })

    it('contain what a transaction commits that was begun before they were kept, between writes of services', async () => {
      const other = new pg.Client(url)
      await other.connect()
      await other.query("begin; update notes set text = 'late'")
      for (const index of range(3)) {
        await second.send('POST', '/api/memos', { title: `meanwhile ${index}` })
        expect((await first.request(notes)).text).not.toContain('"late"')
      }
      await other.query('commit')
      await other.end()
      expect((await first.request(notes)).text).toContain('"late"')
    })

    it('stay where a transaction of another program is rolled back', async () => {
      await reads(notes)
      await sql("begin; update notes set text = 'never'; rollback")
      expect(await reads(notes)).toBe(0)
      // A failed statement leaves a transaction with an assigned number.
      await sql("insert into notes (id, document_id) values (1, 'x'), (1, 'y')").catch(() => {})
      expect(await reads(notes)).toBe(0)
    })

    it('contain what savepoints leave, and what writes that fail together leave', async () => {
      await sql("begin; savepoint a; update notes set text = 'inner'; release savepoint a; commit")
      expect((await first.request(notes)).text).toContain('inner')
      const sent = await Promise.all(range(20).map((index) => second.send('POST', '/api/notes', { code: `same ${index % 3}` })))
      const made = sent.filter(({ status }) => status === 201).map(({ body }) => body.data.documentId as string)
      expect(made).toHaveLength(3)
      const { text } = await first.request(notes)
      for (const documentId of made) expect(text).toContain(documentId)
    })

    it('contain what the database does by itself: foreign keys and triggers, also new ones', async () => {
      const cards = '/api/cards?populate=boards'
      await reads(cards)
      await sql(`create function renames() returns trigger language plpgsql as $$ begin update boards set name = 'by a trigger'; return new; end $$;
      create trigger renames after update on notes for each row execute function renames()`)
      await sql('insert into cards_boards_lnk (card_id, board_id) select cards.id, boards.id from cards, boards')
      expect((await first.request(cards)).text).not.toContain('by a trigger')
      await second.send('PUT', `/api/notes/${note}`, { text: 'that renames' })
      expect((await first.request(cards)).text).toContain('by a trigger')
      await sql('drop trigger renames on notes; drop function renames')
      await reads(cards)
      await second.send('PUT', `/api/notes/${note}`, { text: 'that does not' })
      // The first change after a change of the catalog counts as a change of everything.
      await reads(cards)
      await second.send('PUT', `/api/notes/${note}`, { text: 'nor does this' })
      expect(await reads(cards)).toBe(0)
      const { documentId } = (await first.request('/api/boards')).body.data[0]
      await second.send('DELETE', `/api/boards/${documentId}`)
      expect((await first.request(cards)).text).not.toContain('by a trigger')
    })

    it('are not used where a table belongs to another server', async () => {
      await sql(`create extension postgres_fdw; create server elsewhere foreign data wrapper postgres_fdw options (dbname 'postgres');
      create foreign table afar (id integer) server elsewhere`)
      await reads(notes)
      expect(await reads(notes)).toBe(2)
      await sql('drop extension postgres_fdw cascade')
      await reads(notes)
      await reads(notes)
      expect(await reads(notes)).toBe(0)
    })

    it('leave a log of commits that stays short, and without the rows of another server', async () => {
      const count = async (where: string) => Number((await sql(`select count(*) as count from octavo_commits where ${where}`))[0]!.count)
      await sql(`do $$ begin for i in 1..25000 loop begin update octavo_write_turns set id = id; insert into octavo_commits values (i, '[]');
      exception when others then null; end; end loop; end $$; insert into octavo_commits values (1000000000000, '[]')`)
      const old = 'id < (select max(id) from octavo_commits where id < 1000000000000) - 20500'
      expect(await count(old)).toBeGreaterThan(1_000)
      await until('old rows are removed, and those that cannot be of this server', async () => {
        await Promise.all(range(50).map((index) => first.send('POST', '/api/memos', { title: `many ${index}` })))
        return (await count(old)) === 0 && (await count('id >= 1000000000000')) === 0
      })
    })

    it('do not believe rows that a dump has brought from another server', async () => {
      const next = '(select cast(cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as bigint))'
      await reads(notes)
      await sql(`insert into octavo_commits select ${next} + number, '[]' from generate_series(1, 200) number`)
      for (const index of range(5)) {
        await reads(notes)
        await sql(`update notes set text = 'in spite of it ${index}'`)
        expect((await first.request(notes)).text).toContain(`in spite of it ${index}`)
        expect((await first.send('POST', '/api/memos', { title: `in spite of it ${index}` })).status).toBe(201)
      }
    })

    it('are those of the server after a crash', async () => {
      await reads(notes)
      await sql("set synchronous_commit = off; update notes set text = 'lost or not'")
      await first.request(notes)
      await server().crash!()
      await until('the service is back', async () => (await first.request(notes)).status === 200)
      const [row] = await sql('select text from notes order by id limit 1')
      expect((await first.request(notes)).body.data[0].text).toBe(row!.text)
    })
  },
  { ownServer: true },
)

describePostgres(
  'reads behind code of the project on PostgreSQL',
  (server) => {
    const note = 'api::note.note'
    type Work = (call: { readonly documents: DocumentService }) => Promise<unknown>
    let inScope: Work | undefined
    let inHook: Work | undefined
    let service: NotesService
    beforeAll(async () => {
      const scope = async (call: ScopeCall) => {
        await inScope?.(call)
        return true
      }
      const before = async (call: ReadBeforeCall) => void (await inHook?.(call))
      service = await serveNotes(await server().createDatabase(), { code: { types: { [note]: { scope, reads: { before } } } } })
    })
    afterAll(() => service.close())

    rule('caching.1', 'contain what a scope or a hook before the read has written for the same request', async () => {
      for (const code of ['scope', 'hook']) {
        const path = `/api/notes?filters[code]=${code}`
        for (const _ of range(3)) expect((await service.request(path)).body.data).toEqual([])
        const work: Work = ({ documents }) => documents(note).create({ data: { code } })
        if (code === 'scope') inScope = work
        else inHook = work
        expect((await service.request(path)).body.data).toMatchObject([{ code }])
        inScope = inHook = undefined
      }
    })
  },
  { ownServer: true },
)
