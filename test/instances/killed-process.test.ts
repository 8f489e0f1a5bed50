// Connections that the main process has passed to a service process which is killed before it takes them.
import { afterAll, afterEach, describe, expect, vi } from 'vitest'
import { project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { patience } from '../support/until.js'
import { allServe, canListProcesses, childrenOf, connectionsOf, endAll, notes, requestOnce, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

/** Sends requests on `count` new connections. `ended`: number of responses and errors. */
function askOften(origin: string, count: number) {
  let ended = 0
  const outcomes = Array.from({ length: count }, () =>
    requestOnce(origin, '/api/notes')
      .then(({ status }) => String(status))
      .catch(() => 'reset')
      .finally(() => ended++),
  )
  return { ended: () => ended, outcomes: Promise.all(outcomes) }
}

describe.skipIf(!canListProcesses)('a killed process', () => {
  rule('instances.17', 'another process serves what a killed one was passed and had not taken', async () => {
    const child = run(project(notes('')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const [killed] = childrenOf(child)
    process.kill(killed!, 'SIGSTOP')
    const asked = askOften(origin, 4)
    // The one that is stopped was passed one of them.
    await vi.waitFor(() => expect(asked.ended()).toBe(3), patience)
    await vi.waitFor(() => expect(connectionsOf(child.process.pid!, Number(new URL(origin).port))).toBe(1), patience)
    process.kill(killed!, 'SIGKILL')
    await vi.waitFor(() => expect(asked.ended()).toBe(4), patience)
    expect(await asked.outcomes).toEqual(['200', '200', '200', '200'])
    await allServe(child, 2)
    await vi.waitFor(() => expect(connectionsOf(child.process.pid!, Number(new URL(origin).port))).toBe(0), patience)
  })

  rule('instances.17', 'connections are closed at once if no other process listens', async () => {
    const child = run(project(notes('')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const killed = childrenOf(child)
    for (const pid of killed) process.kill(pid, 'SIGSTOP')
    const asked = askOften(origin, 4)
    await vi.waitFor(() => expect(connectionsOf(child.process.pid!, Number(new URL(origin).port))).toBe(4), patience)
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(asked.ended()).toBe(4), patience)
    expect(await asked.outcomes).toEqual(['reset', 'reset', 'reset', 'reset'])
    await vi.waitFor(() => expect(connectionsOf(child.process.pid!, Number(new URL(origin).port))).toBe(0), patience)
    await allServe(child, 2)
  })

  rule('instances.17', 'no client waits where all are killed together and only one was passed a connection', async () => {
    const child = run(project(notes('')), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const killed = childrenOf(child)
    process.kill(killed[0]!, 'SIGSTOP')
    const asked = askOften(origin, 4)
    await vi.waitFor(() => expect(asked.ended()).toBe(3), patience)
    for (const pid of killed.toReversed()) process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(asked.ended()).toBe(4), patience)
    await allServe(child, 2)
    await vi.waitFor(() => expect(connectionsOf(child.process.pid!, Number(new URL(origin).port))).toBe(0), patience)
  })
})
