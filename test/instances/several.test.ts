// Instances as separate processes on one database: they start together, share background work regardless of their clocks, are paused,
// and are restarted behind a load balancer.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, vi } from 'vitest'
import type { Child } from '../faults/child.js'
import { describePostgres, describeServers, environmentOf } from '../servers/server.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { requestAt, type TestResponse } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { patience } from '../support/until.js'
import { openReceiver } from '../webhooks/receiver.js'
import { openBalancer } from './balancer.js'
import { describeInstances } from './databases.js'
import { endAll, managementOf, notes, openLoad, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

const json = { 'content-type': 'application/json' }

const create = (origin: string, name: string): Promise<TestResponse> =>
  requestAt(origin, '/api/notes', { method: 'POST', headers: json, body: JSON.stringify({ data: { name } }) })

/** URL or file with which another program opens the database of a project. */
const databaseOf = (folder: string, { DATABASE_URL }: Readonly<Record<string, string>>): string =>
  DATABASE_URL ?? join(folder, '.tmp', 'data.db')

/** Notes with a schedule that notes the time of each run, and when that began by the clock of the machine, in the file `runs`. */
const ticking = (more = ''): Readonly<Record<string, unknown>> => {
  const noted = "time.getTime() + ' ' + (performance.timeOrigin + performance.now()) + '\\n'"
  const schedule = `{ name: 'tick', cron: '* * * * * *', run: ({ time }) => appendFileSync(new URL('runs', import.meta.url), ${noted}) }`
  const files = notes(`${more} schedules: [${schedule}],`)
  return { ...files, 'octavo.config.mjs': `import { appendFileSync } from 'node:fs'\n${files['octavo.config.mjs']}` }
}

/** The environment of a process whose clock is ahead by `offset` milliseconds, and its machine's uptime by `uptime`. */
const shiftedBy = (offset: number, uptime = 0): Readonly<Record<string, string>> => ({
  CLOCK_OFFSET: String(offset),
  UPTIME_OFFSET: String(uptime),
  NODE_OPTIONS: `--import ${join(import.meta.dirname, 'shifted-clock.mjs')}`,
})

interface NotedRun {
  readonly time: number
  readonly begun: number
}

const runsIn = (folder: string): readonly NotedRun[] => {
  const file = join(folder, 'runs')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : []
  return lines.map((line) => {
    const [time, begun] = line.split(' ').map(Number)
    return { time: time!, begun: begun! }
  })
}

/** The two clocks of one machine differ by less than the milliseconds left out here. */
const isEarly = ({ time, begun }: NotedRun): boolean => begun < time - 100

// On SQLite: test/faults/kill-start.test.ts.
describePostgres('a first start on PostgreSQL', (server) => {
  rule(
    'instances.9',
    'of ten that start together on an empty database one makes and fills it, and all serve with the same secrets',
    async () => {
      const folder = project(notes())
      const environment = environmentOf(await server().createDatabase())
      const children = Array.from({ length: 10 }, () => run(folder, environment))
      const origins = await Promise.all(children.map(({ origin }) => origin))
      const said = (text: string) => children.filter((child) => child.output().includes(text)).length
      expect([said('created the database and loaded seed/'), said('Generated API_TOKEN_SALT')]).toEqual([1, 1])
      const user = { username: 'somebody', email: 'somebody@users.example', password: 'Secret-horse-7' }
      const { body } = await requestAt(origins[0]!, '/api/auth/local/register', {
        method: 'POST',
        headers: json,
        body: JSON.stringify(user),
      })
      for (const origin of origins) {
        expect((await requestAt(origin, '/api/notes')).body.meta.pagination.total).toBe(2)
        expect((await requestAt(origin, '/api/users/me', { token: body.jwt })).body.username).toBe('somebody')
      }
    },
  )
})

describeInstances('several instances', (database) => {
  rule('instances.10', 'R34 of five with clocks that differ each event is delivered once, and others take over after kills', async () => {
    const receiver = await openReceiver()
    const folder = project(ticking("webhooks: { allowPrivateAddresses: ['127.0.0.1'] },"))
    const environment = await database()
    const shifted = (offset: number): Child => run(folder, { ...environment, ...shiftedBy(offset) })
    const at = databaseOf(folder, environment)
    const names = () => receiver.received.map(({ body }) => body.entry.name as string)
    try {
      const children = [shifted(0)]
      await children[0]!.origin
      const words = ['--name', 'all', '--url', `${receiver.origin}/all`, '--events', 'entry.create']
      expect(await octavo(['webhooks', 'create', folder, ...words], environment)).toMatchObject({ status: 0 })
      children.push(...[-90_000, -45_000, 45_000, 90_000].map(shifted))
      await Promise.all(children.map(({ origin }) => origin))
      const created: string[] = []
      for (let round = 0; round < 2; round++) {
        const origins = await Promise.all(children.map(({ origin }) => origin))
        for (let index = 0; index < 10; index++) {
          created.push(`round ${round}, ${index}`)
          expect((await create(origins[index % origins.length]!, created.at(-1)!)).status).toBe(201)
        }
        await vi.waitFor(() => expect([...names()].sort()).toEqual([...created].sort()), patience)
        // Events noted as delivered are not delivered again.
        const noted = 'select (select max(sequence) from octavo_outbox) - min(sequence) as missing from octavo_consumers'
        await vi.waitFor(async () => expect(Number((await runStatement(at, noted, []))[0]!.missing)).toBe(0), patience)
        // The one that delivers has a lease under its process id.
        const [lease] = await runStatement(at, "select owner from octavo_leases where name like 'events %'", [])
        const owner = children.findIndex(({ process }) => String(process.pid) === String(lease!.owner).split(' ')[1])
        const [killed] = children.splice(owner, 1)
        killed!.process.kill('SIGKILL')
        await killed!.ended
      }
      const times = runsIn(folder).map(({ time }) => time)
      expect(times.length).toBeGreaterThan(3)
      expect(new Set(times).size, 'no time is run twice').toBe(times.length)
      expect(runsIn(folder).filter(isEarly)).toEqual([])
    } finally {
      await receiver.close()
    }
  })

  rule('schedules.10', 'R34 a process runs schedules by the clock of the database, whether its own is fast or slow', async () => {
    const folder = project(ticking())
    const environment = await database()
    for (const offset of [90_000, -90_000]) {
      const before = runsIn(folder).length
      const child = run(folder, { ...environment, ...shiftedBy(offset) })
      await vi.waitFor(() => expect(runsIn(folder).length).toBeGreaterThanOrEqual(before + 3), patience)
      child.process.kill('SIGKILL')
      await child.ended
    }
    expect(runsIn(folder).filter((each) => isEarly(each) || each.begun > each.time + 30_000)).toEqual([])
  })

  rule('instances.11', 'R35 a paused instance returns nothing stale when it continues: neither content nor permissions', async () => {
    const folder = project(notes())
    const environment = await database()
    const [paused, other] = [run(folder, environment), run(folder, environment)]
    const [origin, beside] = await Promise.all([paused.origin, other.origin])
    const roleOf = "select id from up_roles where type = 'public'"
    const at = databaseOf(folder, environment)
    const [role] = await runStatement(at, roleOf, [])
    const revoke = async (): Promise<void> => {
      const rows = await runStatement(
        at,
        `select p.id from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id where p.action = 'api::note.note.findOne' and l.role_id = ${role!.id}`,
        [],
      )
      await runStatement(at, `delete from up_permissions_role_lnk where permission_id = ${rows[0]!.id}`, [])
    }
    const { documentId } = (await create(origin, 'number 0')).body.data
    const path = `/api/notes/${documentId}`
    for (let round = 1; round <= 3; round++) {
      // The second time from memory, if it is cached.
      for (const _ of [1, 2]) expect((await requestAt(origin, path)).body.data.name).toBe(`number ${round - 1}`)
      paused.process.kill('SIGSTOP')
      const body = JSON.stringify({ data: { name: `number ${round}` } })
      expect((await requestAt(beside, path, { method: 'PUT', headers: json, body })).status).toBe(200)
      const asked = Promise.all(Array.from({ length: 5 }, () => requestAt(origin, path)))
      paused.process.kill('SIGCONT')
      expect((await asked).map((answer) => answer.body.data.name)).toEqual(Array(5).fill(`number ${round}`))
    }
    paused.process.kill('SIGSTOP')
    await revoke()
    const asked = requestAt(origin, path)
    paused.process.kill('SIGCONT')
    expect((await asked).status).toBe(403)
  })

  rule('instances.12', 'R50 two instances of a load balancer are restarted one after the other, and no request fails', async () => {
    const folder = project(notes('limits: { drainDelay: 600 }'))
    const environment = await database()
    const balancer = await openBalancer()
    const add = async (): Promise<Child> => {
      const child = run(folder, environment)
      const backend = { origin: await child.origin, management: managementOf(child) }
      balancer.add(backend)
      await vi.waitFor(() => expect(balancer.ready()).toContain(backend), patience)
      return child
    }
    try {
      const former = await Promise.all([add(), add()])
      const load = openLoad(balancer.origin, '/api/notes')
      await vi.waitFor(() => expect(load.done()).toBeGreaterThan(50), patience)
      for (const child of former) {
        child.signal('SIGTERM')
        expect(await child.ended).toMatchObject({ code: 0 })
        await add()
        const before = load.done()
        await vi.waitFor(() => expect(load.done()).toBeGreaterThan(before + 20), patience)
      }
      expect(await load.stop()).toEqual([])
    } finally {
      await endAll()
      await balancer.close()
    }
  })
})

describeServers('instances on several machines', (server) => {
  rule('accounts.15', 'attempts count together, regardless of the clocks and uptimes of the machines', async () => {
    const folder = project(notes('auth: { sharedLimits: true }, trustProxy: 1, limits: { authAddressRateLimit: 10 },'))
    const environment = environmentOf(await server().createDatabase())
    const days = 86_400_000
    const long = run(folder, { ...environment, ...shiftedBy(3 * days, 100 * days) })
    const origins = [await long.origin, await run(folder, { ...environment, ...shiftedBy(-3 * days) }).origin]
    let asked = 0
    const logIn = (identifier: string, password: string, address = `10.9.1.${asked}`): Promise<TestResponse> =>
      requestAt(origins[asked++ % 2]!, '/api/auth/local', {
        ...{ method: 'POST', body: JSON.stringify({ identifier, password }) },
        headers: { ...json, 'x-forwarded-for': address },
      })
    const statuses: number[] = []
    for (let index = 0; index < 12; index++) statuses.push((await logIn(`nobody ${index}`, 'wrong', '10.9.0.1')).status)
    expect(statuses).toEqual([...Array(10).fill(400), 429, 429])
    // And for an account, from wherever.
    const user = { username: 'somebody', email: 'somebody@users.example', password: 'Secret-horse-7' }
    const registered = await requestAt(origins[0]!, '/api/auth/local/register', {
      method: 'POST',
      headers: json,
      body: JSON.stringify(user),
    })
    expect(registered.status).toBe(200)
    for (let failures = 0; failures < 8; failures++) {
      // The delay after wrong passwords ends on time.
      await vi.waitFor(async () => expect((await logIn(user.username, 'wrong')).status).toBe(400), patience)
    }
    for (const _ of origins) {
      const refused = await logIn(user.username, user.password)
      expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.toSatisfy((seconds) => seconds <= 4)])
    }
  })

  rule('accounts.11', 'a refresh token used just before gives the same session, regardless of the clocks of the machines', async () => {
    const folder = project(notes("auth: { jwtManagement: 'refresh' },"))
    const environment = environmentOf(await server().createDatabase())
    const [slow, fast] = [run(folder, { ...environment, ...shiftedBy(-60_000) }), run(folder, { ...environment, ...shiftedBy(60_000) })]
    const origins = { slow: await slow.origin, fast: await fast.origin }
    const post = (origin: string, path: string, body: object): Promise<TestResponse> =>
      requestAt(origin, path, { method: 'POST', headers: json, body: JSON.stringify(body) })
    const user = { username: 'somebody', email: 'somebody@users.example', password: 'Secret-horse-7' }
    let { refreshToken } = (await post(origins.slow, '/api/auth/local/register', user)).body
    const sessionOf = ({ status, body, text }: TestResponse): string => {
      expect(status, text).toBe(200)
      return JSON.parse(Buffer.from(body.refreshToken.split('.')[1], 'base64url').toString()).sessionId
    }
    for (const [one, other] of [
      [origins.slow, origins.fast],
      [origins.fast, origins.slow],
    ] as const) {
      const renewed = await post(one, '/api/auth/refresh', { refreshToken })
      expect(sessionOf(await post(other, '/api/auth/refresh', { refreshToken }))).toBe(sessionOf(renewed))
      refreshToken = renewed.body.refreshToken
    }
  })
})
