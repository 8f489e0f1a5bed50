// The metrics of a process that is starting while the others are scraped.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, vi } from 'vitest'
import type { Child } from '../faults/child.js'
import { project, removeProjects } from '../start/command.js'
import { samplesOf, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { patience } from '../support/until.js'
import { allServe, canListProcesses, childrenOf, endAll, notes, requestManagementOf, requestOnce, run, withGate } from './started.js'

afterEach(endAll)
afterAll(removeProjects)

const limits = 'limits: { drainDelay: 100 }'

/** Number of requests for notes that the processes have counted together. */
async function counted(child: Child): Promise<number> {
  const { text } = await requestManagementOf(child, '/metrics')
  return sumOf(samplesOf(text), 'http_server_request_duration_seconds_count', { http_route: '/api/notes' }) ?? 0
}

async function readNotes(origin: string, times: number): Promise<void> {
  for (let index = 0; index < times; index++) await requestOnce(origin, '/api/notes')
}

describe.skipIf(!canListProcesses)('metrics of several processes', () => {
  rule('instances.5', 'a process that was starting during a scrape is in the next ones', async () => {
    const folder = project(withGate(notes(limits)))
    const child = run(folder, { OCTAVO_PROCESSES: '2' })
    const origin = await allServe(child, 2)
    writeFileSync(join(folder, 'gate'), '')
    process.kill(childrenOf(child)[0]!, 'SIGKILL')
    await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), patience)
    expect(await counted(child)).toBe(0)
    rmSync(join(folder, 'gate'))
    await allServe(child, 2)
    await readNotes(origin, 10)
    await vi.waitFor(async () => expect(await counted(child)).toBe(10), patience)
  })
})
