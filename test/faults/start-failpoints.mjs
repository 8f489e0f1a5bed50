// Loaded before a start (`node --import`): counts its operations on its database and files, and kills the process after the
// step KILL_AT. Without KILL_AT the number of steps is left in KILL_COUNT when the process ends.
import fs from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const Database = createRequire(import.meta.url)('better-sqlite3')
const at = Number(process.env.KILL_AT ?? 0)
let steps = 0

function step() {
  if (++steps === at) process.kill(process.pid, 'SIGKILL')
}

function watch(owner, name, isCounted = () => true) {
  const original = owner[name]
  owner[name] = function (...given) {
    const result = original.apply(this, given)
    if (!isCounted(given)) return result
    if (result instanceof Promise) return result.finally(step)
    step()
    return result
  }
}

if (isMainThread) {
  const probe = new Database(':memory:')
  const statements = Object.getPrototypeOf(probe.prepare('select 1'))
  probe.close()
  for (const name of ['exec', 'pragma']) watch(Database.prototype, name)
  watch(statements, 'run')
  // Of all files only those of the project are steps.
  const isOurs = ([path]) => typeof path === 'number' || String(path).startsWith(process.env.KILL_IN)
  for (const name of ['openSync', 'writeSync', 'writeFileSync', 'mkdirSync', 'renameSync', 'chmodSync']) watch(fs, name, isOurs)
  for (const name of ['mkdir', 'chmod', 'rename']) watch(fs.promises, name, isOurs)
  watch(fs.promises, 'copyFile', ([, to]) => String(to).startsWith(process.env.KILL_IN))
  syncBuiltinESMExports()
  process.on('exit', () => fs.writeFileSync(process.env.KILL_COUNT, String(steps)))
}
