// Loaded before the service (`node --import`), in every thread: between the service and its driver and files, kills the
// process after the n-th statement of a transaction, or lets that statement or the disk fail. Told by files in FAULTS.
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const folder = process.env.FAULTS
const Database = createRequire(import.meta.url)('better-sqlite3')
const { readFileSync, rmSync, writeFileSync } = fs

/** What the next transaction is to suffer, taken once: `{ "n": 3, "code": "SQLITE_FULL" }`, or without a code to be killed. */
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

function watched(run, sql) {
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

/** The error that everything on the uploads' disk ends with, while the file `disk` names one. */
function broken(path) {
  if (!String(path).includes('uploads')) return null
  try {
    const code = readFileSync(join(folder, 'disk'), 'utf8')
    return Object.assign(new Error(`${code}: made by a test`), { code, syscall: 'write', path })
  } catch {
    return null
  }
}

for (const name of ['open', 'mkdir', 'rename', 'rm', 'utimes', 'writeFile']) {
  const original = fs.promises[name]
  fs.promises[name] = (path, ...given) => {
    const error = broken(path)
    return error === null ? original(path, ...given) : Promise.reject(error)
  }
}
syncBuiltinESMExports()
