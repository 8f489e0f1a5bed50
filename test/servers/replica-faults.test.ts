// A replica that lags (R27), two writers whose writes readers see in some order (R29), and reads that conflict with what a replica replays (R30).
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { type Cluster, startCluster, startReplica } from '../../bench/postgres-cluster.mjs'
import { addToken, addUser, grant, jwt, secrets } from '../spec/callers.js'
import { describeWith } from '../support/describe-with.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { closeServices, type NotesService, range, serveNotes } from './notes-service.js'
import { configure, countReads, flush, flushLog, heldOn, sqlAt, waitingForLocks } from './replica-service.js'
import { contradictory, type PairRead, watchPairs } from './two-writers.js'

/** Milliseconds that `keeping` waits for the replica: enough for replay on a busy machine. */
const replicaWaitMs = 5_000

let primary: Cluster
let replica: Cluster
/** Reads on the replica, keeps nothing. */
let reading: NotesService
/** Reads on the replica, with a longer wait for it, and caches responses. */
let keeping: NotesService
/** Reads on the primary. */
let plain: NotesService
let executed: ReturnType<typeof countReads>
let executedForKeeping: ReturnType<typeof countReads>
/** Two documents. */
let notes: readonly [string, string]

function tests(): void {
  beforeAll(async () => {
    primary = await startCluster({ isDurable: false })
    replica = await startReplica(primary)
    const environment = { ...secrets, DATABASE_REPLICA_URLS: replica.url }
    reading = await serveNotes(primary.url, { config: { ...managed, limits: { cacheBytes: 0 } }, environment })
    keeping = await serveNotes(primary.url, { config: { ...managed, limits: { replicaTimeout: replicaWaitMs } }, environment })
    plain = await serveNotes(primary.url, { config: { limits: { cacheBytes: 0 } }, environment: secrets })
    executed = countReads(reading)
    executedForKeeping = countReads(keeping)
    const create = async (code: string) => (await plain.send('POST', '/api/notes', { code, text: '0' })).body.data.documentId as string
    notes = [await create('one'), await create('two')]
  })
  afterAll(async () => {
    await closeServices(plain, keeping, reading)
    replica.stop()
    primary.stop()
  })
  beforeEach(isUsed)

  const write = async (at: NotesService, note: string, text: string) => {
    const { status, text: answer } = await at.send('PUT', `/api/notes/${note}`, { text })
    expect(status, answer).toBe(200)
  }

  const pairs = () =>
    ({ writers: [plain, reading], readers: [plain, plain, reading, reading, keeping, keeping], notes }) satisfies Parameters<
      typeof watchPairs
    >[0]

  /** Returns a condition: the replica has executed more reads than this for `reading` and `keeping`. */
  function readsOnReplica(count: number): () => Promise<boolean> {
    let used = 0
    return async () => {
      for (const one of await Promise.all([executed(), executedForKeeping()])) used += one.used
      return used > count
    }
  }

  /** Waits until reads are executed on the replica. */
  async function isUsed(): Promise<void> {
    await until('the replica is used', async () => {
      await executed()
      await reading.request(`/api/notes/${notes[0]}`)
      return (await executed()).used === 1
    })
  }

  describe('that lags', () => {
    afterEach(() => configure(replica, 'recovery_min_apply_delay', ''))

    for (const lag of ['0', '100ms', '1h']) {
      rule('replicas.1', `R27 ${lag} lag: every later read includes a write, of any client and through any service`, async () => {
        const user = await addUser(plain, `user ${lag}`, 'authenticated')
        await grant(plain, 'authenticated', 'api::note.note.findOne')
        await addToken(plain, `token ${lag}`, { type: 'full-access' })
        const callers = [{}, { token: jwt(user) }, { token: `token ${lag}` }]
        await isCaughtUp()
        await configure(replica, 'recovery_min_apply_delay', lag)
        for (const writer of [plain, reading, keeping]) await write(writer, notes[0], 'before')
        await Promise.all([executed(), executedForKeeping()])
        for (const number of range(lag === '1h' ? 3 : 6)) {
          const text = `${lag} ${number}`
          await write([plain, reading, keeping][number % 3]!, notes[0], text)
          for (const at of [reading, plain, keeping]) {
            const shown = await Promise.all(
              callers.map(async (caller) => (await at.request(`/api/notes/${notes[0]}`, caller)).body.data.text),
            )
            expect(shown).toEqual(callers.map(() => text))
          }
        }
        const [{ used, fellBack, repeated }, patient] = await Promise.all([executed(), executedForKeeping()])
        const behind = sumOf(await scrape(reading), 'octavo_replica_lag_seconds')!
        expect(repeated + patient.repeated).toBe(0)
        if (lag === '1h') expect([used, patient.used, fellBack > 0, behind > 0]).toEqual([0, 0, true, true])
        else expect(patient.used).toBeGreaterThan(0)
      })
    }

    /** Waits until the replica has replayed everything. */
    const isCaughtUp = () =>
      until('the replica has caught up', async () => {
        const [end] = await sqlAt(primary, 'select pg_current_wal_flush_lsn() as at')
        return (await sqlAt(replica, `select pg_last_wal_replay_lsn() >= '${end!.at}' as is_there`))[0]!.is_there === true
      })
  })

  describe('crashing processes', () => {
    afterEach(() => configure(replica, 'recovery_min_apply_delay', ''))

    rule(
      'replicas.6',
      'R27 started again by its own server it has replayed less, and is not read from until it has caught up',
      async () => {
        const shown = async (at: NotesService) => (await at.request(`/api/notes/${notes[0]}`)).body.data.text
        await write(plain, notes[0], 'before the crash')
        await isUsed()
        // Replay starts here after a crash.
        for (const at of [primary, replica]) await sqlAt(at, 'checkpoint')
        await write(plain, notes[0], 'at the crash')
        await isUsed()
        expect(await shown(reading)).toBe('at the crash')
        const target = new pg.Client(replica.url)
        target.on('error', () => {})
        await target.connect()
        const { rows } = await target.query('select pg_backend_pid() as pid, pg_postmaster_start_time() as started')
        // Delays what it replays after the restart.
        await configure(replica, 'recovery_min_apply_delay', '1h')
        process.kill(rows[0].pid, 'SIGKILL')
        await until('the replica serves again, without what it had replayed', async () => {
          const text = "select pg_postmaster_start_time() as started, (select text from notes where code = 'one') as text"
          const [row] = await sqlAt(replica, text).catch(() => [])
          return row !== undefined && String(row.started) === String(rows[0].started) && row.text !== 'at the crash'
        })
        for (const at of [reading, keeping, reading]) expect(await shown(at)).toBe('at the crash')
      },
    )
  })

  describe('two concurrent writers', () => {
    rule('replicas.6', 'R29 reads include everything acknowledged or shown by the primary, and readers of the primary agree', async () => {
      const seen = await watchPairs({ ...pairs(), isEnough: readsOnReplica(10) })
      expect(seen.wrong).toEqual([])
      expect(contradictory(seen.reads.filter(({ at }) => at === plain))).toEqual([])
    })

    rule(
      'replicas.7',
      'R29 a replica may show a write before the primary does, so readers may see two of them in either order',
      async () => {
        const read = async (at: NotesService): Promise<Pick<PairRead, 'values'>> => {
          const { body } = await at.request('/api/notes?sort=id&pagination[pageSize]=2')
          return { values: body.data.map(({ text }: { readonly text: string }) => text) }
        }
        for (const note of notes) await write(plain, note, 'old')
        await configure(primary, 'synchronous_standby_names', 'nobody')
        try {
          const written = write(plain, notes[0], 'new')
          await until('the replica has what is not acknowledged', async () =>
            (await sqlAt(replica, "select text from notes where code = 'one'")).every(({ text }) => text === 'new'),
          )
          await executed()
          expect(await read(reading)).toEqual({ values: ['new', 'old'] })
          expect((await executed()).used).toBe(1)
          await sqlAt(primary, "set synchronous_commit = local; update notes set text = 'new' where code = 'two'")
          expect(await read(plain)).toEqual({ values: ['old', 'new'] })
          // Reads that begin after the primary showed a value include it.
          for (const at of [reading, keeping]) expect((await read(at)).values[1]).toBe('new')
          await configure(primary, 'synchronous_standby_names', '')
          await written
        } finally {
          await configure(primary, 'synchronous_standby_names', '')
        }
        for (const at of [reading, keeping, plain]) expect(await read(at)).toEqual({ values: ['new', 'new'] })
      },
    )

    rule('replicas.1', 'R29 documents, total and populated relations of a response are of one snapshot', async () => {
      const made = await Promise.all(range(4).map((index) => plain.send('POST', '/api/boards', { name: `board ${index}` })))
      const boards = made.map(({ body }) => body.data.documentId as string)
      const card = (await plain.send('POST', '/api/cards', { name: '0' })).body.data.documentId
      let isOver = false
      /** A card is named by the number of its boards. */
      async function relate(): Promise<void> {
        for (let turn = 0; !isOver; turn++) {
          const count = turn % (boards.length + 1)
          const { status } = await plain.send('PUT', `/api/cards/${card}`, { name: String(count), boards: boards.slice(0, count) })
          expect(status).toBe(200)
        }
      }
      /** Memos come and go by threes. */
      async function fill(): Promise<void> {
        const insert = `insert into memos (document_id, title, published_at) select 'three' || n, 'three', now() from generate_series(1, 3) n`
        while (!isOver) for (const text of [insert, "delete from memos where title = 'three'"]) await sqlAt(primary, text)
      }
      let reads = 0
      const mixed: string[] = []
      async function look(at: NotesService): Promise<void> {
        while (!isOver) {
          const cards = await at.request('/api/cards?populate=boards')
          const sides = await at.request('/api/boards?populate=cards&sort=id')
          const memos = await at.request('/api/memos')
          const count = cards.body.data[0].boards.length
          if (cards.body.data[0].name !== String(count)) mixed.push(cards.text)
          const related = sides.body.data.filter((board: { readonly cards: readonly unknown[] }) => board.cards.length > 0)
          if (
            related.some(({ cards }: { readonly cards: readonly { readonly name: string }[] }) => cards[0]!.name !== String(related.length))
          )
            mixed.push(sides.text)
          const { total } = memos.body.meta.pagination
          if (total !== memos.body.data.length || total % 3 !== 0) mixed.push(memos.text)
          reads++
        }
      }
      const running = [relate(), fill(), ...[reading, reading, keeping, keeping, plain].map(look)]
      await Promise.all([executed(), executedForKeeping()])
      const areEnoughOnReplica = readsOnReplica(50)
      try {
        await until(
          'there are enough reads, also on the replica',
          async () => mixed.length > 0 || (reads > 250 && (await areEnoughOnReplica())),
        )
      } finally {
        isOver = true
        await Promise.all(running)
      }
      expect(mixed).toEqual([])
    })
  })

  describe('of a primary whose log of commits cannot be used', () => {
    beforeAll(() => sqlAt(primary, 'alter table octavo_commits rename to commits_elsewhere'))
    afterAll(() => sqlAt(primary, 'alter table if exists commits_elsewhere rename to octavo_commits'))

    rule('caching.9', 'reads on the replica contain what any service has written before, also once the log is back', async () => {
      const desks = [plain, reading, keeping]
      const expectExact = async (count: number) => {
        for (const number of range(count)) {
          const text = `${Math.random()}`
          await write(desks[number % 3]!, notes[0], text)
          for (const at of [reading, keeping, plain]) expect((await at.request(`/api/notes/${notes[0]}`)).body.data.text).toBe(text)
        }
      }
      await Promise.all([executed(), executedForKeeping()])
      await expectExact(30)
      const [{ used, repeated }, patient] = await Promise.all([executed(), executedForKeeping()])
      expect(used + patient.used).toBeGreaterThan(20)
      expect(repeated + patient.repeated).toBe(0)
      expect(reading.log.filter((line) => line.includes('a table of the log of commits is missing'))).toHaveLength(1)
      // While nothing is written, nothing is waited for.
      await isUsed()
      for (const _ of range(20)) await reading.request(`/api/notes/${notes[0]}`)
      expect((await executed()).used).toBe(20)
      await sqlAt(primary, 'alter table commits_elsewhere rename to octavo_commits')
      await until('responses are kept', async () => {
        await keeping.request(`/api/notes/${notes[1]}`)
        await executedForKeeping()
        await keeping.request(`/api/notes/${notes[1]}`)
        const { used: onReplica, fellBack } = await executedForKeeping()
        return onReplica + fellBack === 0
      })
      await expectExact(9)
    })

    rule('caching.9', 'reads include everything acknowledged or shown by the primary', async () => {
      await sqlAt(primary, 'alter table octavo_commits rename to commits_elsewhere')
      const seen = await watchPairs({ ...pairs(), isEnough: readsOnReplica(10) })
      expect(seen.wrong).toEqual([])
      expect(contradictory(seen.reads.filter(({ at }) => at === plain))).toEqual([])
    })
  })

  describe('reading when replay ends', () => {
    beforeAll(() => configure(replica, 'max_standby_streaming_delay', '0'))
    afterAll(() => configure(replica, 'max_standby_streaming_delay', ''))

    rule('replicas.3', 'R30 a long read that conflicts with a vacuum of the primary is executed there', async () => {
      const [open, locking] = [new pg.Client(primary.url), new pg.Client(primary.url)]
      await Promise.all([open.connect(), locking.connect()])
      try {
        await plain.send('POST', '/api/boards', { name: 'of a long read' })
        // The read sees rows that this one keeps alive, and is held up by a lock that the replica replays.
        await open.query('begin; select pg_current_xact_id()')
        await sqlAt(primary, "insert into memos (document_id) values ('vacuumed')")
        await sqlAt(primary, "delete from memos where document_id = 'vacuumed'")
        await locking.query('begin; lock table boards in access exclusive mode')
        await flushLog(primary)
        await until('the replica has the lock', async () => (await sqlAt(replica, heldOn('boards'))).length > 0)
        await isUsed()
        const answer = reading.request('/api/cards?populate=boards')
        await until('the read is under way', async () => (await sqlAt(replica, waitingForLocks)).length > 0)
        await open.query('rollback')
        await sqlAt(primary, 'vacuum memos')
        await flushLog(primary)
        await until('the primary executes it', async () => (await sqlAt(primary, waitingForLocks)).length > 0)
        await locking.query('rollback')
        const { status, text } = await answer
        expect({ status, text }).toEqual({ status: 200, text: (await plain.request('/api/cards?populate=boards')).text })
        expect(await executed()).toEqual({ used: 0, fellBack: 0, repeated: 1 })
        await isUsed()
      } finally {
        await Promise.all([open.end(), locking.end()])
      }
    })

    rule('replicas.3', 'R30 every response is whole during continuous vacuums', async () => {
      const many = 10_000
      const filled = `select 'many' || n, 'many' || n, repeat('ab ', 600) || 'x' from generate_series(1, ${many}) n`
      await sqlAt(primary, `insert into notes (document_id, code, text) ${filled}`)
      await isUsed()
      const writing = new pg.Client(primary.url)
      await writing.connect()
      const list = '/api/notes?filters[code][$startsWith]=many&filters[text][$containsi]=X&sort=text&pagination[pageSize]=100'
      let [isOver, ended] = [false, 0]
      const wrong: string[] = []
      const readers = range(4).map(async () => {
        while (!isOver) {
          const { status, text, body } = await reading.request(list)
          if (status !== 200 || body.data?.length !== 100 || body.meta.pagination.total !== many)
            wrong.push(`${status} ${text.slice(0, 300)}`)
        }
      })
      try {
        await until('reads were ended', async () => {
          for (const text of ["update notes set text = text || 'x' where code = 'many1'", 'vacuum notes', flush]) await writing.query(text)
          ended += (await executed()).repeated
          return ended >= 5
        })
      } finally {
        isOver = true
        await Promise.all([...readers, writing.end()])
      }
      expect(wrong).toEqual([])
    })
  })
}

describeWith(['PostgreSQL'], 'a replica', tests)
