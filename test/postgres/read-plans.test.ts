// Just-in-time compilation of a read's statement takes seconds, its execution milliseconds.
import { expect, it } from 'vitest'
import { serveNotes } from '../servers/notes-service.js'
import { describePostgres } from '../servers/server.js'

describePostgres('reads on PostgreSQL', (server) => {
  it('are not compiled just in time, whatever their estimated cost', async () => {
    const url = new URL(await server().createDatabase())
    const database = url.pathname.slice(1)
    // Policies do not apply to superusers.
    const role = `${database}_owner`
    await server().run(url.href, `create role "${role}" login password 'secret'; alter database "${database}" owner to "${role}"`)
    await server().run(url.href, `alter schema public owner to "${role}"`)
    const own = Object.assign(new URL(url), { username: role, password: 'secret' }).href
    const service = await serveNotes(own)
    try {
      expect((await service.send('POST', '/api/notes', { code: 'one' })).status).toBe(201)
      await server().run(own, "create policy compiled on notes using (current_setting('jit') = 'off') with check (true)")
      await server().run(own, 'alter table notes enable row level security; alter table notes force row level security')
      expect(await server().run(own, "select current_setting('jit') as jit, count(*)::int as seen from notes")).toEqual([
        { jit: 'on', seen: 0 },
      ])
      expect((await service.send('GET', '/api/notes')).body.data).toMatchObject([{ code: 'one' }])
    } finally {
      await service.close()
      await server().removeDatabase(url.href)
      await server().run(server().root, `drop role "${role}"`)
    }
  })
})
