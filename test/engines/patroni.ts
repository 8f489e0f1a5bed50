// PostgreSQL managed by Patroni: one etcd, three nodes, and HAProxy in front, which checks each node for the primary.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../bench/free-port.mjs'
import { until } from '../support/until.js'
import { openPrograms, type Program, type Programs } from './processes.js'

/** Seconds: maximum silence of the primary, poll interval of a node, and timeout of an attempt to reach etcd or PostgreSQL. */
const [leaderTime, loopWait, retryTime] = [6, 1, 2]

/** The folder of PostgreSQL's programs; null: not installed. */
function programFolder(): string | null {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  return versions.map((version) => join(debian, version, 'bin')).find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

/** A node: Patroni, and the PostgreSQL that it runs. */
interface Node {
  readonly name: string
  readonly port: number
  readonly rest: number
  readonly data: string
  readonly config: string
  patroni: Program
}

export interface PatroniCluster {
  /** The current primary, through HAProxy. */
  readonly url: string
  /** The name of the primary; null: there is none now. */
  primary(): Promise<string | null>
  /** The names of standbys that commits wait for. */
  synchronous(): Promise<readonly string[]>
  /** The URL of one node, past HAProxy. */
  urlOf(name: string): string
  /** Asks for another primary in good order; resolves when Patroni says that it is done. */
  switchOver(from: string, to: string): Promise<void>
  /** Ends a node as the loss of its machine does: PostgreSQL and Patroni at once. */
  kill(name: string): Promise<void>
  /** Ends the Patroni of a node; its PostgreSQL goes on, and may still act as the primary. */
  abandon(name: string): Promise<void>
  /** Starts the Patroni of a node that was killed, and waits until its PostgreSQL follows the primary. */
  revive(name: string): Promise<void>
  run(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Recent output of the programs. */
  output(): string
  close(): Promise<void>
}

/** Starts a cluster with two synchronous copies of commits. Resolves when all nodes are there. */
export async function startPatroni(): Promise<PatroniCluster> {
  const programs = openPrograms('patroni', 'postgres')
  const [etcd, etcdPeer, front] = [await freePort(), await freePort(), await freePort()]
  const etcdProgram = programs.run('etcd', etcdOptions(programs.makeFolder('etcd'), etcd, etcdPeer))
  await until('etcd is there', () => answers(`http://127.0.0.1:${etcd}/health`))
  const nodes: Node[] = []
  for (const name of ['one', 'two', 'three']) {
    const [port, rest] = [await freePort(), await freePort()]
    const data = join(programs.makeFolder(name), 'data')
    const config = join(programs.folder, `${name}.yml`)
    writeFileSync(config, JSON.stringify(configOf({ name, port, rest, data, etcd, sockets: programs.folder })))
    nodes.push({ name, port, rest, data, config, patroni: programs.run('patroni', [config]) })
    // The first one creates the database; the others copy it.
    if (nodes.length === 1) await until('the first node is the primary', () => answers(`http://127.0.0.1:${rest}/primary`))
  }
  const proxy = programs.run('haproxy', ['-f', writeProxyConfig(programs, front, nodes)])
  process.on('exit', () => killAll(nodes))
  const url = `postgres://octavo@127.0.0.1:${front}/postgres`
  const cluster = clusterOf(programs, nodes, url)
  await until('two standbys follow', async () => (await cluster.synchronous()).length > 0 && (await followers(cluster)) === 2)
  return {
    ...cluster,
    output: () => [etcdProgram, proxy, ...nodes.map(({ patroni }) => patroni)].map((program) => program.output()).join('\n--\n'),
    close: async () => {
      await Promise.all(nodes.map(({ patroni }) => patroni.kill()))
      killAll(nodes)
      await programs.close()
    },
  }
}

const followers = async ({ run }: Pick<PatroniCluster, 'run'>): Promise<number> =>
  (await run("select from pg_stat_replication where state = 'streaming'").catch(() => [])).length

const etcdOptions = (data: string, port: number, peer: number): readonly string[] => [
  ...['--name', 'octavo', '--data-dir', data, '--unsafe-no-fsync'],
  ...['--listen-client-urls', `http://127.0.0.1:${port}`, '--advertise-client-urls', `http://127.0.0.1:${port}`],
  ...['--listen-peer-urls', `http://127.0.0.1:${peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
  ...['--initial-cluster', `octavo=http://127.0.0.1:${peer}`],
]

interface NodeSettings extends Pick<Node, 'name' | 'port' | 'rest' | 'data'> {
  readonly etcd: number
  /** A folder with a short path. */
  readonly sockets: string
}

/** Patroni's own configuration, as JSON, which is YAML too. */
function configOf({ name, port, rest, data, etcd, sockets }: NodeSettings): object {
  return {
    scope: 'octavo',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ttl: leaderTime,
        loop_wait: loopWait,
        retry_timeout: retryTime,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, wal_level: 'replica', hot_standby: 'on', wal_log_hints: 'on', synchronous_commit: 'on' },
        },
      },
      initdb: ['no-sync', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: programFolder(),
      pgpass: join(sockets, `${name}.pgpass`),
      authentication: { superuser: { username: 'octavo' }, replication: { username: 'octavo' }, rewind: { username: 'octavo' } },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      // The test kills processes, not the machine.
      parameters: { unix_socket_directories: sockets, fsync: 'off' },
    },
    watchdog: { mode: 'off' },
  }
}

function writeProxyConfig(programs: Programs, front: number, nodes: readonly Node[]): string {
  const file = join(programs.folder, 'haproxy.cfg')
  const servers = nodes.map(({ name, port, rest }) => `  server ${name} 127.0.0.1:${port} maxconn 100 check port ${rest}`)
  const lines = [
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 30m',
    '  timeout server 30m',
    '  timeout check 2s',
    'listen primary',
    `  bind 127.0.0.1:${front}`,
    '  option httpchk OPTIONS /primary',
    '  http-check expect status 200',
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

function clusterOf(programs: Programs, nodes: readonly Node[], url: string): Omit<PatroniCluster, 'output' | 'close'> {
  const nodeOf = (wanted: string): Node => nodes.find(({ name }) => name === wanted)!
  const urlOf = (name: string) => url.replace(/:\d+\//, `:${nodeOf(name).port}/`)

  /** The members as one of the nodes sees them. */
  async function members(): Promise<readonly Member[]> {
    for (const { rest } of nodes) {
      const seen = await fetch(`http://127.0.0.1:${rest}/cluster`, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
      if (seen?.ok) return ((await seen.json()) as { readonly members: readonly Member[] }).members
    }
    return []
  }

  const namesOf = async (role: RegExp) =>
    (await members()).filter((member) => role.test(member.role) && /^(running|streaming)$/.test(member.state)).map(({ name }) => name)

  return {
    url,
    urlOf,
    primary: async () => {
      for (const { name, rest } of nodes) if (await answers(`http://127.0.0.1:${rest}/primary`)) return name
      return null
    },
    synchronous: () => namesOf(/^sync_standby$/),
    switchOver: async (from, to) => {
      const body = JSON.stringify({ leader: from, candidate: to })
      const answer = await fetch(`http://127.0.0.1:${nodeOf(from).rest}/switchover`, { method: 'POST', body })
      if (!answer.ok) throw new Error(`No switchover: ${answer.status} ${await answer.text()}`)
    },
    kill: async (name) => {
      const { patroni, data } = nodeOf(name)
      for (const pid of postgresOf(data)) send(pid, 'SIGKILL')
      await patroni.kill()
    },
    abandon: (name) => nodeOf(name).patroni.kill(),
    revive: async (name) => {
      const node = nodeOf(name)
      node.patroni = programs.run('patroni', [node.config])
      await until(`${name} follows`, async () => (await namesOf(/standby|replica/)).includes(name))
    },
    run: async (text) => {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
      client.on('error', () => {})
      await client.connect()
      try {
        return [await client.query<Readonly<Record<string, unknown>>>(text)].flat().at(-1)!.rows
      } finally {
        await client.end()
      }
    },
  }
}

/** The processes of the PostgreSQL in a folder, its main process first. */
function postgresOf(data: string): readonly number[] {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return []
  const main = Number(readFileSync(file, 'utf8').split('\n')[0])
  return isPostgres(main) ? [main, ...childrenOf(main)] : []
}

const statusOf = (pid: number | string): string => {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

/** True if the process of a pid file is still a PostgreSQL server. */
const isPostgres = (pid: number): boolean => /^Name:\tpostgres$/m.test(statusOf(pid))

const childrenOf = (main: number): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && new RegExp(`^PPid:\t${main}$`, 'm').test(statusOf(name)))
    .map(Number)

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}

const killAll = (nodes: readonly Node[]): void => {
  for (const { data } of nodes) for (const pid of postgresOf(data)) send(pid, 'SIGKILL')
}
