// A stop reaches a process of several that is still loading its code, and listens to no message yet.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, vi } from 'vitest'
import { project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { patience } from '../support/until.js'
import { allServe, canListProcesses, childrenOf, endAll, isRunning, lines, notes, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

/** Code that a service process runs before its own: it waits while a file `gate` is there, and notes its id in `held`. */
const gateOf = (folder: string): string => `import { existsSync, writeFileSync } from 'node:fs'
  const gate = ${JSON.stringify(join(folder, 'gate'))}
  if (process.send !== undefined && existsSync(gate)) {
    writeFileSync(${JSON.stringify(join(folder, 'held'))}, String(process.pid))
    while (existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 20))
  }`

describe.skipIf(!canListProcesses)('a process that is loading its code', () => {
  rule('instances.3', 'ends with the others, without serving', async () => {
    const folder = project(notes('limits: { drainDelay: 0 }'))
    const code = join(folder, 'gate.mjs')
    writeFileSync(code, gateOf(folder))
    const child = run(folder, { OCTAVO_PROCESSES: '2', NODE_OPTIONS: `--import ${code}` })
    await allServe(child, 2)
    writeFileSync(join(folder, 'gate'), '')
    const [replaced, other] = childrenOf(child)
    process.kill(replaced!, 'SIGKILL')
    await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), patience)
    const held = Number(readFileSync(join(folder, 'held'), 'utf8'))
    await vi.waitFor(() => expect(lines(child, /Server listening/)).toHaveLength(2), patience)
    child.signal('SIGTERM')
    // The notification of the others has reached the one that is loading too.
    await vi.waitFor(() => expect(isRunning(other!)).toBe(false), patience)
    rmSync(join(folder, 'gate'))
    expect(await child.ended).toMatchObject({ code: 0 })
    expect(isRunning(held)).toBe(false)
    expect(lines(child, /Server listening/)).toHaveLength(2)
  })
})
