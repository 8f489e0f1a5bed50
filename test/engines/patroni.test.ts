// PostgreSQL managed by Patroni, with HAProxy in front and synchronous copies: the primary changes under load, in good order and by a crash.
import { afterAll, beforeAll, expect } from 'vitest'
import { type Child, start } from '../faults/child.js'
import { notesProject, range, serveNotes } from '../servers/notes-service.js'
import { openProxy } from '../servers/proxy.js'
import { environmentOf } from '../servers/server.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { requestAt } from '../support/serve.js'
import { isThorough } from '../support/thorough.js'
import { until } from '../support/until.js'
import { contradictions, type History, type Load, longestGap, startLoad } from './load.js'
import { type PatroniCluster, startPatroni } from './patroni.js'

describeWith(['PostgreSQL', 'Patroni', 'HAProxy'], 'PostgreSQL kept by Patroni', () => {
  let cluster: PatroniCluster
  let folder: string
  let service: Child
  let origin: string

  const environment = () => ({
    ...environmentOf(cluster.url),
    DATABASE_CONNECTION_TIMEOUT: '1000',
    LOG_LEVEL: 'warn',
  })

  beforeAll(async () => {
    cluster = await startPatroni()
    folder = project({ ...notesProject, 'octavo.config.json': { limits: { readTimeout: 4_000, writeTimeout: 6_000 } } })
    service = start(folder, environment())
    origin = await service.origin
  })

  afterAll(async () => {
    service?.process.kill('SIGKILL')
    await service?.ended
    await cluster?.close()
    removeProjects()
  })

  /** Waits for acknowledged writes after now: the service works. */
  async function untilWritten(load: Load): Promise<void> {
    const since = performance.now()
    await until('writes are acknowledged', () => load.history.written.some((moment) => moment > since))
  }

  /** Changes the primary under load; resolves to the history, and the time without acknowledgements. */
  async function underLoad(label: string, change: (primary: string, next: string) => Promise<void>): Promise<History> {
    await until('a synchronous standby is there', async () => (await cluster.synchronous()).length > 0)
    const [primary, [next]] = [(await cluster.primary())!, await cluster.synchronous()]
    const load = await startLoad([origin], { writers: 4, readers: 3, rest: 5, label })
    await until('the load is under way', () => load.history.written.length > 40)
    const since = performance.now()
    await change(primary, next!)
    await until('another node is the primary', async () => ![null, primary].includes(await cluster.primary()))
    await untilWritten(load)
    await until('reads and writes go on', () => load.history.written.filter((moment) => moment > since).length > 60)
    const history = await load.stop()
    const [writes, reads] = [history.written, history.read].map((moments) => Math.round(longestGap(moments, since)))
    console.info(`${label}: no write for ${writes} ms, no read for ${reads} ms, ${history.refused} requests refused with 503`)
    return history
  }

  async function expectWhole(history: History): Promise<void> {
    expect(history.wrong, service.output().slice(-20_000)).toEqual([])
    expect(history.stale).toEqual([])
    expect(await contradictions(history, cluster.run)).toEqual([])
    expect(service.process.exitCode, service.errors()).toBeNull()
    await until('health says that all is well', async () => (await requestAt(origin, '/_health')).status === 204)
  }

  rule('engines.1', 'a switchover under load loses nothing that was acknowledged, and the service goes on by itself', async () => {
    for (const round of range(isThorough ? 5 : 1))
      await expectWhole(await underLoad(`switchover ${round}`, (primary, next) => cluster.switchOver(primary, next)))
  })

  rule('engines.2', 'the loss of the primary under load loses nothing that was acknowledged', async () => {
    let lost = ''
    await expectWhole(
      await underLoad('failover', async (primary) => {
        lost = primary
        await cluster.kill(primary)
      }),
    )
    await cluster.revive(lost)
    const { status, out, err } = await octavo(['doctor', folder], environment())
    expect(status, out + err).toBe(0)
  })
  if (isThorough)
    rule('engines.2', 'a primary that Patroni no longer manages, and that goes on next to the new one', async () => {
      let lost = ''
      await expectWhole(
        await underLoad('abandoned', async (primary) => {
          lost = primary
          await cluster.abandon(primary)
        }),
      )
      await cluster.revive(lost)
    })

  rule('engines.4', 'a server that only follows is not used, also where an address suddenly leads to it', async () => {
    await until('a synchronous standby is there', async () => (await cluster.synchronous()).length > 0)
    const [primary, [standby]] = [(await cluster.primary())!, await cluster.synchronous()]
    const proxy = await openProxy(cluster.urlOf(primary))
    const notesService = await serveNotes(proxy.url, { environment: { DATABASE_CONNECTION_TIMEOUT: '1000' } })
    try {
      expect((await notesService.send('POST', '/api/notes', { code: 'here' })).status).toBe(201)
      const read = '/api/notes?filters[code]=here'
      expect((await notesService.request(read)).body.data).toHaveLength(1)
      proxy.turnTo(cluster.urlOf(standby!))
      for (const link of proxy.links) link.cut()
      for (const answer of [await notesService.request(read), await notesService.send('POST', '/api/notes', { code: 'there' })])
        expect({ status: answer.status, retry: answer.headers.has('retry-after') }, answer.text).toEqual({ status: 503, retry: true })
      await until('health says so', async () => (await notesService.request('/_health')).status === 503)
      proxy.turnTo(cluster.urlOf(primary))
      await until(
        'the service works again',
        async () => (await notesService.send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201,
      )
      expect((await notesService.request(read)).body.data).toHaveLength(1)
      const { status, err } = await octavo(['start', folder], environmentOf(cluster.urlOf(standby!)))
      expect({ status, err }).toMatchObject({ status: 1, err: expect.stringContaining('is a standby') })
    } finally {
      await notesService.close()
      await proxy.close()
    }
  })
})
