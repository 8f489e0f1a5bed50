// A Galera cluster of three MariaDB nodes, each of which takes writes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { freePort } from '../../bench/free-port.mjs'
import { until } from '../support/until.js'
import { openPrograms, type Program, type Programs } from './processes.js'

const provider = '/usr/lib/galera/libgalera_smm.so'

type Rows = readonly Readonly<Record<string, unknown>>[]

export interface GaleraNode {
  readonly name: string
  /** Of the database, for the user of a service. */
  readonly url: string
  /** Runs statements as root; resolves to the rows of the last one. */
  run(text: string): Promise<Rows>
  kill(): Promise<void>
  /** Starts the server again, and waits until it has caught up. */
  revive(): Promise<void>
  /** Stops the server for a while, as the loss of its network does; or lets it go on. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
}

export interface GaleraCluster {
  readonly nodes: readonly GaleraNode[]
  output(): string
  close(): Promise<void>
}

interface Place {
  readonly name: string
  readonly port: number
  readonly group: number
  readonly incremental: number
  readonly transfer: number
  readonly data: string
}

/** Starts a cluster with one database. Resolves when all nodes are there. */
export async function startGalera(): Promise<GaleraCluster> {
  const programs = openPrograms('galera', 'mysql')
  const temporary = programs.makeFolder('temporary')
  const places: Place[] = []
  for (const name of ['one', 'two', 'three']) {
    const [port, group, incremental, transfer] = [await freePort(), await freePort(), await freePort(), await freePort()]
    places.push({ name, port, group, incremental, transfer, data: programs.makeFolder(name) })
  }
  const [first] = places
  programs.finish('mariadb-install-db', [
    ...['--no-defaults', `--datadir=${first!.data}`, `--tmpdir=${temporary}`],
    ...['--auth-root-authentication-method=normal', '--skip-test-db'],
  ])
  const nodes: (GaleraNode & { output(): string })[] = []
  for (const place of places) {
    const node = openNode(programs, place, places)
    await node.start(nodes.length === 0)
    nodes.push(node)
    if (nodes.length === 1) await node.run("create database octavo; create user octavo@'%'; grant all on octavo.* to octavo@'%'")
  }
  return { nodes, output: () => nodes.map((node) => node.output()).join('\n--\n'), close: programs.close }
}

function openNode(programs: Programs, place: Place, all: readonly Place[]) {
  const { name, port } = place
  const config = join(programs.folder, `${name}.cnf`)
  writeFileSync(config, configOf(programs.folder, place, all))
  let server: Program | null = null

  async function run(text: string): Promise<Rows> {
    const connection = await createConnection({ host: '127.0.0.1', port, user: 'root', multipleStatements: true, connectTimeout: 5_000 })
    connection.on('error', () => {})
    try {
      const [rows] = await connection.query<RowDataPacket[]>(text)
      const last = Array.isArray(rows.at?.(-1)) ? rows.at(-1) : rows
      return Array.isArray(last) ? (last as Rows) : []
    } finally {
      connection.destroy()
    }
  }

  const isReady = async () => {
    if (server?.isRunning() === false) throw new Error(`The node ${name} has ended: ${server.output()}`)
    const [row] = await run("show status like 'wsrep_local_state_comment'").catch(() => [])
    return row?.Value === 'Synced'
  }
  const start = async (isNew: boolean) => {
    server = programs.run('mariadbd', [`--defaults-file=${config}`, ...(isNew ? ['--wsrep-new-cluster'] : [])])
    await until(`the node ${name} is there`, isReady)
  }
  return {
    name,
    url: `mysql://octavo@127.0.0.1:${port}/octavo`,
    run,
    start,
    kill: async () => server!.kill(),
    revive: () => start(false),
    signal: (signal: NodeJS.Signals) => void process.kill(server!.pid, signal),
    output: () => server?.output() ?? '',
  }
}

function configOf(folder: string, { name, port, group, incremental, transfer, data }: Place, all: readonly Place[]): string {
  const options = [
    `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
    `ist.recv_addr=127.0.0.1:${incremental}`,
    // A node that is gone is noticed within three seconds.
    ...['evs.suspect_timeout=PT2.5S', 'evs.inactive_timeout=PT5S', 'evs.keepalive_period=PT0.5S', 'evs.inactive_check_period=PT0.3S'],
    'gcache.size=32M',
  ]
  return [
    '[mysqld]',
    `datadir=${data}`,
    `socket=${join(folder, `${name}.s`)}`,
    `pid-file=${join(folder, `${name}.pid`)}`,
    `port=${port}`,
    'bind-address=127.0.0.1',
    'character-set-server=utf8mb4',
    'collation-server=utf8mb4_general_ci',
    'default-time-zone=+00:00',
    'max-connections=200',
    'innodb-buffer-pool-size=64M',
    'innodb-log-file-size=16M',
    // The test kills processes, not the machine.
    'innodb-flush-log-at-trx-commit=2',
    'innodb-autoinc-lock-mode=2',
    'binlog-format=ROW',
    'wsrep-on=ON',
    `wsrep-provider=${provider}`,
    `wsrep-cluster-name=${folder.slice(-12)}`,
    `wsrep-cluster-address=gcomm://${all.map((place) => `127.0.0.1:${place.group}`).join(',')}`,
    `wsrep-node-name=${name}`,
    'wsrep-node-address=127.0.0.1',
    `wsrep-sst-method=rsync`,
    `wsrep-sst-receive-address=127.0.0.1:${transfer}`,
    `wsrep-provider-options=${options.join(';')}`,
    '',
  ].join('\n')
}
