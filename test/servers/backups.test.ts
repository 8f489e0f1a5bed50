// docs/spec/backups.md on servers: their rows go into a file and come back with their ids, also where a restore was killed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { differences } from '../archive/content.js'
import { harbour, newContent, schemas } from '../archive/harbour.js'
import { begin, emptyFolder, removeAll, run } from '../archive/projects.js'
import { everythingIn, filesIn } from '../backup/backed-up.js'
import { openProxy } from './proxy.js'
import { describeServers, environmentOf } from './server.js'

afterAll(removeAll)

const patience = 300_000

describeServers('backups', (server) => {
  const backup = join(emptyFolder(), 'backup')
  const files = { ...schemas(), ...newContent }
  let folder: string
  let source: string
  beforeAll(async () => {
    folder = (await harbour(files)).folder
    source = await server().createDatabase()
  })
  /** A project that has the schemas alone. */
  const elsewhereOf = async () => (await harbour(schemas())).folder
  const octavo = (url: string, ...words: readonly string[]) => run(words, environmentOf(url))

  it('backups.12: rows, tables of Octavo and files are restored unchanged, and new rows do not collide', {
    timeout: patience,
  }, async () => {
    expect(await octavo(source, 'roles', 'grant', 'public', 'api::harbour.harbour.find', folder)).toMatchObject({ status: 0 })
    await server().run(source, "insert into octavo_identities (id, provider, subject, user_id) values (41, 'github', '7', 1)")
    await server().run(source, 'create table plugin_rows (id integer primary key)')
    await server().run(source, 'insert into plugin_rows (id) values (1)')
    const made = await octavo(source, 'backup', folder, '--to', backup)
    expect(made).toMatchObject({ status: 0, err: '', out: expect.stringContaining('\n  plugin_rows (1 rows)\n') })
    expect(await run(['backup', '--verify', backup])).toMatchObject({ status: 0, err: '' })
    await server().run(source, 'drop table plugin_rows')

    const target = await server().createDatabase()
    const elsewhere = await elsewhereOf()
    expect(await octavo(target, 'restore', backup, elsewhere)).toMatchObject({ status: 0, err: '' })
    expect(differences(await everythingIn(source), await everythingIn(target))).toEqual([])
    expect(filesIn(join(elsewhere, 'uploads'))).toEqual(filesIn(join(folder, 'uploads')))
    expect((await octavo(target, 'doctor', elsewhere)).out).toMatch(/No problems found\.\n$/)
    expect(await octavo(target, 'users', 'create', elsewhere, '--username', 'zoe', '--email', 'zoe@example.test')).toMatchObject({
      status: 0,
    })

    const again = await octavo(target, 'restore', backup, elsewhere, '--replace')
    expect(again).toMatchObject({ status: 1, err: expect.stringContaining('A backup is restored into an empty database') })
  })

  it('backups.12: a backup of a server becomes a SQLite file', { timeout: patience }, async () => {
    const elsewhere = await elsewhereOf()
    const onFile = { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(elsewhere, 'data.db') }
    expect(await run(['restore', backup, elsewhere], onFile)).toMatchObject({ status: 0, err: '' })
    expect((await run(['doctor', elsewhere], onFile)).out).toMatch(/No problems found\.\n$/)
  })

  it('backups.12: R10: a restore that is killed goes on, and until then nothing else starts', { timeout: patience }, async () => {
    const target = await server().createDatabase()
    const elsewhere = await elsewhereOf()
    const note = join(elsewhere, 'uploads', '.octavo-restore.json')
    const way = await openProxy(target)
    const { child, ended } = begin(['restore', backup, elsewhere], environmentOf(way.url))
    await new Promise<void>((reached) => {
      way.watch = ({ text }, link) => {
        if (!/insert into .?files\b/i.test(text)) return
        link.stall()
        reached()
      }
    })
    child.kill('SIGKILL')
    expect(await ended).toMatchObject({ status: null })
    await way.close()
    expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ phase: 'rows' })
    expect(await octavo(target, 'doctor', elsewhere)).toMatchObject({
      status: 1,
      err: expect.stringContaining('A restore of this project was begun'),
    })
    const { status, out, err } = await octavo(target, 'restore', backup, elsewhere)
    expect([status, err, out.startsWith('Finished the restore that was interrupted')]).toEqual([0, '', true])
    expect(differences(await everythingIn(source), await everythingIn(target))).toEqual([])
    expect(existsSync(note)).toBe(false)
    expect(readdirSync(join(elsewhere, 'uploads')).filter((name) => name.startsWith('.'))).toEqual([])
  })
})
