// caching.9, R25: if the commit log on a PostgreSQL server cannot be used, because its table is gone or the database user may not use it, the
// service works without it, caches nothing, and stays exact, also next to an instance that uses it.
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { closeServices, type NotesService, range, serveNotes, serveSecondNotes } from '../servers/notes-service.js'
import { describePostgres } from '../servers/server.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'

const notes = '/api/notes?sort=id'
const lost = (service: NotesService) => service.log.filter((line) => line.includes('nothing is cached'))
const found = (service: NotesService) => service.log.filter((line) => line.includes('responses are cached again'))

describePostgres(
  'a log of commits that cannot be used',
  (server) => {
    let url: string
    /** The same database with a user who is granted what the service needs. */
    let urlOfUser: string
    /** As the owner of the tables. */
    let owner: NotesService
    /** As that user. */
    let user: NotesService
    let note: string
    beforeAll(async () => {
      url = await server().createDatabase()
      owner = await serveNotes(url, { config: managed })
      const name = `octavo_user_${process.pid}`
      await sql(`create role ${name} login; grant usage on schema public to ${name};
      grant select, insert, update, delete on all tables in schema public to ${name}; grant usage on all sequences in schema public to ${name}`)
      const parsed = new URL(url)
      parsed.username = name
      parsed.password = ''
      urlOfUser = parsed.href
      user = await serveSecondNotes(owner, urlOfUser)
      note = (await owner.send('POST', '/api/notes', { code: 'one', text: 'first' })).body.data.documentId
    })
    afterAll(async () => {
      await closeServices(user, owner)
      await sql(`drop owned by ${nameOfUser()}; drop role ${nameOfUser()}`)
    })

    const sql = (text: string) => server().run(url, text)
    const nameOfUser = () => new URL(urlOfUser).username
    const revoke = (what: string) => sql(`revoke ${what} on octavo_commits from ${nameOfUser()}`)
    const grant = () => sql(`grant select, insert, update, delete on octavo_commits to ${nameOfUser()}`)
    const write = async (at: NotesService, text: string) => {
      const answer = await at.send('PUT', `/api/notes/${note}`, { text })
      expect(answer.status, answer.text).toBe(200)
    }
    const textOf = async (at: NotesService): Promise<string> => {
      const answer = await at.request(notes)
      expect(answer.status, answer.text).toBe(200)
      return answer.body.data[0].text
    }

    /** Number of reads that the server executes for the second of two requests. */
    async function executed(at: NotesService): Promise<number> {
      const count = async () => sumOf(await scrape(at), 'db_client_operation_duration_seconds_count', { octavo_purpose: 'read' }) ?? 0
      expect((await at.request(notes)).status).toBe(200)
      const before = await count()
      expect((await at.request(notes)).status).toBe(200)
      return (await count()) - before
    }
    const isKept = (at: NotesService) => until('responses are kept', async () => (await executed(at)) === 0)

    /** Each of them reads the other's writes at once. */
    async function expectExact(): Promise<void> {
      for (const [index, writing] of [user, owner, user, user, owner, owner, user].entries()) {
        for (const reading of [owner, user]) await textOf(reading)
        const text = `${Math.random()} ${index}`
        await write(writing, text)
        for (const reading of [owner, user]) expect(await textOf(reading)).toBe(text)
      }
    }

    beforeEach(async () => {
      await isKept(owner)
      await isKept(user)
    })

    for (const rights of ['all', 'select', 'insert', 'update'])
      rule('caching.9', `a user whose grants are taken (${rights}) and given back`, async () => {
        const [before, again] = [lost(user).length, found(user).length]
        await revoke(rights)
        await expectExact()
        expect(await executed(user)).toBe(1)
        await expectExact()
        expect(lost(user).length).toBe(before + 1)
        expect(lost(user).at(-1)).toContain('GRANT SELECT, INSERT, UPDATE, DELETE ON')
        expect(lost(owner)).toEqual([])
        await grant()
        await isKept(user)
        expect(found(user).length).toBe(again + 1)
        await expectExact()
        await isKept(user)
        expect(lost(user).length).toBe(before + 1)
      })

    rule('caching.9', 'a user without permission to delete old log rows', async () => {
      const before = lost(user).length
      await revoke('delete')
      await until('it is noticed', async () => {
        await Promise.all(range(50).map((index) => user.send('POST', '/api/memos', { title: `many ${index}` })))
        return lost(user).length > before
      })
      await expectExact()
      await grant()
      await isKept(user)
    })

    rule('caching.9', 'writes that share a transaction, or fail in it, are committed without the log or not at all', async () => {
      const count = async () => Number((await sql('select count(*) as count from notes'))[0]!.count)
      const before = await count()
      await revoke('all')
      const sent = await Promise.all(range(30).map((index) => user.send('POST', '/api/notes', { code: `shared ${index % 5}` })))
      expect(sent.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(5)
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([201, 400]))
      const made = sent.filter(({ status }) => status === 201).map(({ body }) => body.data.documentId as string)
      for (const at of [owner, user]) for (const documentId of made) expect((await at.request(notes)).text).toContain(documentId)
      expect(await count()).toBe(before + 5)
      await grant()
    })

    rule('caching.9', 'permissions that another instance or program changes hold for the next request', async () => {
      await revoke('all')
      for (const _ of range(3)) {
        expect((await user.request('/api/boards')).status).toBe(200)
        await sql("update up_permissions set action = 'none' where action = 'api::board.board.find'")
        expect((await user.request('/api/boards')).status).toBe(403)
        await sql("update up_permissions set action = 'api::board.board.find' where action = 'none'")
      }
      await grant()
    })

    rule('caching.9', 'reads include commits of other users while grants change', async () => {
      let isOver = false
      let acknowledged = 0
      await write(owner, '0')
      const wrong: string[] = []
      const readers = [owner, user, user].map(async (at) => {
        while (!isOver) {
          const least = acknowledged
          const answer = await at.request(notes)
          if (answer.status !== 200 || Number(answer.body.data[0].text) < least) wrong.push(`${least}: ${answer.status} ${answer.text}`)
        }
      })
      const writers = (async () => {
        while (!isOver) {
          await write(acknowledged % 2 === 0 ? owner : user, String(acknowledged + 1))
          acknowledged++
        }
      })()
      const again = found(user).length
      for (const round of range(2)) {
        const before = acknowledged
        await revoke(round === 0 ? 'all' : 'insert')
        await until('much was written', () => acknowledged > before + 40)
        await grant()
        await until('it is noticed', () => found(user).length > again + round)
      }
      isOver = true
      await Promise.all([...readers, writers])
      expect(wrong).toEqual([])
    })

    rule('caching.9', 'a start without grants', async () => {
      await revoke('all')
      const service = await serveSecondNotes(owner, urlOfUser)
      try {
        const text = `${Math.random()}`
        await write(service, text)
        for (const at of [service, owner, user]) expect(await textOf(at)).toBe(text)
        expect(await executed(service)).toBe(1)
        await write(owner, `${text} again`)
        expect(await textOf(service)).toBe(`${text} again`)
        expect(lost(service)).toHaveLength(1)
        await grant()
        await isKept(service)
        expect(found(service)).toHaveLength(1)
      } finally {
        await grant()
        await service.close()
      }
    })

    rule('caching.9', 'a crash of the server in between', async () => {
      const { crash } = server()
      if (crash === null) return
      await revoke('all')
      await expectExact()
      await crash()
      for (const at of [owner, user]) await until('the service is back', async () => (await at.request(notes)).status === 200)
      await expectExact()
      await grant()
      for (const at of [owner, user]) await isKept(at)
      await expectExact()
    })

    describe('of a table that is dropped', () => {
      rule('caching.9', 'while instances serve: nothing fails, and the next start makes it again', async () => {
        const before = lost(owner).length
        await sql('drop table octavo_commits')
        await expectExact()
        expect(await executed(owner)).toBe(1)
        const sent = await Promise.all(range(20).map((index) => owner.send('POST', '/api/notes', { code: `dropped ${index % 5}` })))
        expect(sent.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(5)
        expect(lost(owner).length).toBe(before + 1)
        expect(lost(owner).at(-1)).toContain('create unlogged table if not exists octavo_commits')
        const third = await serveSecondNotes(owner, url)
        await grant()
        for (const at of [owner, user, third]) await isKept(at)
        await expectExact()
        await third.close()
      })

      rule('caching.9', 'a table in its place that lacks the columns is not used, and the same one once it is back', async () => {
        await sql('alter table octavo_commits rename to commits_elsewhere; create table octavo_commits (other text)')
        await grant()
        await expectExact()
        expect(await executed(owner)).toBe(1)
        await sql('drop table octavo_commits; alter table commits_elsewhere rename to octavo_commits')
        for (const at of [owner, user]) await isKept(at)
        await expectExact()
      })
    })
  },
  { ownServer: true },
)
