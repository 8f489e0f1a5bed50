// A MariaDB server becomes read-only, as the former primary after a switchover: its connections are not reused, because new ones may
// lead to the current primary.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type NotesService, range, serveNotes } from './notes-service.js'
import { describeMariadb } from './server.js'

describeMariadb(
  'a switchover of MariaDB',
  (server) => {
    let url: string
    let service: NotesService
    beforeAll(async () => {
      url = await server().createDatabase()
      service = await serveNotes(url)
    })
    afterAll(() => service.close())

    rule('engines.10', 'connections to a server that has become read-only are not used again, not for reads either', async () => {
      const work = async (round: string) => {
        const sent = range(10).flatMap((index) => [
          service.request('/api/notes'),
          service.send('POST', '/api/notes', { code: `${round} ${index}` }),
        ])
        return (await Promise.all(sent)).map(({ status }) => status).filter((status) => status >= 300)
      }
      /** Connections of the service, with their idle time in milliseconds. */
      const connections = () =>
        server().run(url, "select id, time_ms as idle from information_schema.processlist where user = 'octavo' and command = 'Sleep'")
      expect(await work('before')).toEqual([])
      const before = new Set((await connections()).map(({ id }) => String(id)))
      expect(before.size).toBeGreaterThan(2)
      await server().setReadOnly(true)
      expect((await service.send('POST', '/api/notes', { code: 'refused' })).status).toBe(503)
      expect((await service.request('/api/notes')).status).toBe(200)
      await server().setReadOnly(false)
      const resumed = performance.now()
      for (const round of ['after', 'later']) expect(await work(round)).toEqual([])
      const passed = performance.now() - resumed
      const now = await connections()
      expect(now.length).toBeGreaterThan(0)
      expect(now.filter(({ id, idle }) => before.has(String(id)) && Number(idle) < passed - 5)).toEqual([])
      expect(now.some(({ id }) => !before.has(String(id)))).toBe(true)
    })
  },
  { ownServer: true },
)
