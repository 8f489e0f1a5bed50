// Three services on one PostgreSQL with a read replica, under a mixed load, while services, connections, the replica and the server fail at random:
// nothing acknowledged is lost or doubled, and no read goes back (replicas.6).
import { afterAll, beforeAll, expect } from 'vitest'
import { freePort } from '../../bench/free-port.mjs'
import { type Cluster, startCluster, startReplica } from '../../bench/postgres-cluster.mjs'
import { seededRandom } from '../../bench/random.mjs'
import { type Child, start } from '../faults/child.js'
import { notesProject, pause, range } from '../servers/notes-service.js'
import { sqlAt } from '../servers/replica-service.js'
import { environmentOf } from '../servers/server.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { contradictions, startLoad } from './load.js'

/** Faults of a run, and milliseconds between two of them. `FAULTS=all` takes about ten minutes. */
const [faults, between] = process.env.FAULTS === 'all' ? [600, 1_000] : [9, 400]

describeWith(['PostgreSQL'], 'three services and a replica', () => {
  let primary: Cluster
  let replica: Cluster
  let folder: string
  const ports: number[] = []
  const services: Child[] = []

  const origin = (index: number) => `http://127.0.0.1:${ports[index]}`
  const begin = async (index: number) => {
    services[index] = start(folder, {
      ...environmentOf(primary.url),
      DATABASE_REPLICA_URLS: replica.url,
      DATABASE_CONNECTION_TIMEOUT: '1000',
      LOG_LEVEL: 'warn',
      PORT: String(ports[index]),
    })
    await services[index]!.origin
  }

  beforeAll(async () => {
    primary = await startCluster({ isDurable: true })
    replica = await startReplica(primary)
    folder = project({ ...notesProject, 'octavo.config.json': { limits: { readTimeout: 4_000, writeTimeout: 6_000 } } })
    for (const _ of range(3)) ports.push(await freePort())
    for (const index of range(3)) await begin(index)
  })

  afterAll(async () => {
    for (const { process: child, ended } of services) {
      child.kill('SIGKILL')
      await ended
    }
    replica?.stop()
    primary?.stop()
    removeProjects()
  })

  /** Faults of a service, of connections, of the replica, of the server. */
  const kinds: Readonly<Record<string, (chosen: number) => Promise<unknown>>> = {
    'a service is killed': async (chosen) => {
      services[chosen]!.process.kill('SIGKILL')
      await services[chosen]!.ended
      await begin(chosen)
    },
    'a service is paused': async (chosen) => {
      const { process: child } = services[chosen]!
      child.kill('SIGSTOP')
      await pause(500)
      child.kill('SIGCONT')
    },
    'a service stops and starts': async (chosen) => {
      services[chosen]!.process.kill('SIGTERM')
      await services[chosen]!.ended
      await begin(chosen)
    },
    'connections end': () =>
      sqlAt(primary, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'octavo' and random() < 0.5"),
    'the replica stays behind': async () => {
      await sqlAt(replica, 'select pg_wal_replay_pause()')
      await pause(400)
      await sqlAt(replica, 'select pg_wal_replay_resume()')
    },
    'the replica is killed': () => replica.crash(),
    'the server is killed': () => primary.crash(),
  }

  rule(
    'replicas.6',
    'nothing acknowledged is lost, and no read goes back, in any failure',
    async () => {
      const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
      const { integer, pick } = seededRandom(seed)
      const happened: string[] = []
      const load = await startLoad([0, 1, 2].map(origin), { writers: 6, readers: 6, rest: 5, label: 'soak', mayEnd: true })
      await until('the load is under way', () => load.history.written.length > 40)
      for (const _ of range(faults)) {
        const name = pick(Object.keys(kinds))
        happened.push(name)
        await kinds[name]!(integer(services.length))
        await pause(between)
      }
      const since = performance.now()
      await until('reads and writes go on', () => load.history.written.filter((moment) => moment > since).length > 60)
      const history = await load.stop()
      const shown = `seed ${seed}: ${happened.join(', ')}`
      console.info(`${shown}; ${history.written.length} writes and ${history.read.length} reads acknowledged, ${history.refused} refused`)
      expect(history.wrong, shown).toEqual([])
      expect(history.stale, shown).toEqual([])
      expect(await contradictions(history, (text) => sqlAt(primary, text)), shown).toEqual([])
      const doctor = await octavo(['doctor', folder], environmentOf(primary.url))
      expect(doctor, shown).toMatchObject({ status: 0 })
    },
    faults * 20_000,
  )
})
