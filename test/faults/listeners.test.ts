// Listeners over kills, hangs and several processes (R08): every recorded event is delivered at least once, and a
// listener never decides how the process ends.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Child } from './child.js'
import { copyGolden, remove, start } from './child.js'
import { askerOf } from './faulty.js'
import { send } from './operations.js'

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

/** Listeners write down what they receive, as `process sequence`. */
function configure(...listeners: readonly string[]): void {
  writeFileSync(
    join(folder, 'octavo.config.mjs'),
    `import { appendFileSync } from 'node:fs'
    const write = (file, { sequence }) => appendFileSync(file, process.pid + ' ' + sequence + '\\n')
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
    ${listeners.join('\n')}
    export default { events: { listeners: [${listeners.map((text) => /const (\w+)/.exec(text)![1]).join(', ')}] } }`,
  )
}
const received = (file: string): readonly (readonly [pid: number, sequence: number])[] =>
  existsSync(join(folder, file))
    ? readFileSync(join(folder, file), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' ').map(Number) as unknown as readonly [number, number])
    : []
const sequences = (file: string) => new Set(received(file).map(([, sequence]) => sequence))

function run(): Child {
  const child = start(folder)
  children.push(child)
  return child
}

test('events that were recorded before a kill are delivered after the next start, from the cursor of each listener', async () => {
  configure(
    `const slow = async (event) => { await pause(30); write(${JSON.stringify(join(folder, 'slow'))}, event) }`,
    `const quick = (event) => write(${JSON.stringify(join(folder, 'quick'))}, event)`,
  )
  let recorded = 0
  for (let round = 0; round < 3; round++) {
    const child = run()
    const ask = askerOf(await child.origin)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(ask, 'POST', '/api/cities', { name: `${round} ${index}` })),
    )
    recorded += answers.filter(({ status }) => status === 201).length
    child.process.kill('SIGKILL')
    await child.ended
  }
  expect(recorded).toBe(60)
  expect(sequences('slow').size).toBeLessThan(60)
  await run().origin
  await vi.waitFor(() => expect([sequences('slow').size, sequences('quick').size]).toEqual([60, 60]), { timeout: 30_000, interval: 100 })
  // A batch at most is delivered again after a kill.
  expect(received('quick').length).toBeLessThan(60 + 3 * 50)
})

test('a listener that hangs does not change how SIGTERM ends, and others receive everything', async () => {
  configure('const hangs = () => new Promise(() => {})', `const quick = (event) => write(${JSON.stringify(join(folder, 'quick'))}, event)`)
  const child = run()
  const ask = askerOf(await child.origin)
  const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => send(ask, 'POST', '/api/cities', { name: `city ${index}` })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100)
  child.signal('SIGTERM')
  const { code, after } = await child.ended
  expect(code).toBe(0)
  expect(after).toBeLessThan(20_000)
  expect(sequences('quick').size).toBe(100)
})

test('of two processes one delivers; when it is killed the other takes over', async () => {
  configure(`const quick = async (event) => { await pause(5); write(${JSON.stringify(join(folder, 'quick'))}, event) }`)
  const asks = [askerOf(await run().origin), askerOf(await run().origin)]
  const write = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => send(asks[index % asks.length]!, 'POST', '/api/cities', { name: `city ${index}` })),
    )
  expect((await write(40)).filter(({ status }) => status !== 201).map(({ text }) => text)).toEqual([])
  await vi.waitFor(() => expect(sequences('quick').size).toBe(40), { timeout: 20_000, interval: 100 })
  expect(received('quick')).toHaveLength(40)
  const [owner] = received('quick').at(-1)!
  const index = children.findIndex((child) => child.process.pid === owner)
  await Promise.all([write(20), write(20)])
  children[index]!.process.kill('SIGKILL')
  asks.splice(index, 1)
  await vi.waitFor(() => expect(sequences('quick').size).toBe(80), { timeout: 40_000, interval: 100 })
})
