// Writes find rows by indexes. A scan of a table conflicts with all of its writers, and is slow once it has grown.
import { expect, it } from 'vitest'
import { type NotesService, pause, range, serveNotes } from '../servers/notes-service.js'
import { describePostgres } from '../servers/server.js'
import { until } from '../support/until.js'

describePostgres('writes on PostgreSQL', (server) => {
  it('never read a table as a whole, however small it is', async () => {
    const url = await server().createDatabase()
    const count = async (what: string): Promise<number> => Number((await server().run(url, `select ${what}`))[0]!.count)
    const preparing = await serveNotes(url, { environment: { OCTAVO_DATABASE_INDEXES: 'true' } })
    const indexes = "count(*) as count from pg_indexes where tablename in ('notes', 'memos') and indexname like 'octavo%'"
    let made = 0
    await until('the indexes are made', async () => {
      const before = made
      made = await count(indexes)
      await pause(500)
      return made > 0 && made === before
    })
    await preparing.close()
    const service: NotesService = await serveNotes(url)
    try {
      const board = (await service.send('POST', '/api/boards', { name: 'before' })).body.data.documentId as string
      const memo = (await service.send('POST', '/api/memos', { title: 'before' })).body.data.documentId as string
      const tables = "relname in ('notes', 'memos', 'cards', 'boards', 'cards_boards_lnk')"
      const scans = async () =>
        JSON.stringify(await server().run(url, `select relname, seq_scan from pg_stat_user_tables where ${tables} order by 1`))
      // Now the server knows how small they are.
      await server().run(url, 'analyze')
      const before = await scans()
      for (const index of range(10)) {
        const answers = [
          await service.send('POST', '/api/notes', { code: `code ${index}` }),
          await service.send('POST', '/api/cards', { name: `card ${index}`, boards: { connect: [board] } }),
          await service.send('PUT', `/api/memos/${memo}`, { title: `title ${index}` }),
        ]
        expect(answers.map(({ status }) => status)).toEqual([201, 201, 200])
      }
      const written = "n_tup_ins as count from pg_stat_user_tables where relname = 'notes'"
      await until('the counts arrive', async () => (await count(written)) === 10)
      expect(await scans()).toBe(before)
    } finally {
      await service.close()
    }
  })
})
