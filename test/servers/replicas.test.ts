// docs/spec/replicas.md: reads on streaming replicas of PostgreSQL stay correct while replicas follow, lag, die, hang or are promoted.

import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type Cluster, startCluster, startReplica } from '../../bench/postgres-cluster.mjs'
import { describeWith } from '../support/describe-with.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import type { TestResponse } from '../support/serve.js'
import { until } from '../support/until.js'
import { closeServices, type NotesService, pause, range, serveNotes, serveSecondNotes } from './notes-service.js'
import { countReads, flushLog, heldOn, sqlAt, waitingForLocks } from './replica-service.js'

let primary: Cluster
let replica: Cluster
let first: NotesService
let second: NotesService
/** Caches responses, and reads on the replica as well. */
let keeping: NotesService
let note: string

const urlOf = ({ url }: Cluster) => url
const withoutCache = { ...managed, limits: { cacheBytes: 0 } }

function tests(): void {
  beforeAll(async () => {
    primary = await startCluster({ isDurable: false })
    replica = await startReplica(primary)
    const environment = { DATABASE_REPLICA_URLS: urlOf(replica) }
    first = await serveNotes(urlOf(primary), { config: withoutCache, environment })
    second = await serveSecondNotes(first, urlOf(primary))
    keeping = await serveNotes(urlOf(primary), { environment })
    executed = countReads(first)
    note = (await first.send('POST', '/api/notes', { code: 'one', text: '0' })).body.data.documentId
  })
  afterAll(async () => {
    await closeServices(keeping, second, first)
    replica.stop()
    primary.stop()
  })

  /** Sends a signal to all processes of the replica. */
  function signalAll(signal: NodeJS.Signals): void {
    const pid = replica.pid()
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    for (const each of [pid, ...children.map(Number)]) process.kill(each, signal)
  }

  const textOf = async (at: NotesService): Promise<string> => (await at.request(`/api/notes/${note}`)).body.data.text

  /** Where reads were executed since the previous call. */
  let executed: ReturnType<typeof countReads>

  /** Waits until reads are executed on the replica. */
  const isUsed = () =>
    until('the replica is used', async () => {
      await executed()
      await textOf(first)
      return (await executed()).used === 1
    })

  beforeEach(isUsed)

  rule('replicas.1', 'reads are executed on a replica, and contain what any service has written before', async () => {
    let seen = 0
    for (const number of range(100).map((index) => index + 1)) {
      const { status } = await (number % 2 === 0 ? first : second).send('PUT', `/api/notes/${note}`, { text: String(number) })
      expect(status).toBe(200)
      expect(await textOf(first)).toBe(String(number))
      expect(await textOf(second)).toBe(String(number))
      expect(await textOf(keeping)).toBe(String(number))
      seen = number
    }
    const { used, fellBack } = await executed()
    expect(used + fellBack).toBe(seen)
    expect(used).toBeGreaterThan(10)
  })

  rule('replicas.1', 'concurrent readers never go back, and always see acknowledged writes', async () => {
    let acknowledged = Number(await textOf(first))
    let isOver = false
    const readers = [first, second, first, keeping, keeping].map(async (at) => {
      let last = 0
      while (!isOver) {
        const before = acknowledged
        const read = Number(await textOf(at))
        expect(read).toBeGreaterThanOrEqual(Math.max(before, last))
        last = read
      }
    })
    for (const _ of range(200)) {
      const { status } = await second.send('PUT', `/api/notes/${note}`, { text: String(acknowledged + 1) })
      expect(status).toBe(200)
      acknowledged++
    }
    isOver = true
    await Promise.all(readers)
    expect((await executed()).used).toBeGreaterThan(10)
  })

  rule(
    'replicas.2',
    'R27 while a replica lags, the primary executes reads at once, and the replica again when it has caught up',
    async () => {
      await sqlAt(replica, 'select pg_wal_replay_pause()')
      await second.send('PUT', `/api/notes/${note}`, { text: 'not replayed' })
      expect(await textOf(first)).toBe('not replayed')
      await executed()
      for (const _ of range(20)) expect(await textOf(first)).toBe('not replayed')
      expect(await executed()).toEqual({ used: 0, fellBack: 20, repeated: 0 })
      expect(sumOf(await scrape(first), 'octavo_replica_lag_seconds')).toBeGreaterThan(0)
      expect(await sqlAt(replica, "select text from notes where text = 'not replayed'")).toEqual([])
      await sqlAt(replica, 'select pg_wal_replay_resume()')
      await isUsed()
      expect(await textOf(first)).toBe('not replayed')
    },
  )

  rule('operations.9', 'reads are measured by the server that executed them: on a replica, or on the primary', async () => {
    const roles = async () => {
      const samples = await scrape(first)
      const count = (purpose: string, role: string) =>
        sumOf(samples, 'db_client_operation_duration_seconds_count', { octavo_purpose: purpose, db_role: role }) ?? 0
      return { replica: count('read', 'replica'), primary: count('read', 'primary'), writes: count('write', 'replica') }
    }
    const expectMeasured = async (before: Awaited<ReturnType<typeof roles>>, count: number) => {
      const { used, fellBack, repeated } = await executed()
      expect(used + fellBack + repeated).toBe(count)
      const now = await roles()
      expect({ replica: now.replica - before.replica, primary: now.primary - before.primary }).toEqual({
        replica: used,
        primary: fellBack + repeated,
      })
      expect(now.writes).toBe(0)
      return used
    }
    const onReplica = await roles()
    await executed()
    for (const _ of range(20)) await textOf(first)
    expect(await expectMeasured(onReplica, 20)).toBeGreaterThan(0)
    await sqlAt(replica, 'select pg_wal_replay_pause()')
    try {
      await first.send('PUT', `/api/notes/${note}`, { text: 'only on the primary' })
      const onPrimary = await roles()
      await executed()
      for (const _ of range(20)) await textOf(first)
      expect(await expectMeasured(onPrimary, 20)).toBe(0)
    } finally {
      await sqlAt(replica, 'select pg_wal_replay_resume()')
    }
  })

  rule('replicas.2', 'a read that exceeds the capacity of a replica is executed on the primary', async () => {
    const narrow = await serveNotes(primary.url, {
      config: { ...managed, limits: { cacheBytes: 0, readQueue: 1 } },
      environment: { DATABASE_REPLICA_URLS: urlOf(replica), DATABASE_POOL_MAX: '2' },
    })
    const locking = new pg.Client(primary.url)
    await locking.connect()
    try {
      const count = countReads(narrow)
      // The replica keeps the lock when the primary has released it.
      await locking.query('begin; lock table boards in access exclusive mode')
      await flushLog(primary)
      await until('the replica has the lock', async () => (await sqlAt(replica, heldOn('boards'))).length > 0)
      await until('the replica is used', async () => {
        await narrow.request('/api/cards')
        return (await count()).used > 0
      })
      await sqlAt(replica, 'select pg_wal_replay_pause()')
      await until(
        'nothing is replayed',
        async () => (await sqlAt(replica, 'select pg_get_wal_replay_pause_state() as is'))[0]!.is === 'paused',
      )
      await locking.query('rollback')
      // One is under way on the replica, and one may wait for it.
      const held: Promise<TestResponse>[] = []
      const answered: TestResponse[] = []
      for (const _ of range(4)) {
        const asked = narrow.request('/api/boards')
        held.push(asked)
        await Promise.race([asked.then((answer) => answered.push(answer)), pause(200)])
      }
      expect(answered.length).toBe(2)
      expect(await sqlAt(replica, waitingForLocks)).toHaveLength(1)
      await sqlAt(replica, 'select pg_wal_replay_resume()')
      for (const { status } of await Promise.all(held)) expect(status).toBe(200)
      expect((await count()).fellBack).toBeGreaterThan(0)
    } finally {
      await sqlAt(replica, 'select pg_wal_replay_resume()')
      await locking.end()
      await narrow.close()
    }
  })

  rule('replicas.3', 'the death of a replica under load fails no request', async () => {
    const answers: number[] = []
    let isOver = false
    const readers = range(8).map(async () => {
      while (!isOver) answers.push((await first.request('/api/notes?sort=id')).status)
    })
    await until('it serves', () => answers.length > 100)
    await replica.kill()
    const before = answers.length
    await until('it serves without the replica', () => answers.length > before + 200)
    await replica.start()
    await until('it serves with the replica again', async () => (await executed()).used > 0)
    isOver = true
    await Promise.all(readers)
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  rule('replicas.3', 'reads that the replica ends are executed on the primary', async () => {
    const ended = "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'octavo'"
    const answers: number[] = []
    let isOver = false
    const readers = range(8).map(async () => {
      while (!isOver) answers.push((await first.request('/api/notes?sort=id')).status)
    })
    for (const _ of range(20)) {
      const before = answers.length
      await sqlAt(replica, ended.replace('terminate', answers.length % 2 === 0 ? 'cancel' : 'terminate'))
      await until('it serves', () => answers.length > before + 20)
    }
    isOver = true
    await Promise.all(readers)
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  rule('replicas.3', 'a read that fails late on a replica has only the rest of its time on the primary', async () => {
    const [readTimeout, late] = [14_000, 12_000]
    const timed = await serveNotes(primary.url, {
      config: { ...managed, limits: { cacheBytes: 0, readTimeout } },
      environment: { DATABASE_REPLICA_URLS: urlOf(replica) },
    })
    const locking = new pg.Client(primary.url)
    await locking.connect()
    try {
      const count = countReads(timed)
      await until('the replica is used', async () => {
        await timed.request('/api/cards')
        return (await count()).used > 0
      })
      await locking.query('begin; lock table boards in access exclusive mode')
      await flushLog(primary)
      await until('the replica has the lock', async () => (await sqlAt(replica, heldOn('boards'))).length > 0)
      const began = performance.now()
      const asked = timed.request('/api/boards').then((answer) => ({ ...answer, milliseconds: performance.now() - began }))
      await until('the replica executes it', async () => (await sqlAt(replica, waitingForLocks)).length > 0)
      await pause(began + late - performance.now())
      await sqlAt(replica, waitingForLocks.replace('select', 'select pg_terminate_backend(pid)'))
      await until('the primary executes it', async () => (await sqlAt(primary, waitingForLocks)).length > 0)
      const { status, text, milliseconds } = await asked
      expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining('The read took too long') })
      // With a separate timeout on the primary it would take longer.
      expect(milliseconds).toBeLessThan(readTimeout + late)
      expect(await count()).toEqual({ used: 0, fellBack: 0, repeated: 1 })
    } finally {
      await locking.end()
      await timed.close()
    }
  })

  rule('replicas.3', 'a read that is under way on a replica that hangs is executed on the primary', async () => {
    signalAll('SIGSTOP')
    try {
      // Nothing was committed since the replica was checked: the read goes there.
      expect((await first.request('/api/notes?sort=id')).status).toBe(200)
      expect(await executed()).toEqual({ used: 0, fellBack: 0, repeated: 1 })
      for (const _ of range(5)) expect((await first.request('/api/notes?sort=id')).status).toBe(200)
      expect(await executed()).toEqual({ used: 0, fellBack: 5, repeated: 0 })
    } finally {
      signalAll('SIGCONT')
    }
  })

  rule('replicas.4', 'a promoted replica is no longer read from', async () => {
    await replica.promote()
    await sqlAt(replica, "update notes set text = 'of another history'")
    await executed()
    for (const _ of range(20)) expect(await textOf(first)).not.toBe('of another history')
    const { used } = await executed()
    expect(used).toBe(0)
    await second.send('PUT', `/api/notes/${note}`, { text: 'of the primary' })
    expect(await textOf(first)).toBe('of the primary')
    // For the tests that follow.
    const { port } = replica
    replica.stop()
    replica = await startReplica(primary, port)
  })

  rule('replicas.4', 'a replica that was started again with less than it had is read from only when it has caught up', async () => {
    const older = await startReplica(primary)
    await sqlAt(older, 'select pg_wal_replay_pause()')
    await second.send('PUT', `/api/notes/${note}`, { text: 'later' })
    await isUsed()
    const { port } = replica
    replica.stop()
    await older.restartAt(port)
    replica = older
    for (const _ of range(20)) expect(await textOf(first)).toBe('later')
  })

  rule('replicas.5', 'an invalid list of PostgreSQL servers ends the start, and shows no password', async () => {
    for (const urls of ['mysql://octavo:secret@127.0.0.1/a', `${urlOf(primary)},octavo:secret@127.0.0.1`]) {
      const refused = serveNotes(urlOf(primary), { environment: { DATABASE_REPLICA_URLS: urls } })
      await expect(refused).rejects.toThrow(/DATABASE_REPLICA_URLS: entry [12] is not a URL/)
      await expect(refused).rejects.not.toThrow(/secret/)
    }
    await expect(
      serveNotes(urlOf(primary), { environment: { DATABASE_CLIENT: 'sqlite', DATABASE_REPLICA_URLS: urlOf(replica) } }),
    ).rejects.toThrow('DATABASE_REPLICA_URLS: reads from replicas need PostgreSQL.')
  })
}

describeWith(['PostgreSQL'], 'replicas', tests)
