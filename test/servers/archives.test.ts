// docs/spec/archives.md on servers: an archive goes from one database to another, also of another kind, and octavo leave takes Octavo out.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentOf, differences } from '../archive/content.js'
import { everything, objectsOf } from '../archive/leaving.js'
import { emptyFolder, removeAll, run } from '../archive/projects.js'
import { goldenProject } from '../support/serve.js'
import { describeServers, environmentOf, goldenContent } from './server.js'

afterAll(removeAll)

/** Milliseconds for a test, which runs up to six commands. */
const patience = 300_000

/** The only output for a database that had no tables. */
const created = /^Created the tables of \S+\.\n$/

describeServers('archives', (server, kind) => {
  const folder = emptyFolder()
  const archive = join(emptyFolder(), 'golden')
  let source: string
  let target: string
  beforeAll(async () => {
    cpSync(goldenProject, folder, { recursive: true })
    source = await server().createDatabase(goldenContent(kind))
    target = await server().createDatabase()
  })
  /** `file`: a SQLite database in the folder; otherwise the database at a URL. */
  const octavo = (url: string | null, ...words: readonly string[]) =>
    run(words, url === null ? { DATABASE_CLIENT: 'sqlite', DATABASE_FILENAME: join(folder, 'copy.db') } : environmentOf(url))

  it('archives.6: an export can be imported, and the doctor finds no problems', { timeout: patience }, async () => {
    const before = await contentOf(source)
    expect(await octavo(source, 'export', folder, '-f', archive, '--no-encrypt')).toMatchObject({ status: 0, err: '' })
    expect(await octavo(target, 'import', folder, '-f', `${archive}.tar.gz`)).toMatchObject({
      status: 0,
      err: expect.stringMatching(created),
    })
    expect(differences(before, await contentOf(target))).toEqual([])
    expect((await octavo(target, 'doctor', folder)).out).toMatch(/No problems found\.\n$/)
    // New rows do not collide with imported ones.
    expect(await octavo(target, 'users', 'create', folder, '--username', 'zoe', '--email', 'zoe@example.test')).toMatchObject({ status: 0 })
    expect(await octavo(target, 'import', folder, '-f', `${archive}.tar.gz`, '--force')).toMatchObject({ status: 0, err: '' })
    expect(differences(before, await contentOf(target))).toEqual([])
  })

  it('archives.6: it goes to SQLite and back', { timeout: patience }, async () => {
    const back = await server().createDatabase()
    const before = await contentOf(source)
    const other = join(emptyFolder(), 'golden')
    expect(await octavo(null, 'import', folder, '-f', `${archive}.tar.gz`)).toMatchObject({ status: 0 })
    expect(await octavo(null, 'export', folder, '-f', other, '--no-encrypt')).toMatchObject({ status: 0 })
    expect(await octavo(back, 'import', folder, '-f', `${other}.tar.gz`)).toMatchObject({ status: 0, err: expect.stringMatching(created) })
    expect(differences(before, await contentOf(back))).toEqual([])
  })

  it('archives.8: what does not fit is counted, and nothing is written without --adapt', { timeout: patience }, async () => {
    const strapis = join(import.meta.dirname, '..', 'golden', 'archive', 'golden-export.tar.gz')
    const before = await contentOf(target)
    const refused = await octavo(target, 'import', folder, '-f', strapis, '--force')
    expect(refused.status).toBe(1)
    expect(refused.out).toMatch(
      /^ {2}\d+ × api::article\.article\.rating: a value has 5 decimals, of which 2 are kept \(row \d+: 3\.14159;/m,
    )
    expect(differences(before, await contentOf(target))).toEqual([])
    expect(await octavo(target, 'import', folder, '-f', strapis, '--force', '--adapt')).toMatchObject({ status: 0 })
    expect((await octavo(target, 'doctor', folder)).out).toMatch(/No problems found\.\n$/)
  })

  it('archives.14: octavo leave removes exactly the objects of Octavo', { timeout: patience }, async () => {
    const own = await server().createDatabase(goldenContent(kind))
    const before = { objects: await objectsOf(own), content: await everything(own) }
    expect(await octavo(own, 'settings', 'set', 'allow-register', 'yes', folder)).toMatchObject({ status: 0 })
    expect(await octavo(own, 'indexes', folder)).toMatchObject({ status: 0 })
    expect((await octavo(own, 'leave', folder)).err).toBe('octavo: To agree: --force. Nothing was changed\n')
    expect(await octavo(own, 'leave', folder, '--force')).toMatchObject({ status: 0, err: '' })
    expect(await objectsOf(own)).toEqual(before.objects)
    expect(differences(before.content, await everything(own))).toEqual([])
    expect((await octavo(own, 'leave', folder)).out).toMatch(/^Nothing of Octavo is in /)
  })
})
