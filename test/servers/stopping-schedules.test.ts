// A service stops while it claims a time of a schedule and another client holds the table of times: it does not run there, but elsewhere.
import { expect } from 'vitest'
import { rule } from '../support/rule.js'
import { serveExisting } from '../support/serve.js'
import { until } from '../support/until.js'
import { serveNotes } from './notes-service.js'
import { describeServers, environmentOf } from './server.js'

describeServers('schedules of a service that stops', (server) => {
  rule('schedules.9', 'a stop begins no run, also of a time that is being claimed, which is left to others', async () => {
    const url = await server().createDatabase()
    const runs: number[] = []
    const schedules = [{ name: 'tick', cron: '* * * * * *', run: ({ time }: { readonly time: Date }) => void runs.push(time.getTime()) }]
    const service = await serveNotes(url, { code: { schedules } })
    try {
      await until('a time was run', async () => runs.length > 0)
      const unlock = await server().lockTable(url, 'octavo_schedule_times')
      await until('the next time is being claimed', async () => (await server().waiting(url)) > 0)
      const before = [...runs]
      const stopped = service.service.close()
      await unlock()
      await stopped
      expect(runs).toEqual(before)
      const [row] = await server().run(url, 'select last_time from octavo_schedule_times')
      expect(Number(row!.last_time)).toBe(before.at(-1))
      const next = await serveExisting(service, environmentOf(url), { schedules })
      await until('the next start runs on', async () => runs.length > before.length)
      await next.close()
    } finally {
      await service.close()
    }
  })
})
