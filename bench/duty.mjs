// Processes that get a share of the processor only, so that a machine with few cores shows whether several are faster than one.

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders for CPU control groups: version 1 and version 2 of the kernel's interface. */
const [first, second] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup']

/**
 * Gives each process `running` milliseconds of CPU time in each period; the returned function ends that. The kernel enforces it where
 * control groups may be created, signals do elsewhere.
 * @param {readonly number[]} pids
 * @param {{ running: number, period: number }} milliseconds
 */
export function limitTo(pids, milliseconds) {
  try {
    const groups = pids.map((pid) => limitByGroup(pid, milliseconds))
    return async () => {
      for (const end of groups) end()
    }
  } catch {
    return limitBySignals(pids, milliseconds)
  }
}

/** The mechanism that `limitTo` uses. */
export function limitedBy() {
  try {
    limitByGroup(process.pid, { running: 100, period: 100 })()
    return 'control groups'
  } catch {
    return 'signals'
  }
}

/**
 * @param {number} pid
 * @param {{ running: number, period: number }} milliseconds
 */
function limitByGroup(pid, { running, period }) {
  const isFirst = existsSync(join(first, 'cpu.cfs_quota_us'))
  const root = isFirst ? first : second
  const [, former = '/'] =
    new RegExp(isFirst ? /^\d+:[^:]*\bcpu\b[^:]*:(.*)$/m : /^0::(.*)$/m).exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8')) ?? []
  const group = join(root, `octavo-bench-${pid}`)
  mkdirSync(group)
  try {
    // Short periods, so that nothing waits for long.
    const [share, whole] = [(10_000 * running) / period, 10_000]
    if (isFirst) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(whole))
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(share))
    } else writeFileSync(join(group, 'cpu.max'), `${share} ${whole}`)
    writeFileSync(join(group, 'cgroup.procs'), String(pid))
  } catch (error) {
    rmdirSync(group)
    throw error
  }
  return () => {
    writeFileSync(join(root, former, 'cgroup.procs'), String(pid))
    rmdirSync(group)
  }
}

/**
 * Lets each process run for `running` milliseconds of each period, in turn.
 * @param {readonly number[]} pids
 * @param {{ running: number, period: number }} milliseconds
 */
function limitBySignals(pids, { running, period }) {
  let isOver = false
  const signal = (/** @type {number} */ pid, /** @type {NodeJS.Signals} */ name) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
  }
  const wait = (/** @type {number} */ until) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())))
  const turns = pids.map(async (pid, index) => {
    // By a plan of absolute times, so that late timers do not add up.
    let begin = performance.now() + (index * period) / pids.length
    while (!isOver) {
      await wait(begin)
      signal(pid, 'SIGCONT')
      await wait(begin + running)
      signal(pid, 'SIGSTOP')
      begin += period
    }
    signal(pid, 'SIGCONT')
  })
  return async () => {
    isOver = true
    await Promise.all(turns)
  }
}
