// Limits of a running process: how many descriptors it may open, how large its files may become.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Changes a limit of a running process and of those that it started, as an administrator would. */
export function limit(pid: number, what: string, value: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--${what}=${value}:`], { stdio: 'pipe' })
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
    for (const child of children.split(' ').filter((text) => text !== '')) limit(Number(child), what, value)
  }
}

/** True if this machine has the tools for it. */
export const canLimit = (() => {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'pipe' })
    return existsSync('/proc/self/fd')
  } catch {
    return false
  }
})()
