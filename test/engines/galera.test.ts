// Three MariaDB servers that Galera joins, with a service on each: writes on all of them at once, and the loss of one.
import { afterAll, beforeAll, expect } from 'vitest'
import { mariadb } from '../servers/mariadb.js'
import { isCommit } from '../servers/messages.js'
import { type NotesService, notesProject, pause, range, serveNotes } from '../servers/notes-service.js'
import { type Link, openProxy } from '../servers/proxy.js'
import { environmentOf } from '../servers/server.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { type GaleraCluster, type GaleraNode, startGalera } from './galera.js'
import { contradictions, type History, longestGap, startLoad } from './load.js'

describeWith(['MariaDB', 'Galera'], 'MariaDB joined by Galera', () => {
  let cluster: GaleraCluster
  const services: NotesService[] = []

  beforeAll(async () => {
    cluster = await startGalera()
    for (const { url } of cluster.nodes) {
      const environment = { DATABASE_CONNECTION_TIMEOUT: '1000' }
      services.push(await serveNotes(url, { environment, config: { limits: { readTimeout: 4_000, writeTimeout: 10_000 } } }))
    }
  })

  afterAll(async () => {
    for (const notesService of services) await notesService.close().catch(() => {})
    await cluster?.close()
    removeProjects()
  })

  const run = (text: string) => cluster.nodes[0]!.run(`use octavo; ${text}`)
  const origins = () => services.map(({ origin }) => origin)

  /** Sends the same to all services at once. */
  const toAll = (method: string, path: string, dataOf: (service: number) => object) =>
    Promise.all(services.map((notesService, service) => notesService.send(method, path, dataOf(service))))

  async function expectWhole(history: History): Promise<void> {
    expect(history.wrong).toEqual([])
    expect(history.stale).toEqual([])
    expect(await contradictions(history, run)).toEqual([])
    await expectSound()
  }

  async function expectSound(): Promise<void> {
    const { status, out, err } = await octavo(['doctor', project(notesProject)], environmentOf(cluster.nodes[0]!.url))
    expect(status, out + err).toBe(0)
  }

  rule(
    'engines.5',
    'writes on all nodes: none that was acknowledged is lost, and a read through another node sees it at once',
    async () => {
      const load = await startLoad(origins(), { writers: 6, readers: 6, rest: 5, label: 'all' })
      const since = performance.now()
      await until('the load has run', () => load.history.written.length > 150 && performance.now() - since > 3_000)
      const history = await load.stop()
      const seconds = (performance.now() - since) / 1_000
      console.info(`${Math.round(history.written.length / seconds)} writes a second, ${history.refused} refused with 503`)
      await expectWhole(history)
    },
  )

  rule('engines.6', 'of equal unique values that are written on all nodes at once, one is taken', async () => {
    for (const round of range(20)) {
      const answers = await toAll('POST', '/api/notes', () => ({ code: `same ${round}` }))
      const statuses = answers.map(({ status }) => status).sort()
      expect(statuses, answers.map(({ text }) => text).join('\n')).toEqual([201, 400, 400])
    }
    const rows = await run("select code, count(*) as count from notes where code like 'same %' group by code having count(*) <> 1")
    expect(rows).toEqual([])
  })

  rule('engines.6', 'links created on all nodes at once have complete orders on both sides', async () => {
    const [notesService] = services
    const make = async (path: string, name: string) => (await notesService!.send('POST', path, { name })).body.data.documentId as string
    const board = await make('/api/boards', 'one')
    const cards: string[] = []
    for (const name of range(36)) cards.push(await make('/api/cards', String(name)))
    for (const turn of range(3)) {
      const wanted = cards.slice(turn * 12, turn * 12 + 12)
      // Each on a separate row: only the positions on the other side are shared.
      const answers = await Promise.all(
        wanted.map((card, at) => services[at % 3]!.send('PUT', `/api/cards/${card}`, { boards: { connect: [board] } })),
      )
      expect(answers.map(({ status }) => status)).toEqual(wanted.map(() => 200))
    }
    for (const { request } of services) {
      const { body } = await request(`/api/boards/${board}?populate=cards`)
      expect(body.data.cards.map(({ documentId }: { documentId: string }) => documentId).sort()).toEqual([...cards].sort())
    }
    const places = (await run('select card_ord from cards_boards_lnk order by card_ord')).map(({ card_ord }) => Number(card_ord))
    expect(places).toEqual(range(36).map((place) => place + 1))
    await expectSound()
  })

  /** Runs a load on all services while `change` acts on the last node, until the service of that node works again. */
  async function underLoad(label: string, change: (node: GaleraNode, service: NotesService) => Promise<void>): Promise<void> {
    const load = await startLoad(origins(), { writers: 6, readers: 6, rest: 10, label })
    const [node, service] = [cluster.nodes[2]!, services[2]!]
    await until('the load is under way', () => load.history.written.length > 60)
    const since = performance.now()
    await change(node, service)
    await until(
      'the service works again',
      async () => (await service.send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201,
    )
    const history = await load.stop()
    const gaps = [history.written, history.read].map((moments) => Math.round(longestGap(moments, since)))
    console.info(`${label}: no write for ${gaps[0]} ms, no read for ${gaps[1]} ms, ${history.refused} refused with 503`)
    await expectWhole(history)
  }

  rule('engines.7', 'a node that is killed: its service is 503 until the node is back, and the others go on', async () => {
    await underLoad('killed', async (node, service) => {
      await node.kill()
      await until('the service of the node is 503', async () => (await service.request('/_health')).status === 503)
      for (const answer of [await service.request('/api/notes'), await service.send('POST', '/api/notes', { code: 'lost' })])
        expect({ status: answer.status, retry: answer.headers.has('retry-after') }, answer.text).toEqual({ status: 503, retry: true })
      for (const { send } of services.slice(0, 2))
        await until('the others go on', async () => (await send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201)
      await node.revive()
    })
  })

  rule('engines.7', 'a node that is cut off and comes back shows nothing that is out of date', async () => {
    await underLoad('paused', async (node) => {
      node.signal('SIGSTOP')
      for (const { send } of services.slice(0, 2))
        await until('the others go on', async () => (await send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201)
      await pause(1_000)
      node.signal('SIGCONT')
    })
  })

  rule(
    'engines.8',
    'a connection that is lost at the commit, and an address that leads to another node then: acknowledged once',
    async () => {
      const { nodes } = cluster
      const [one, two] = nodes.map(({ url }) => url)
      const behindAll = 'set wsrep_sync_wait = 7; use octavo;'
      const proxy = await openProxy(one!)
      const notesService = await serveNotes(proxy.url, {
        environment: { DATABASE_CONNECTION_TIMEOUT: '10000' },
        config: { limits: { writeTimeout: 120_000 } },
      })
      try {
        for (const [name, fail] of Object.entries<(link: Link) => void>({
          'before the server has it': (link) => link.cut(),
          'after the server has it': (link) => {
            link.mute()
            setTimeout(() => link.cut(), 100)
          },
          // The others consider it lost in the meantime.
          'while the server does nothing': (link) => {
            nodes[0]!.signal('SIGSTOP')
            setTimeout(() => link.cut(), 100)
          },
          // It commits while a client checks for the commit.
          'while the server does nothing for a moment': (link) => {
            nodes[0]!.signal('SIGSTOP')
            setTimeout(() => link.cut(), 100)
            setTimeout(() => nodes[0]!.signal('SIGCONT'), 700)
          },
        })) {
          let cuts = 0
          proxy.turnTo(one!)
          for (const link of proxy.links) link.cut()
          await until(
            'writes are taken',
            async () => (await notesService.send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201,
          )
          proxy.watch = (message, link) => {
            if (cuts > 0 || !isCommit(message)) return
            cuts++
            proxy.turnTo(two!)
            for (const other of proxy.links) if (other !== link) other.cut()
            fail(link)
          }
          const { status, text } = await notesService.send('POST', '/api/memos', { title: name })
          proxy.watch = () => {}
          nodes[0]!.signal('SIGCONT')
          expect({ status, cuts }, `${name}: ${text}`).toEqual({ status: 201, cuts: 1 })
          // After everything committed; right after its pause the node knows nothing of its absence.
          const count = async () =>
            Number((await nodes[0]!.run(`${behindAll} select count(*) as count from memos where title = '${name}'`))[0]!.count)
          await until('the node is back', () =>
            count().then(
              () => true,
              () => false,
            ),
          )
          expect(await count(), name).toBe(2)
        }
      } finally {
        await notesService.close()
        await proxy.close()
      }
    },
  )

  rule('engines.9', 'services that start at once on the nodes of an empty database prepare it once', async () => {
    await cluster.nodes[0]!.run("create database fresh; grant all on fresh.* to octavo@'%'")
    // Other nodes have it once they have applied what the first one did before.
    for (const node of cluster.nodes) await node.run('set session wsrep_sync_wait = 15; select count(*) from information_schema.schemata')
    const urls = cluster.nodes.map(({ url }) => url.replace(/octavo$/, 'fresh'))
    const started = await Promise.allSettled(urls.map((url) => serveNotes(url)))
    for (const one of started) if (one.status === 'fulfilled') await one.value.close()
    expect(started.map((one) => (one.status === 'fulfilled' ? 'serves' : String(one.reason)))).toEqual(['serves', 'serves', 'serves'])
    expect(await cluster.nodes[0]!.run('select type, count(*) as count from fresh.up_roles group by type order by type')).toEqual([
      { type: 'authenticated', count: 1 },
      { type: 'public', count: 1 },
    ])
  })

  rule('engines.5', 'an address that leads to a node only after the start: connections from then on wait for the other nodes', async () => {
    const alone = await mariadb.start(undefined)
    await alone.run(alone.root, "create database octavo; grant all on octavo.* to octavo@'%'")
    const proxy = await openProxy(Object.assign(new URL(cluster.nodes[0]!.url), { port: new URL(alone.root).port }).href)
    const notesService = await serveNotes(proxy.url)
    try {
      const causal = new Set<Link>()
      proxy.watch = ({ text }, link) => void (text.includes('wsrep_sync_wait') && causal.add(link))
      proxy.turnTo(cluster.nodes[0]!.url)
      for (const link of proxy.links) link.cut()
      const isWritten = async () => (await notesService.send('POST', '/api/notes', { code: `${Math.random()}` })).status === 201
      await until('the service writes to the node', isWritten)
      await until('all connections wait', () => proxy.links.size > 0 && [...proxy.links].every((link) => causal.has(link)))
    } finally {
      await notesService.close()
      await proxy.close()
      await alone.close()
    }
  })
})
