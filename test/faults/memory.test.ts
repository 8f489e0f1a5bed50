// Memory that requests leave behind (reliability: R55): what is kept for later requests is bounded by its size, whatever
// anonymous callers ask for.
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { copyGolden, remove, start } from './child.js'

const megabytes = (process: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(process)], { encoding: 'utf8' })) / 1024

test('plans that are kept for later do not fill the memory, however large and different they are', async () => {
  const folder = copyGolden()
  const child = start(folder)
  try {
    const origin = await child.origin
    const ask = async (levels: number, field: string) => {
      const chain = Array(levels).fill('mentor').join('.')
      const { status } = await fetch(`${origin}/api/authors?filters[id]=-1&fields=${field}&populate=${chain}`)
      expect([200, 400]).toContain(status)
    }
    await ask(3, 'name')
    const before = megabytes(child.process.pid!)
    for (let levels = 100; levels < 150; levels++) for (const field of ['name', 'email', 'bio']) await ask(levels, field)
    expect(megabytes(child.process.pid!) - before).toBeLessThan(250)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    remove(folder)
  }
})
