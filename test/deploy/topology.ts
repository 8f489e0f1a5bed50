// The services of deploy/compose.yaml as processes on this machine: each at an address of the loopback network in place of its
// name, with the ports, variables, commands and files of the compose file. The store is another S3-compatible one.
import { appendFileSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import { programs, serverUser } from '../../bench/postgres-cluster.mjs'
import { until } from '../support/until.js'
import { type ComposeService, composition, deployed, root, textOf } from './composed.js'
import { responds, runProcess, type Started, startProcess } from './processes.js'

/** An Octavo of the topology. */
export interface Instance {
  readonly origin: string
  readonly management: string
  start(): Promise<void>
  /** Stops it, and resolves to its exit status. */
  stop(): Promise<number | null>
}

/** The topology while it runs. */
export interface Topology {
  /** The balancer. */
  readonly origin: string
  readonly instances: readonly Instance[]
  /** URLs of both servers, as Octavo has them. */
  readonly primary: string
  readonly replica: string
  /** Runs a command of Octavo with the variables of the instances. */
  octavo(words: readonly string[]): Promise<string>
  /** Output of the processes. */
  output(): string
  close(): Promise<void>
}

/** The search path for PostgreSQL's programs. */
const withPrograms = () => ({ PATH: `${process.env.PATH}:${programs()}` })

const isRoot = userInfo().uid === 0
const asPostgres = (command: readonly string[]): readonly string[] =>
  isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command] : command

/** Addresses in place of the names of services. */
function openNames(services: Readonly<Record<string, ComposeService>>) {
  const network = `127.${1 + (process.pid % 250)}.${1 + Math.floor(Math.random() * 250)}`
  const addresses = new Map<string, string>()
  for (const [index, [name, { networks }]] of Object.entries(services).entries())
    for (const each of [name, ...(networks?.default.aliases ?? [])]) addresses.set(each, `${network}.${index + 10}`)
  const names = [...addresses.keys()].map((name) => name.replaceAll('.', '\\.')).join('|')
  const withPort = new RegExp(`(?<![\\w.-])(${names}):(?=\\d)`, 'g')
  const mapped = (text: string): string => addresses.get(text) ?? text.replaceAll(withPort, (_, name: string) => `${addresses.get(name)}:`)
  return {
    addressOf: (name: string): string => addresses.get(name)!,
    mapped,
    /** The variables of a service that listens at its own address. */
    environmentOf: (name: string): Record<string, string> =>
      Object.fromEntries(
        Object.entries(services[name]!.environment ?? {}).map(([key, value]) => [
          key,
          value === '0.0.0.0' ? addresses.get(name)! : mapped(value),
        ]),
      ),
  }
}

type Names = ReturnType<typeof openNames>

/** Starts everything, on copies of the project in `project`. */
export async function startTopology(project: string): Promise<Topology> {
  const { services } = composition()
  const names = openNames(services)
  const folder = mkdtempSync(join(tmpdir(), 'octavo-topology-'))
  const { uid, gid } = serverUser() ?? userInfo()
  const running: Started[] = []
  const closers: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const close = async (): Promise<void> => {
    for (const each of running.reverse()) await each.stop()
    for (const end of closers.reverse()) await end()
  }
  const output = (): string => running.map((process) => `${process.child.spawnargs.slice(0, 4).join(' ')}\n${process.output()}`).join('\n')
  const startServer = (command: readonly string[], environment: Readonly<Record<string, string>>): void => {
    // After SIGTERM PostgreSQL would wait for its clients.
    running.push(startProcess(command, environment, folder, 'SIGINT'))
  }
  const place = (name: string): string => {
    const path = join(folder, name)
    mkdirSync(path, { mode: 0o700 })
    if (isRoot) chownSync(path, uid, gid)
    return path
  }
  if (isRoot) chownSync(folder, uid, gid)
  try {
    const { primary, replica } = { primary: services.primary!, replica: services.replica! }
    await preparePrimary(names, place('primary'), place('sockets-1'))
    startServer(asPostgres(serverCommand(names, 'primary', primary.command!, join(folder, 'sockets-1'))), {
      PGDATA: join(folder, 'primary'),
    })
    const url = names.mapped(services['octavo-1']!.environment!.DATABASE_URL!)
    await until(output, () => isUp(url))
    // In place of the image's entrypoint, which changes the user.
    const [, ...command] = replica.command!
    const copy = place('replica')
    // Remains of a killed copy.
    writeFileSync(join(copy, 'PG_VERSION'), '15\n')
    startServer(['bash', deployed('postgres', 'replica.sh'), ...asPostgres(serverCommand(names, 'replica', command, place('sockets-2')))], {
      ...names.environmentOf('replica'),
      ...{ PGDATA: copy, ...withPrograms() },
    })
    closers.push(await startStore(services.store!, names.addressOf('store'), join(folder, 'store')))
    const octavos = Object.keys(services).filter((name) => name.startsWith('octavo'))
    const instances = octavos.map((name) => instanceOf(names, name, { project, folder: join(folder, name), running }))
    // As containers do, both start at once on the empty database.
    await Promise.all(instances.map(({ start }) => start()))
    const replicaUrl = names.mapped(services['octavo-1']!.environment!.DATABASE_REPLICA_URLS!)
    await until(output, () => isUp(replicaUrl))
    const balancer = join(folder, 'haproxy.cfg')
    writeFileSync(balancer, names.mapped(textOf('haproxy.cfg')).replace('bind :', `bind ${names.addressOf('balancer')}:`))
    startServer(['haproxy', '-db', '-f', balancer], {})
    const origin = `http://${names.addressOf('balancer')}:8080`
    await until(output, () => responds(`${origin}/_health`, 204))
    return {
      ...{ origin, instances, output, close, primary: url, replica: replicaUrl },
      octavo: (words) =>
        runProcess(
          [process.execPath, join(root, 'dist', 'main.js'), ...words, join(folder, octavos[0]!)],
          names.environmentOf(octavos[0]!),
        ),
    }
  } catch (error) {
    const written = output()
    await close()
    throw new Error(`${(error as Error).message}\n${written}`)
  }
}

const psql = (url: string, statement: string): Promise<string> => runProcess(['psql', url, '-qAtc', statement], withPrograms())
const isUp = (url: string): Promise<boolean> =>
  psql(url, 'select 1').then(
    (row) => row.trim() === '1',
    () => false,
  )

/** The command of a server, at its own address and without syncs to the disk. */
const serverCommand = (names: Names, name: string, [program, ...options]: readonly string[], sockets: string): readonly string[] => [
  program!,
  ...options,
  ...['-c', `listen_addresses=${names.addressOf(name)}`, '-c', `unix_socket_directories=${sockets}`, '-c', 'fsync=off'],
]

/** Prepares an empty folder like PostgreSQL's image. */
async function preparePrimary(names: Names, data: string, sockets: string): Promise<void> {
  const environment = { ...names.environmentOf('primary'), PGDATA: data, PGHOST: sockets, ...withPrograms() }
  const { POSTGRES_USER: user = '', POSTGRES_DB: database = '', POSTGRES_PASSWORD: password = '' } = environment as Record<string, string>
  const run = (...command: readonly string[]): Promise<string> => runProcess(asPostgres(command), environment, sockets)
  await run('initdb', '-U', user, '--auth-local=trust', '--auth-host=scram-sha-256', '--locale=C.UTF-8', '-E', 'UTF8', '--no-sync')
  appendFileSync(join(data, 'pg_hba.conf'), 'host all all all scram-sha-256\n')
  const control = ['-w', '-l', join(sockets, 'log'), '-o', `-c listen_addresses='' -c unix_socket_directories=${sockets} -c fsync=off`]
  await run('pg_ctl', ...control, 'start')
  await run('psql', '-U', user, '-d', 'postgres', '-c', `alter role ${user} password '${password}'`, '-c', `create database ${database}`)
  await run('env', ...Object.entries(environment).map(([key, value]) => `${key}=${value}`), 'bash', deployed('postgres', 'primary.sh'))
  await run('pg_ctl', '-w', '-m', 'fast', 'stop')
}

async function startStore({ environment = {} }: ComposeService, address: string, directory: string): Promise<() => Promise<void>> {
  const accounts = createRequire(import.meta.url)('@20minutes/s3rver/lib/models/account.js') as {
    readonly DUMMY_ACCOUNT: { createKeyPair(key: string, secret: string): void }
  }
  accounts.DUMMY_ACCOUNT.createKeyPair(environment.GARAGE_DEFAULT_ACCESS_KEY!, environment.GARAGE_DEFAULT_SECRET_KEY!)
  mkdirSync(directory)
  const configureBuckets = [{ name: environment.GARAGE_DEFAULT_BUCKET! }]
  const store = new S3rver({ address, port: 3900, silent: true, directory, configureBuckets } as never)
  await store.run()
  return () => store.close()
}

interface InstancePlace {
  readonly project: string
  readonly folder: string
  readonly running: Started[]
}

function instanceOf(names: Names, name: string, { project, folder, running }: InstancePlace): Instance {
  const address = names.addressOf(name)
  const given = names.environmentOf(name)
  // A service that is reachable only locally waits for a balancer only if configured.
  const config = { ...JSON.parse(given.OCTAVO_CONFIG!), limits: { drainDelay: 5_000 } }
  const environment = { ...given, OCTAVO_CONFIG: JSON.stringify(config), HOST: address, NODE_ENV: 'production' }
  const management = `http://${address}:${given.OCTAVO_MANAGEMENT_PORT}`
  let current: Started
  cpSync(project, folder, { recursive: true })
  return {
    ...{ origin: `http://${address}:1337`, management },
    start: async () => {
      current = startProcess([process.execPath, join(root, 'dist', 'main.js'), 'start'], environment, folder)
      running.push(current)
      await until(current.output, () => responds(`${management}/ready`, 200))
    },
    stop: () => current.stop(),
  }
}
