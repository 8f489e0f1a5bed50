// The time zone of a database with columns of local time: a different zone is reported, and times that such a column cannot store are refused.
import { afterAll, expect, it } from 'vitest'
import { copyGolden, remove, start } from '../faults/child.js'
import { clientOf } from '../faults/faulty.js'
import { send } from '../faults/operations.js'
import { describeServers, environmentOf, goldenContent } from './server.js'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => remove(folder))))

describeServers('time zones', (server, kind) => {
  it('writing.35: times in the repeated hour of a clock change are refused, and a start in another zone is reported', async () => {
    const folder = await copyGolden()
    folders.push(folder)
    const environment = environmentOf(await server().createDatabase(goldenContent(kind)))
    const inZone = async (TZ: string, work: (request: ReturnType<typeof clientOf>) => Promise<void>) => {
      const child = start(folder, { ...environment, TZ })
      await work(clientOf(await child.origin))
      child.process.kill('SIGTERM')
      await child.ended
      return child.output()
    }
    const first = await inZone('Europe/Zurich', async (request) => {
      const write = (starts: string) => send(request, 'POST', '/api/articles', { title: 'A moment', starts: starts })
      for (const moment of [
        '2026-10-25T00:30:00.000Z',
        '2026-10-25T01:30:00.000Z',
        '2026-03-29T01:30:00.000Z',
        '2026-07-01T12:00:00.000Z',
      ]) {
        const answer = await write(moment)
        if (answer.status === 201) expect(answer.body.data.starts).toBe(moment)
        else {
          expect([moment, answer.status], answer.text).toEqual(['2026-10-25T01:30:00.000Z', 400])
          expect(answer.body.error.details.errors[0]).toMatchObject({ path: ['starts'], message: expect.stringContaining('TZ') })
        }
      }
    })
    expect(first).toContain('one hour of the year comes twice')
    expect(first).not.toContain('were written in the time zone')
    const other = await inZone('UTC', async () => {})
    expect(other).toMatch(/"level":50.*were written in the time zone Europe\/Zurich, and this process runs in UTC/)
    // Another name of the same clock.
    const same = await inZone('Europe/Vaduz', async () => {})
    expect(same).not.toContain('were written in the time zone')
  })
})
