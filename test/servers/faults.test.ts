// The database server, or the network to it, fails under a running service: a write is acknowledged if and only if it is stored, once;
// no request waits forever, and the service recovers by itself.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { octavo, project, removeProjects } from '../start/command.js'
import { until } from '../support/until.js'
import { type ClientMessage, isCommit } from './messages.js'
import { type NotesService, notesProject, pause, range, serveNotes } from './notes-service.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { describeServers, environmentOf, type ServerClient } from './server.js'

/** The messages of a write up to its commit: how many there are at least, and which is the first. */
const messagesOfWrite: Readonly<Record<ServerClient, { readonly count: number; isFirst(message: ClientMessage): boolean }>> = {
  postgres: { count: 14, isFirst: ({ type, text }) => type === 'Q' && text.startsWith('begin') },
  mysql: { count: 4, isFirst: ({ type, text }) => type === 'Q' && !text.startsWith('set session') },
}

describeServers(
  'faults',
  (server, { client }) => {
    let url: string
    let proxy: Way
    let service: NotesService
    beforeAll(async () => {
      url = await server().createDatabase()
      proxy = await openProxy(url)
      service = await serveNotes(proxy.url, {
        config: { limits: { readTimeout: 2_000, writeTimeout: 4_000 } },
        environment: { DATABASE_POOL_MAX: '6', DATABASE_CONNECTION_TIMEOUT: '1000' },
      })
    })
    afterAll(async () => {
      await service.close()
      await proxy.close()
      removeProjects()
    })
    beforeEach(() => {
      proxy.watch = () => {}
    })

    const count = async (code: string): Promise<number> =>
      Number((await server().run(url, `select count(*) as count from notes where code = '${code}'`))[0]!.count)
    const recovered = () => until('the service works again', async () => (await service.request('/_health')).status === 204)
    const create = (code: string) => service.send('POST', '/api/notes', { code })

    it('R18 a connection that is lost at any message before the commit: the write is tried again, and its client notices nothing', async () => {
      const { count: messages, isFirst } = messagesOfWrite[client]
      for (const at of range(messages)) {
        let [seen, cuts] = [0, 0]
        proxy.watch = (message, link) => {
          if (cuts > 0 || (seen === 0 && !isFirst(message))) return
          if (seen++ < at) return
          cuts++
          link.cut()
        }
        const { status, text } = await create(`early ${at}`)
        proxy.watch = () => {}
        expect(cuts, `message ${at}`).toBe(1)
        expect(status, text).toBe(201)
        expect(await count(`early ${at}`)).toBe(1)
      }
    })

    it('R19 a connection that is lost at the commit: acknowledged once', async () => {
      for (const [name, fail] of Object.entries<(link: Link) => void>({
        'before the server has it': (link) => link.cut(),
        'after the server has it': (link) => {
          link.mute()
          setTimeout(() => link.cut(), 100)
        },
        'without a sign': (link) => link.stall(),
      })) {
        let cuts = 0
        proxy.watch = (message, link) => {
          if (cuts > 0 || !isCommit(message)) return
          cuts++
          fail(link)
        }
        const { status, text } = await create(name)
        proxy.watch = () => {}
        expect(cuts).toBe(1)
        // 503 if the outcome is not known in time: then the document is not there.
        expect([201, 503], text).toContain(status)
        expect(await count(name)).toBe(status === 201 ? 1 : 0)
        if (name !== 'without a sign') expect(status).toBe(201)
      }
      await recovered()
    })

    it('R19 an unknown outcome is a 503 with a true message', async () => {
      proxy.watch = (message, link) => {
        if (!isCommit(message)) return
        link.mute()
        setTimeout(() => proxy.refuse(true), 100)
      }
      const { status, headers, text } = await create('hidden')
      proxy.refuse(false)
      expect({ status, retry: headers.get('retry-after') !== null }, text).toEqual({ status: 503, retry: true })
      expect(await count('hidden')).toBeLessThanOrEqual(1)
      await recovered()
    })

    it('R18 randomly lost connections: reads and writes report the truth', async () => {
      // Counts responses instead of time: a slow machine loses no more connections per request than a fast one.
      let answered = 0
      const cutSometimes = () => {
        const links = [...proxy.links]
        if (++answered % 6 === 0) links[Math.floor(Math.random() * links.length)]?.cut()
      }
      const answers = await Promise.all(
        range(8).map(async (client) => {
          const own: (readonly [string, number])[] = []
          for (const index of range(25)) {
            const code = `random ${client} ${index}`
            own.push([code, (await create(code)).status])
            cutSometimes()
            expect([200, 503]).toContain((await service.request('/api/notes?pagination[pageSize]=1')).status)
            cutSometimes()
          }
          return own
        }),
      )
      const there = new Map<string, number>()
      for (const { code } of await server().run(url, "select code from notes where code like 'random %'"))
        there.set(code as string, (there.get(code as string) ?? 0) + 1)
      for (const [code, status] of answers.flat()) {
        expect([201, 503]).toContain(status)
        expect(there.get(code) ?? 0, `${code}: ${status}`).toBe(status === 201 ? 1 : 0)
      }
      expect(answers.flat().filter(([, status]) => status === 201).length).toBeGreaterThan(150)
      await recovered()
    })

    it('R17 an unreachable server: 503 with Retry-After, health 503, one line in the log; and back by itself', async () => {
      const before = service.log.length
      proxy.refuse(true)
      await until('health is 503', async () => (await service.request('/_health')).status === 503)
      for (const answer of [await service.request('/api/notes'), await create('refused'), await service.request('/_health')]) {
        expect(answer.status, answer.text).toBe(503)
        expect(answer.headers.get('retry-after')).not.toBeNull()
      }
      await pause(1_500)
      proxy.refuse(false)
      await recovered()
      expect((await create('after')).status).toBe(201)
      const lines = service.log.slice(before).map((line) => JSON.parse(line).msg as string)
      expect(lines.filter((line) => line === 'the database cannot be reached')).toHaveLength(1)
      expect(lines.filter((line) => line === 'the database can be reached again')).toHaveLength(1)
      expect(await count('refused')).toBe(0)
    })

    it('R22 stalled connections: every request ends, and new connections are opened', async () => {
      for (const link of proxy.links) link.stall()
      // Ends long before the test is over, while the system would wait for minutes.
      const answers = await Promise.all([
        ...range(6).map(() => service.request('/api/notes')),
        ...range(6).map((index) => create(`stalled ${index}`)),
      ])
      for (const { status, text } of answers) expect([200, 201, 503], text).toContain(status)
      await recovered()
      for (const [index, { status }] of answers.slice(6).entries()) expect(await count(`stalled ${index}`)).toBe(status === 201 ? 1 : 0)
      expect((await service.request('/api/notes')).status).toBe(200)
      expect((await create('moving again')).status).toBe(201)
    })

    it('R17 a restart as after a crash under load: nothing acknowledged is lost, nothing is doubled', async ({ skip }) => {
      const { crash } = server()
      if (crash === null) return skip()
      let isOver = false
      const answers: (readonly [string, number])[] = []
      const load = range(8).map(async (client) => {
        for (let index = 0; !isOver; index++) {
          const code = `crash ${client} ${index}`
          const { status } = await create(code)
          answers.push([code, status])
          if (status === 503) await pause(20)
        }
      })
      for (const _ of range(3)) {
        await pause(700)
        await crash()
        await recovered()
      }
      isOver = true
      await Promise.all(load)
      const rows = await server().run(url, "select code, count(*) as count from notes where code like 'crash %' group by code")
      const there = new Map(rows.map(({ code, count: found }) => [code as string, found as number]))
      for (const [code, status] of answers) {
        expect([201, 503]).toContain(status)
        if (status === 201) expect(there.get(code), code).toBe(1)
        else expect(there.get(code) ?? 0, code).toBeLessThanOrEqual(1)
      }
      expect((await create('after the crashes')).status).toBe(201)
    })

    it('R24 a locked table: a read ends after its time, the server is free of it, and what waits is bounded', async () => {
      const release = await server().lockTable(url, 'notes')
      const reading = range(12).map(() => service.request('/api/notes?sort=text'))
      const writing = range(12).map((index) => create(`locked ${index}`))
      const answers = await Promise.all([...reading, ...writing])
      for (const { status, headers, text } of answers) {
        expect(status, text).toBe(503)
        expect(headers.get('retry-after')).not.toBeNull()
      }
      await until('the server is free of them', async () => (await server().waiting(url)) === 0)
      // Others are not held up by them for long.
      expect((await service.request('/api/cards')).status).toBe(200)
      await release()
      expect((await service.request('/api/notes?sort=text')).status).toBe(200)
      expect((await create('unlocked')).status).toBe(201)
    })

    it('a client that goes away: its read is cancelled', async () => {
      const release = await server().lockTable(url, 'boards')
      const leaving = new AbortController()
      const asked = fetch(`${service.origin}/api/boards`, { signal: leaving.signal }).catch(() => {})
      await until('the read waits', async () => (await server().waiting(url)) > 0)
      leaving.abort()
      await asked
      await until('it is gone', async () => (await server().waiting(url)) === 0)
      await release()
      expect((await service.request('/api/boards')).status).toBe(200)
    })

    it('R21 a server that is read-only: writes are refused, reads go on', async () => {
      await server().setReadOnly(true)
      await until('it is', async () => (await create('read-only')).status === 503)
      expect((await service.request('/api/notes')).status).toBe(200)
      expect((await service.request('/_health')).status).toBe(204)
      await server().setReadOnly(false)
      await until('it takes writes', async () => (await create(`writable ${Date.now()}`)).status === 201)
      expect(await count('read-only')).toBe(0)
    })

    it('a server that cannot be reached at the start: one sentence, and status 1', async () => {
      const nowhere = `${client}://octavo@127.0.0.1:1/nothing`
      const { status, err } = await octavo(['start', project(notesProject)], environmentOf(nowhere))
      expect(status).toBe(1)
      expect(err.trim().split('\n')).toHaveLength(1)
      expect(err).toContain(`The database at ${client}://127.0.0.1:1/nothing cannot be used`)
    })
  },
  { ownServer: true },
)
