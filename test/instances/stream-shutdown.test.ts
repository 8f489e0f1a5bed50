// Browsers follow the event stream over a restart: none gets an error, after which an EventSource does not connect again.
import { Agent, request } from 'node:http'
import { afterAll, afterEach, expect, vi } from 'vitest'
import { project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { requestAt } from '../support/serve.js'
import { patience } from '../support/until.js'
import { openStream } from '../webhooks/stream.js'
import { allServe, canListProcesses, endAll, lines, notes, requestOnce, run } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

const streaming = (drainDelay: number): string => `events: { stream: true }, limits: { drainDelay: ${drainDelay} }`

async function write(origin: string, name: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  expect((await requestAt(origin, '/api/notes', { method: 'POST', headers, body: JSON.stringify({ data: { name } }) })).status).toBe(201)
}

rule('event-stream.12', 'streams go on and may be opened while a service stops, and end once it does not listen', async () => {
  const child = run(project(notes(streaming(2_000))))
  const origin = await child.origin
  const stream = await openStream(`${origin}/api/events`)
  expect(stream.status).toBe(200)
  child.signal('SIGTERM')
  await vi.waitFor(async () => expect((await requestOnce(origin, '/_health')).status).toBe(503), patience)
  const later = await openStream(`${origin}/api/events`)
  expect([later.status, stream.isOver()]).toEqual([200, false])
  await write(origin, 'written while it stops')
  for (const one of [stream, later]) await vi.waitFor(() => expect(one.events).toHaveLength(1), patience)
  await vi.waitFor(() => expect([stream.isOver(), later.isOver()]).toEqual([true, true]), patience)
  await expect(requestOnce(origin, '/_health')).rejects.toThrow()
  expect(await child.ended).toMatchObject({ code: 0 })
})

if (canListProcesses)
  rule('event-stream.12', 'a process that is replaced ends the connections of its streams, and others take the next ones', async () => {
    const child = run(project(notes(streaming(10_000))), { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    const { hostname, port } = new URL(origin)
    const statuses: (number | undefined)[] = []
    const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    let [connected, isOver] = [0, false]
    /** Follows as a browser does: after an end it connects again, by the connection that it has where that is still open. */
    const follow = (agent: Agent): void => {
      const again = (): void => void (!isOver && setTimeout(follow, 50, agent))
      const asked = request({ hostname, port, path: '/api/events', agent }, (response) => {
        connected++
        statuses.push(response.statusCode)
        response.resume().on('end', again).on('error', again)
      })
      asked.on('error', again)
      asked.end()
    }
    for (let index = 0; index < 4; index++) follow(agents[index]!)
    await vi.waitFor(() => expect(connected).toBe(4), patience)
    child.signal('SIGHUP')
    await vi.waitFor(() => expect(lines(child, /all service processes are replaced/)).toHaveLength(1), patience)
    await vi.waitFor(() => expect(connected).toBeGreaterThanOrEqual(8), patience)
    isOver = true
    for (const agent of agents) agent.destroy()
    expect(statuses.filter((status) => status !== 200)).toEqual([])
  })
