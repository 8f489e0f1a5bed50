// Listeners over kills, hangs and several processes (R08): every recorded event is delivered at least once, and a
// listener never decides how the process ends.
import { expect, test, vi } from 'vitest'
import { patience } from '../support/until.js'
import { openChildren } from './children.js'
import { clientOf } from './faulty.js'
import { send } from './operations.js'

const children = openChildren(null)
const { run } = children

/** Listeners write down the events that they receive, as `process sequence`. */
const configure = (...listeners: readonly string[]): void =>
  children.configure(`
    const receive = (file, { sequence }) => write(file, process.pid, sequence)
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))
    ${listeners.join('\n')}
    export default { limits: { drainTimeout: 3_600_000 }, events: { listeners: [${listeners.map((text) => /const (\w+)/.exec(text)![1]).join(', ')}] } }`)

const received = (file: string) =>
  children.written(file).map((words) => words.map(Number) as unknown as readonly [pid: number, sequence: number])
const sequences = (file: string) => new Set(received(file).map(([, sequence]) => sequence))

test('events that were recorded before a kill are delivered after the next start, from the cursor of each listener', async () => {
  configure(`const slow = async (event) => { await pause(30); receive('slow', event) }`, `const quick = (event) => receive('quick', event)`)
  let recorded = 0
  for (let round = 0; round < 3; round++) {
    const child = run()
    const request = clientOf(await child.origin)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(request, 'POST', '/api/cities', { name: `${round} ${index}` })),
    )
    recorded += answers.filter(({ status }) => status === 201).length
    child.process.kill('SIGKILL')
    await child.ended
  }
  expect(recorded).toBe(60)
  expect(sequences('slow').size).toBeLessThan(60)
  await run().origin
  await vi.waitFor(() => expect([sequences('slow').size, sequences('quick').size]).toEqual([60, 60]), patience)
  // A batch at most is delivered again after a kill.
  expect(received('quick').length).toBeLessThan(60 + 3 * 50)
})

test('a listener that hangs does not change how SIGTERM ends, and others receive everything', async () => {
  configure('const hangs = () => new Promise(() => {})', `const quick = (event) => receive('quick', event)`)
  const child = run()
  const request = clientOf(await child.origin)
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => send(request, 'POST', '/api/cities', { name: `city ${index}` })),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100)
  child.signal('SIGTERM')
  // The test would be over before drainTimeout.
  expect(await child.ended).toMatchObject({ code: 0 })
  expect(sequences('quick').size).toBe(100)
})

test('of two processes one delivers; when it is killed the other takes over', async () => {
  configure(`const quick = async (event) => { await pause(5); receive('quick', event) }`)
  const asks = [clientOf(await run().origin), clientOf(await run().origin)]
  const write = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => send(asks[index % asks.length]!, 'POST', '/api/cities', { name: `city ${index}` })),
    )
  expect((await write(40)).filter(({ status }) => status !== 201).map(({ text }) => text)).toEqual([])
  await vi.waitFor(() => expect(sequences('quick').size).toBe(40), patience)
  expect(received('quick')).toHaveLength(40)
  const [owner] = received('quick').at(-1)!
  const index = children.all().findIndex((child) => child.process.pid === owner)
  await Promise.all([write(20), write(20)])
  children.all()[index]!.process.kill('SIGKILL')
  asks.splice(index, 1)
  await vi.waitFor(() => expect(sequences('quick').size).toBe(80), patience)
})
