// Loaded before the service (`node --import`), in every thread, to intercept its driver, files and threads: kills the
// process after the n-th statement of a transaction, fails that statement or the disk of uploads; advances the time or ends a
// thread at the n-th message. Controlled by files in FAULTS.
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

const folder = process.env.FAULTS
const Database = createRequire(import.meta.url)('better-sqlite3')
const { readFileSync, rmSync, writeFileSync } = fs

/** The fault for the next transaction, used once: `{ "n": 3, "code": "SQLITE_FULL" }`, or without a code to kill the process. */
function order() {
  try {
    const text = readFileSync(join(folder, 'order'), 'utf8')
    rmSync(join(folder, 'order'))
    return { left: JSON.parse(text).n, ...JSON.parse(text) }
  } catch {
    return null
  }
}

let armed = null

/** Statements that contain a text fail as long as `damaged` says so: `{ "text": "from \"cities\"", "code": "SQLITE_CORRUPT" }`. */
function failDamaged(sql) {
  let damaged
  try {
    damaged = JSON.parse(readFileSync(join(folder, 'damaged'), 'utf8'))
  } catch {
    return
  }
  if (sql.includes(damaged.text)) throw new Database.SqliteError('database disk image is malformed', damaged.code)
}

function watched(run, sql) {
  failDamaged(sql)
  if (sql === 'begin immediate') armed = order()
  if (armed === null || sql === 'rollback') return run()
  const current = armed
  current.counted = (current.counted ?? 0) + 1
  if (--current.left === 0) writeFileSync(join(folder, 'done'), sql)
  if (current.left === 0 && current.code !== undefined) {
    armed = null
    throw new Database.SqliteError('made by a test', current.code)
  }
  const result = run()
  if (current.left === 0) process.kill(process.pid, 'SIGKILL')
  if (sql === 'commit') {
    writeFileSync(join(folder, 'counted'), String(current.counted))
    armed = null
  }
  return result
}

function watch(prototype, name, textOf) {
  const original = prototype[name]
  prototype[name] = function (...given) {
    return watched(() => original.apply(this, given), textOf(this, given))
  }
}

const probe = new Database(':memory:')
const statements = Object.getPrototypeOf(probe.prepare('select 1'))
probe.close()
watch(Database.prototype, 'exec', (_, [sql]) => sql)
for (const name of ['run', 'get', 'all', 'iterate']) watch(statements, name, ({ source }) => source)

/** Calls on files of the uploads since `disk` was written: from the n-th on they end with `code`, or the process does. */
const disk = { since: 0, calls: 0 }

function disturbance() {
  try {
    const { mtimeMs } = fs.statSync(join(folder, 'disk'))
    if (mtimeMs !== disk.since) Object.assign(disk, { since: mtimeMs, calls: 0 })
    const { n, code } = JSON.parse(readFileSync(join(folder, 'disk'), 'utf8'))
    return { isDue: ++disk.calls >= n, code }
  } catch {
    return null
  }
}

for (const name of ['open', 'mkdir', 'rename', 'rm', 'utimes', 'writeFile']) {
  const original = fs.promises[name]
  fs.promises[name] = async (path, ...given) => {
    const found = String(path).includes('uploads') ? disturbance() : null
    if (!found?.isDue) return original(path, ...given)
    writeFileSync(join(folder, 'done'), `${name} ${path}`)
    if (found.code !== undefined) throw Object.assign(new Error(`${found.code}: made by a test`), { code: found.code, path })
    await original(path, ...given)
    process.kill(process.pid, 'SIGKILL')
  }
}
syncBuiltinESMExports()

/**
 * The fault at the n-th message since `message` was written: `{ "n": 2, "what": "late", "by": 950, "with": "writer" }` advances
 * the clocks of the main thread by that many milliseconds, `die` ends the thread that was about to send it.
 */
const messages = { since: 0, count: 0 }

function strikes(what, message) {
  try {
    const { mtimeMs } = fs.statSync(join(folder, 'message'))
    const order = JSON.parse(readFileSync(join(folder, 'message'), 'utf8'))
    if (order.what !== what || (order.with === 'writer') !== Array.isArray(message)) return null
    if (mtimeMs !== messages.since) Object.assign(messages, { since: mtimeMs, count: 0 })
    if (++messages.count !== order.n) return null
    rmSync(join(folder, 'message'))
    writeFileSync(join(folder, 'done'), JSON.stringify(message).slice(0, 300))
    return order
  } catch {
    return null
  }
}

let ahead = 0
if (isMainThread) {
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (message, ...given) {
    postMessage.call(this, message, ...given)
    ahead += strikes('late', message)?.by ?? 0
  }
  const now = { wall: Date.now, monotonic: performance.now.bind(performance) }
  Date.now = () => now.wall() + ahead
  performance.now = () => now.monotonic() + ahead
} else if (parentPort !== null) {
  const { postMessage } = parentPort
  parentPort.postMessage = function (message, ...given) {
    if (strikes('die', message) !== null) throw new Error('made by a test')
    postMessage.call(this, message, ...given)
  }
}
