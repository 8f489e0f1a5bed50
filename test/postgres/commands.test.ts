// Commands on PostgreSQL: their output and their changes.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describePostgres } from '../servers/server.js'
import { octavo, project, removeProjects } from '../start/command.js'
import { serveExisting } from '../support/serve.js'

afterAll(removeProjects)

const schema = {
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  options: { draftAndPublish: true },
  pluginOptions: { i18n: { localized: true } },
  attributes: { title: { type: 'string' } },
}

describePostgres('commands on PostgreSQL', (server) => {
  let folder: string
  let url: string
  beforeAll(async () => {
    folder = project({ 'octavo.config.json': { events: { outbox: true } }, 'src/api/note/content-types/note/schema.json': schema })
    url = await server().createDatabase()
  })
  /** Runs a command on the project and returns its output. */
  const said = async (...words: string[]): Promise<string> => {
    const { status, out, err } = await octavo([...words, folder], { DATABASE_CLIENT: 'postgres', DATABASE_URL: url })
    expect(status, err).toBe(0)
    return out
  }

  it('only look at a database that has no tables yet', async () => {
    const { status, err } = await octavo(['tokens', 'list', folder], { DATABASE_CLIENT: 'postgres', DATABASE_URL: url })
    expect(status).toBe(1)
    expect(err).toMatch(
      /^octavo: The database postgres:\/\/127\.0\.0\.1:\d+\/\w+ is empty\. Start the service once: [^\n]+ start [^\n]+\n$/,
    )
    expect(await server().run(url, 'select from pg_tables where schemaname = current_schema()')).toEqual([])
  })

  it('tokens are created, listed, regenerated and revoked', async () => {
    const key = (await said('tokens', 'create', '--name', 'site', '--expires', '7')).trim()
    expect(await said('tokens', 'list')).toMatch(/^1 +site +read-only +\d{4}-\d\d-\d\d \d\d:\d\d +-$/m)
    const before = await server().run(url, 'select expires_at from strapi_api_tokens')
    const other = (await said('tokens', 'regenerate', 'site')).trim()
    expect(other).not.toBe(key)
    const after = await server().run(url, 'select expires_at from strapi_api_tokens')
    expect(Number(after[0]!.expires_at)).toBeGreaterThan(Number(before[0]!.expires_at))
    await said('tokens', 'create', '--name', 'forever', '--type', 'custom', '--permissions', 'api::note.note.find')
    await said('tokens', 'regenerate', 'forever')
    expect(await said('tokens', 'list')).toMatch(/^2 +forever +custom +- +-$/m)
    expect(await said('tokens', 'revoke', 'site')).toBe('Revoked token "site".\n')
    expect(await said('tokens', 'list')).not.toContain('site')
  })

  it('users and roles', async () => {
    expect(await said('roles', 'create', 'Editor')).toBe('Created role "Editor".\n')
    await said('roles', 'grant', 'editor', 'api::note.note.find')
    expect(await said('roles', 'list')).toMatch(/^\d+ +Editor +editor +0 +1$/m)
    await said('users', 'create', '--username', 'alice', '--email', 'alice@x.test', '--password', 'secret12')
    await said('users', 'role', 'alice', 'editor')
    expect(await said('users', 'block', 'alice')).toBe('Blocked user "alice".\n')
    expect(await said('users', 'list')).toMatch(/^1 +alice +alice@x\.test +editor +blocked$/m)
    expect(await said('roles', 'revoke', 'editor', 'api::note.note.find')).toContain('no longer allows')
    expect(await said('roles', 'delete', 'editor')).toBe('Deleted role "Editor". Its users (1) now have the public role.\n')
    expect(await said('users', 'delete', 'alice')).toBe('Deleted user "alice".\n')
  })

  it('locales and settings', async () => {
    await said('locales', 'add', 'fr')
    await said('locales', 'default', 'fr')
    expect(await said('locales', 'remove', 'en')).toBe('Removed locale en.\n')
    expect(await said('locales', 'list')).toMatch(/^fr +French \(fr\) +0 +default$/m)
    expect(await said('settings', 'set', 'allow-register', 'no')).toBe('allow-register is now no.\n')
    expect(await said('settings', 'list')).toMatch(/^allow-register +no /m)
  })

  it('indexes are created once, events are printed', async () => {
    expect(await said('indexes')).toMatch(/^Created \d+ indexes\.$/m)
    expect(await said('indexes')).toBe('All indexes exist.\n')
    const served = await serveExisting({ folder }, { DATABASE_CLIENT: 'postgres', DATABASE_URL: url })
    await served.service.documents('api::note.note').create({ data: { title: 'first' } })
    await served.close()
    expect(JSON.parse(await said('events'))).toMatchObject({ sequence: 1, uid: 'api::note.note' })
    expect(await said('events', '--after', '1')).toBe('')
  })

  it.each([
    ['postgres://alice:secret12@127.0.0.1:1/site', 'postgres://127.0.0.1:1/site'],
    ['postgres://127.0.0.1:1/site?user=alice&password=secret12', 'postgres://127.0.0.1:1/site'],
    ['postgres://alice:1/secret12@127.0.0.1:1/site', 'postgres://127.0.0.1:1/site'],
    ['postgres://alice:se/cret12@127.0.0.1:1/site', 'postgres://…'],
  ])('%s is named without its password', async (address, name) => {
    const { status, err } = await octavo(['users', 'list', folder], { DATABASE_CLIENT: 'postgres', DATABASE_URL: address })
    expect(status).toBe(1)
    expect(err).toContain(`octavo: The database at ${name} cannot be used: `)
    expect(err).not.toMatch(/cret12/)
  })
})
