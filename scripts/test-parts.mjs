// Runs the tests that `npm test` leaves out in parts, and prints which ran: all of them, or with `--seconds 1500` those that fit. Parts about
// files that were changed since the last run come first, then the others by turns: those first that were not run for longest.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Paths of the rules that both servers prove by halves. */
const rules = ['src/query', 'src/content', 'test/spec']

/** Areas: arguments of vitest, shards, the share of the time of each, and the beginnings of the paths that they guard; `always`: every run has it. */
const areas = {
  slowest: { run: '--project slowest', share: 8, guards: [], always: true },
  browser: { run: '--project browser', share: 10, guards: ['admin', 'src/admin', 'packages/client', 'test/page', 'test/browser'] },
  attacks: { run: '--project attacks', share: 8, guards: ['src/foundation', 'src/identity', 'src/http', 'test/attacks'] },
  faults: { run: '--project faults', shards: 2, share: 12, guards: ['src/database/sqlite', 'test/faults', 'test/backup'] },
  servers: {
    run: '--project servers',
    shards: 3,
    share: 15,
    guards: ['src/database', 'test/servers', 'test/postgres', 'test/mysql', 'test/instances'],
  },
  long: { run: '--project long', share: 12, guards: ['src/model', 'src/project', 'src/service', 'src/operations', 'packages'] },
  engines: { run: '--project engines', share: 6, guards: ['deploy', 'src/database/server', 'test/engines', 'test/deploy'] },
  PostgreSQL: { run: 'test/spec --project fast --project spec --project slowest --shard 1/2', client: 'postgres', share: 6, guards: rules },
  MariaDB: { run: 'test/spec --project fast --project spec --project slowest --shard 2/2', client: 'mysql', share: 6, guards: rules },
}

/** Parts by name: an area, or a shard of it. */
const parts = Object.fromEntries(
  Object.entries(areas).flatMap(([name, { shards, ...area }]) =>
    shards === undefined
      ? [[name, area]]
      : Array.from({ length: shards }, (_, at) => [`${name} ${at + 1}`, { ...area, run: `${area.run} --shard ${at + 1}/${shards}` }]),
  ),
)

const git = (...args) => spawnSync('git', args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)

/** What earlier runs on this machine left: when each part began last, the seconds it took, and the commit of the last run. */
const memory = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'octavo', 'test-parts.json')
const read = () => {
  try {
    return JSON.parse(readFileSync(memory, 'utf8'))
  } catch {
    return { begun: {}, took: {} }
  }
}
const { begun, took = {}, commit } = read()

const changed = git('log', '--name-only', '--format=', ...(commit === undefined ? ['--since=1.day'] : [`${commit}..HEAD`]))
const isGuarded = (name) => parts[name].guards.some((start) => changed.some((path) => path.startsWith(`${start}/`)))
const names = Object.keys(parts)
// A machine without memory begins at another part for each commit.
const first = git('rev-list', '--count', 'HEAD')[0] % names.length
const turns = [...names.slice(first), ...names.slice(0, first)]
const rank = (name) => (parts[name].always ? 2 : isGuarded(name) ? 1 : 0)
const order = turns.sort((one, other) => rank(other) - rank(one) || (begun[one] ?? 0) - (begun[other] ?? 0))

const at = process.argv.indexOf('--seconds')
const limit = at === -1 ? Infinity : Number(process.argv[at + 1])
const left = []
let [done, hasFailed] = [0, false]
for (const name of order) {
  const { run, client, share } = parts[name]
  const spent = performance.now() / 1000
  // The first part shows how fast the machine is, and what a part took last how long it is now at least.
  const estimate = Math.max(done > 0 ? (spent / done) * share : 0, took[name] ?? 0)
  if (!parts[name].always && spent + estimate > limit) {
    left.push(name)
    // One slow run does not keep a part out for good.
    if (took[name] !== undefined) took[name] = Math.round(took[name] * 0.8)
    continue
  }
  console.log(`== part: ${name}${isGuarded(name) ? ', whose files were changed' : ''}`)
  begun[name] = Date.now()
  const env = { ...process.env, ...(client === undefined ? {} : { DATABASE_CLIENT: client }) }
  const { status } = spawnSync('npx', ['vitest', 'run', ...run.split(' ')], { stdio: 'inherit', env })
  hasFailed ||= status !== 0
  done += share
  took[name] = Math.round(performance.now() / 1000 - spent)
  console.log(`${name} took ${took[name]} s.`)
}
mkdirSync(dirname(memory), { recursive: true })
writeFileSync(memory, JSON.stringify({ begun, took, commit: git('rev-parse', 'HEAD')[0] }))
console.log(left.length === 0 ? 'All parts ran.' : `Left for the next runs: ${left.join(', ')}.`)
process.exitCode = hasFailed ? 1 : 0
