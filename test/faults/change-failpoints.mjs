// Loaded before the service (`node --import`), in every thread: counts the statements on SQLite and the calls on files in src/ during a
// model change, and kills the process at one of them. Controlled by `order` in FAULTS; the counts are in `counted`.
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join, sep } from 'node:path'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { committing, isReading, recording } from './statement-kinds.mjs'

const folder = process.env.FAULTS
const Database = createRequire(import.meta.url)('better-sqlite3')
const { appendFileSync, readFileSync } = fs
const promises = { ...fs.promises }

/**
 * Counters that all threads share: the number of the order that they count for, statements that do not only read, calls on files, statements
 * since the recording one, commits of these.
 */
if (isMainThread) setEnvironmentData('change-failpoints', new Int32Array(new SharedArrayBuffer(20)))
const counters = getEnvironmentData('change-failpoints')
const [order, writes, files, sinceRecord, commits] = [0, 1, 2, 3, 4]

/** `{ "number": 2, "point": { "of": "writes", "n": 3, "isDone": false } }`: the process is killed before its third write. */
function currentOrder() {
  try {
    return JSON.parse(readFileSync(join(folder, 'order'), 'utf8'))
  } catch {
    return null
  }
}

/** Counts a step, a statement or a call on files; says whether the process dies before it, or after it. */
function count(kind, text) {
  const found = currentOrder()
  if (found === null) return null
  if (Atomics.exchange(counters, order, found.number) !== found.number)
    for (const each of [writes, files, sinceRecord, commits]) Atomics.store(counters, each, 0)
  const next = (counter) => Atomics.add(counters, counter, 1) + 1
  const isStatement = kind === 'statements'
  const isSince = isStatement && (Atomics.load(counters, sinceRecord) > 0 || recording.test(text))
  const reached = {
    writes: isStatement && !isReading(text) ? next(writes) : 0,
    files: isStatement ? 0 : next(files),
    record: isSince ? next(sinceRecord) : 0,
    commit: isSince && committing.test(text) ? next(commits) : 0,
  }
  appendFileSync(join(folder, 'counted'), `${JSON.stringify([kind, text.slice(0, 200)])}\n`)
  const { point } = found
  if (point === null) return null
  if (reached[point.of] !== point.n) return null
  return point.isDone ? 'after' : 'before'
}

const die = () => process.kill(process.pid, 'SIGKILL')

function watch(prototype, name, textOf) {
  const original = prototype[name]
  prototype[name] = function (...given) {
    const when = count('statements', textOf(this, given))
    if (when === 'before') die()
    const result = original.apply(this, given)
    if (when === 'after') die()
    return result
  }
}

const probe = new Database(':memory:')
const prepared = Object.getPrototypeOf(probe.prepare('select 1'))
probe.close()
watch(Database.prototype, 'exec', (_, [sql]) => sql)
for (const name of ['run', 'get', 'all', 'iterate']) watch(prepared, name, ({ source }) => source)

for (const name of ['open', 'mkdir', 'rename', 'rm', 'rmdir']) {
  fs.promises[name] = async (path, ...given) => {
    const when = String(path).includes(`${sep}src${sep}`) ? count('files', `${name} ${path}`) : null
    if (when === 'before') die()
    try {
      return await promises[name](path, ...given)
    } finally {
      if (when === 'after') die()
    }
  }
}
syncBuiltinESMExports()
