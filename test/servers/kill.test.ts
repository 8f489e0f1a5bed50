// kill -9 of the service at the statements of a write on a database server (R01, R02, R03): afterwards the document is in its old or
// its new state, earlier acknowledged writes are there, and the doctor finds nothing. FAULTS=all takes every statement.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyGolden, remove, start } from '../faults/child.js'
import { clientOf, end, type Faulty } from '../faults/faulty.js'
import { everyStatement, openVictim, type Rehearsed } from '../faults/killing.js'
import { type Operation, operations, type SendRequest, send, shown } from '../faults/operations.js'
import { octavo } from '../start/command.js'
import { isThorough } from '../support/thorough.js'
import { until } from '../support/until.js'
import { type ClientMessage, isCommit } from './messages.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { describeServers, environmentOf, goldenContent, type ServerClient } from './server.js'

/** First statement of a writing transaction on a connection. */
const writes: Readonly<Record<ServerClient, RegExp>> = {
  postgres: /^begin isolation level serializable/,
  mysql: /^set session autocommit = 0/,
}

/** True for messages that make the server execute a statement. */
const isExecuted = ({ type }: ClientMessage): boolean => type === 'Q' || type === 'E'

/** Connections that write. */
const known = new WeakSet<Link>()

/** Calls `met` before each statement of the next write, up to its commit. The first is number 1. */
function watchWrite(proxy: Way, client: ServerClient, met: (number: number, isLast: boolean, link: Link) => void): void {
  let writing: Link | null = null
  let count = 0
  proxy.watch = (message, link) => {
    if (!isExecuted(message)) return
    if (writes[client].test(message.text)) known.add(link)
    if (writing === null && known.has(link) && !message.text.startsWith('set ')) writing = link
    if (writing !== link) return
    met(++count, isCommit(message), link)
  }
}

describeServers('killed', (server, kind) => {
  let folder: string
  let url: string
  let proxy: Way
  const abouts = new Map<string, string>()
  const outcomes = new Map<string, Rehearsed>()
  const target = openVictim(() => serve(proxy))

  async function serve(through: Way): Promise<Faulty> {
    // Learns which connections write while nothing else is watched.
    watchWrite(through, kind.client, () => {})
    const child = start(folder, { ...environmentOf(through.url), LOG_LEVEL: 'error' })
    return { child, request: clientOf(await child.origin) }
  }

  /** Uses the token for the first time, and waits until the background write of its last use is done. */
  async function useToken(database: string, request: SendRequest): Promise<string> {
    const lastUse = async () => JSON.stringify(await server().run(database, 'select max(last_used_at) as last from strapi_api_tokens'))
    const before = await lastUse()
    const city = await send(request, 'POST', '/api/cities', { name: 'Number 0' })
    await until('the use of the token is noted', async () => (await lastUse()) !== before)
    return city.body.data.documentId
  }

  async function rehearse(): Promise<void> {
    const database = await server().createDatabase(goldenContent(kind))
    const other = await openProxy(database)
    const rehearsal = await serve(other)
    await useToken(database, rehearsal.request)
    for (const operation of operations) {
      const about = await operation.prepare(rehearsal.request)
      let statements = 0
      watchWrite(other, kind.client, (number, isLast) => {
        if (isLast && statements === 0) statements = number
      })
      const { status, text } = await operation.run(rehearsal.request, about)
      expect(status, text).toBeLessThan(300)
      outcomes.set(operation.name, { after: await shown(rehearsal.request, operation, about), statements })
    }
    await end(rehearsal)
    await other.close()
  }

  beforeAll(async () => {
    folder = await copyGolden()
    url = await server().createDatabase(goldenContent(kind))
    proxy = await openProxy(url)
    await rehearse()
    await target.begin((request) => useToken(url, request))
    const request = await target.alive()
    for (const operation of operations) abouts.set(operation.name, await operation.prepare(request))
  })

  afterAll(async () => {
    await target.end()
    await proxy.close()
    await remove(folder)
  })

  /** Runs the operation and kills the service before its n-th statement is sent, or after its last one is sent. */
  const killAt = (operation: Operation, about: string, n: number): Promise<void> =>
    target.kill(operation, about, n, ({ child }) => {
      let isKilled = false
      watchWrite(proxy, kind.client, (number, isLast, link) => {
        if (isKilled || number !== n) return
        isKilled = true
        child.process.kill('SIGKILL')
        if (isLast) link.mute()
        else link.cut()
      })
    })

  /** Each write at its commit, and on one of the servers, in turn, in its midst, unless FAULTS=all. Some writes need those before them. */
  const points = (statements: number, index: number): readonly number[] => {
    if (isThorough) return everyStatement(statements)
    return (index % 2 === 0) === (kind.client === 'postgres') ? [Math.ceil(statements / 2), statements] : [statements]
  }

  it.each(operations.map((operation, index) => [operation.name, operation, index] as const))(
    '%s, killed at each statement, is done or was never begun',
    async (name, operation, index) => {
      const about = abouts.get(name)!
      const { after, statements } = outcomes.get(name)!
      const before = await shown(await target.alive(), operation, about)
      expect(before).not.toBe(after)
      expect(statements).toBeGreaterThan(2)
      for (const n of points(statements, index)) {
        await killAt(operation, about, n)
        const request = await target.alive()
        const see = () => shown(request, operation, about)
        // No response was sent: the write is done if the server has the commit, and otherwise left no trace.
        if (n === statements) await until(`${name} is done`, async () => (await see()) === after)
        else expect(await see(), `killed at statement ${n} of ${statements}`).toBe(before)
        await target.check()
      }
    },
  )

  it('the doctor finds no problems', async () => {
    const { status, out, err } = await octavo(['doctor', folder], { ...environmentOf(url), UPLOADS_DIR: 'uploads' })
    expect(status, out + err).toBe(0)
  })
})
