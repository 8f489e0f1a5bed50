// Schedules over kills and pauses of the process that runs them: another process goes on, and no time is run twice.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Child, copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'

let folder: string
let children: Child[]
beforeEach(async () => {
  folder = await copyGolden()
  rmSync(join(folder, 'octavo.config.json'))
  children = []
})
afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL')
  await Promise.all(children.map(({ ended }) => ended))
  await remove(folder)
})

/** Every second: writes `begin <pid> <time>`, works for so many milliseconds, writes `end <pid> <time>`. */
function configure(milliseconds: number): void {
  writeFileSync(
    join(folder, 'octavo.config.mjs'),
    `import { appendFileSync } from 'node:fs'
    const write = (what, time) => appendFileSync(${JSON.stringify(join(folder, 'runs'))}, what + ' ' + process.pid + ' ' + time.getTime() + '\\n')
    export default { schedules: [{ name: 'tick', cron: '* * * * * *', run: async ({ time, signal }) => {
      write('begin', time)
      await new Promise((resolve) => { setTimeout(resolve, ${milliseconds}); signal.addEventListener('abort', resolve) })
      write('end', time)
    } }] }`,
  )
}

interface Line {
  readonly what: string
  readonly pid: number
  readonly time: number
}

const runs = (): readonly Line[] =>
  existsSync(join(folder, 'runs'))
    ? readFileSync(join(folder, 'runs'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .map(([what, pid, time]) => ({ what: what!, pid: Number(pid), time: Number(time) }))
    : []
const begun = () => runs().filter(({ what }) => what === 'begin')

function run(): Child {
  const child = start(folder, { LOG_LEVEL: 'info' })
  children.push(child)
  return child
}

const patience = { timeout: 40_000, interval: 100 }

rule('schedules.5', 'a process that is killed while it runs a schedule leaves it to another one', async () => {
  configure(1_500)
  const [one, two] = [run(), run()]
  await Promise.all([one.origin, two.origin])
  await expect.poll(() => begun().length, patience).toBeGreaterThanOrEqual(2)
  const { pid, time } = begun().at(-1)!
  const [killed, other] = one.process.pid === pid ? [one, two] : [two, one]
  killed.process.kill('SIGKILL')
  await killed.ended
  await expect
    .poll(() => begun().filter((line) => line.pid === other.process.pid && line.time > time).length, patience)
    .toBeGreaterThanOrEqual(2)
  const times = begun().map((line) => line.time)
  expect(new Set(times).size, 'no time is run twice').toBe(times.length)
  await expect.poll(() => other.output(), patience).toContain('the former run of a schedule did not end')
  // A run that was interrupted is not repeated; the last one has its end still before it.
  const ends = new Set(runs().flatMap((line) => (line.what === 'end' ? [line.time] : [])))
  expect(begun().filter((line) => !ends.has(line.time)).length).toBeLessThanOrEqual(2)
})

test('a process that is paused during a run loses the schedule, and its run is told to end', async () => {
  configure(120_000)
  const one = run()
  await one.origin
  await expect.poll(() => begun().length, patience).toBe(1)
  const two = run()
  await two.origin
  one.process.kill('SIGSTOP')
  // Another process waits for signs of life for half a minute.
  await expect.poll(() => begun().some(({ pid }) => pid === two.process.pid), { timeout: 55_000, interval: 500 }).toBe(true)
  one.process.kill('SIGCONT')
  await expect.poll(() => runs().some(({ what, pid }) => what === 'end' && pid === one.process.pid), patience).toBe(true)
  expect(begun()).toHaveLength(2)
}, 120_000)
