// A PostgreSQL server whose commits wait for standbys: a commit without a standby is not acknowledged, however its wait ends.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { isCommit } from '../servers/messages.js'
import { type NotesService, serveNotes } from '../servers/notes-service.js'
import { openProxy, type Way } from '../servers/proxy.js'
import { describePostgres } from '../servers/server.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'

describePostgres(
  'commits that wait for standbys',
  (server) => {
    let url: string
    let proxy: Way
    let service: NotesService
    beforeAll(async () => {
      url = await server().createDatabase()
      proxy = await openProxy(url)
      service = await serveNotes(proxy.url, {
        config: { limits: { writeTimeout: 1_500 } },
        environment: { DATABASE_CONNECTION_TIMEOUT: '1000' },
      })
    })
    afterAll(async () => {
      await waitFor('')
      await service.close()
      await proxy.close()
    })
    beforeEach(async () => {
      proxy.watch = () => {}
      await waitFor('')
      await until('writes are taken', async () => (await create(`before ${Date.now()}`)).status === 201)
    })

    /** Makes commits wait for a standby of this name; an empty one: for none. */
    async function waitFor(standby: string): Promise<void> {
      await server().run(url, `alter system set synchronous_standby_names = '${standby}'`)
      await server().run(url, 'select pg_reload_conf()')
      const shown = async () => (await server().run(url, 'show synchronous_standby_names'))[0]!.synchronous_standby_names
      await until('the server knows', async () => (await shown()) === standby)
    }
    const create = (code: string) => service.send('POST', '/api/notes', { code })
    const waiting = async () =>
      Number((await server().run(url, "select count(*) as count from pg_stat_activity where wait_event = 'SyncRep'"))[0]!.count)

    rule('engines.3', 'a write whose time is over while its commit waits is not acknowledged', async () => {
      await waitFor('nobody')
      const { status, headers, text } = await create('late')
      expect({ status, retry: headers.get('retry-after') !== null }, text).toEqual({ status: 503, retry: true })
    })

    rule('engines.3', 'nor is one whose session is cancelled by another client', async () => {
      for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
        await waitFor('nobody')
        const written = create(end)
        await until('the commit waits', async () => (await waiting()) > 0)
        await server().run(url, `select ${end}(pid) from pg_stat_activity where wait_event = 'SyncRep'`)
        const { status, text } = await written
        expect(status, `${end}: ${text}`).toBe(503)
        await waitFor('')
      }
    })

    rule('engines.3', 'nor is one whose connection is lost at the commit; with standbys that have it, it is', async () => {
      await waitFor('nobody')
      let cuts = 0
      proxy.watch = (message, link) => {
        if (cuts > 0 || !isCommit(message)) return
        cuts++
        link.mute()
        setTimeout(() => link.cut(), 100)
      }
      const { status, text } = await create('cut')
      expect({ status, cuts }, text).toEqual({ status: 503, cuts: 1 })
      await waitFor('')
      await until('writes are taken', async () => (await create(`between ${Date.now()}`)).status === 201)
      await waitFor('nobody')
      const written = create('kept')
      await until('the commit waits', async () => (await waiting()) > 0)
      await waitFor('')
      expect((await written).status).toBe(201)
    })
  },
  { ownServer: true },
)
