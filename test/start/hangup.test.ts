// SIGHUP to a command that serves: sent by another process it ends no process, and when the terminal is closed the command drains and ends.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, vi } from 'vitest'
import {
  allServe,
  canListProcesses,
  childrenOf,
  endAll,
  isRunning,
  lines,
  notes,
  openLoad,
  requestOnce,
  run,
  withGate,
} from '../instances/started.js'
import { rule } from '../support/rule.js'
import { patience } from '../support/until.js'
import { project, removeProjects, root } from './command.js'

afterEach(endAll)
afterAll(removeProjects)

/** True if a command can provide a terminal. */
const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

const isHeld = (folder: string): boolean => existsSync(join(folder, 'held'))

describe.skipIf(!canListProcesses)('SIGHUP without a terminal', () => {
  rule('instances.16', 'one process goes on without a failed request, and says that nothing is replaced', async () => {
    const child = run(project(notes('limits: { drainDelay: 0 }')))
    const load = openLoad(await child.origin, '/api/notes')
    await vi.waitFor(() => expect(load.done()).toBeGreaterThan(20), patience)
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /SIGHUP is ignored/)).toHaveLength(1), patience)
    const before = load.done()
    await vi.waitFor(() => expect(load.done()).toBeGreaterThan(before + 20), patience)
    expect(await load.stop()).toEqual([])
    child.signal('SIGTERM')
    expect(await child.ended).toMatchObject({ code: 0 })
  })

  for (const processes of ['1', '2'])
    rule('instances.16', `a command that is still reading its configuration goes on to serve; processes: ${processes}`, async () => {
      const folder = project(withGate(notes()))
      writeFileSync(join(folder, 'gate'), '')
      const child = run(folder, { OCTAVO_PROCESSES: processes })
      await vi.waitFor(() => expect(isHeld(folder)).toBe(true), patience)
      child.signal('SIGHUP')
      rmSync(join(folder, 'gate'))
      expect((await requestOnce(await child.origin, '/api/notes')).status).toBe(200)
    })

  rule('instances.16', 'one of several processes leaves it to the main process, also while it starts', async () => {
    const folder = project(withGate(notes('limits: { drainDelay: 100 }')))
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    await allServe(child, 2)
    writeFileSync(join(folder, 'gate'), '')
    const [replaced, other] = childrenOf(child)
    process.kill(replaced!, 'SIGKILL')
    await vi.waitFor(() => expect(isHeld(folder)).toBe(true), patience)
    const starting = Number(readFileSync(join(folder, 'held'), 'utf8'))
    for (const pid of [other!, starting]) process.kill(pid, 'SIGHUP')
    rmSync(join(folder, 'gate'))
    await allServe(child, 2)
    expect(childrenOf(child)).toEqual([other, starting])
    expect(lines(child, /a service process ended/)).toHaveLength(1)
  })
})

describe.skipIf(!canListProcesses || !hasTerminal)('a terminal that is closed', () => {
  for (const processes of ['1', '2'])
    rule('instances.16', `ends a command that serves in an orderly way; processes: ${processes}`, async () => {
      const folder = project(notes('limits: { drainDelay: 3_000 }'))
      const [log, noted] = [join(folder, 'log'), join(folder, 'pid')]
      // The output may go to a file all the same.
      const command = `echo $$ > ${noted}; exec ${process.execPath} ${join(root, 'dist', 'main.js')} start ${folder} > ${log}`
      const environment = { HOST: '127.0.0.1', PORT: '0', OCTAVO_PROCESSES: processes, NODE_ENV: 'production' }
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, ...environment }, stdio: 'ignore' })
      const output = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '')
      const origin = await vi.waitFor(() => {
        const [, address] = /Octavo serves .* at (http:[^\s"]+)/.exec(output()) ?? []
        expect(address).toBeDefined()
        return address!
      }, patience)
      const pid = Number(readFileSync(noted, 'utf8'))
      const serving = new Set<number>()
      await vi.waitFor(async () => {
        serving.add((await requestOnce(origin, '/api/pid')).body.pid)
        expect(serving.size).toBe(Number(processes))
      }, patience)
      terminal.kill('SIGKILL')
      // It still serves, as after SIGTERM.
      await vi.waitFor(async () => expect((await requestOnce(origin, '/_health')).status).toBe(503), patience)
      expect((await requestOnce(origin, '/api/notes')).status).toBe(200)
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), patience)
      expect([...serving].filter(isRunning)).toEqual([])
      expect(output()).toMatch(/"msg":"stopping"/)
    })
})
