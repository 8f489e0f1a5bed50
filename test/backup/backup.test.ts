// docs/spec/backups.md: what a backup has, that it is never half there, and that damage to it is found (R10).
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect } from 'vitest'
import { begin, emptyFolder, type Project, removeAll, run } from '../archive/projects.js'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { describeSqlite } from '../support/sqlite-only.js'
import { runStatement } from '../support/statements.js'
import { isThorough } from '../support/thorough.js'
import { backedUp, copyOf, everythingIn, filesIn, killedAt, small, stepsIn } from './backed-up.js'

let project: Project
let backup: string
beforeAll(async () => {
  project = await small()
  backup = await backedUp(project)
})
afterAll(removeAll)

interface Manifest {
  readonly rows: [string, number][]
  readonly files: { readonly path: string; readonly bytes: number; readonly sha256: string }[]
}
const manifestOf = (path: string) => (JSON.parse(readFileSync(join(path, 'octavo-backup.json'), 'utf8')) as { manifest: Manifest }).manifest

/** A copy of the backup that a test may damage. */
function copied(): string {
  const path = join(emptyFolder(), 'backup')
  cpSync(backup, path, { recursive: true })
  return path
}

const verify = (path: string) => run(['backup', '--verify', path])

rule('backups.1', 'a backup has the database, the files, the schemas and a manifest of all of them', async () => {
  expect(Object.keys(filesIn(backup))).toEqual(
    [
      'database.db',
      'octavo-backup.json',
      ...['components/parts/anchor.json', 'components/parts/sail.json'].map((path) => `project/src/${path}`),
      ...['boat', 'harbour'].map((name) => `project/src/api/${name}/content-types/${name}/schema.json`),
      ...['uploads/heron.txt', 'uploads/tern.txt'],
    ].sort(),
  )
  expect(
    manifestOf(backup)
      .files.map(({ path }) => path)
      .sort(),
  ).toEqual(Object.keys(filesIn(backup)).filter((path) => !path.startsWith('octavo')))
  for (const path of ['database.db', 'octavo-backup.json']) expect(statSync(join(backup, path)).mode & 0o777, path).toBe(0o600)
  const [boats] = await runStatement(join(backup, 'database.db'), 'select count(*) as count from boats')
  expect(new Map(manifestOf(backup).rows).get('boats')).toBe(Number(boats!.count))
  const { status, out } = await run(['backup', project.folder, '--verify', backup, '--json'])
  expect([status, JSON.parse(out)]).toMatchObject([
    0,
    {
      database: expect.stringMatching(/^(?:sqlite|postgres|mysql)$/),
      octavo: expect.stringMatching(/^\d/),
      files: 7,
      doctor: { sound: true },
    },
  ])
})

rule('backups.4', 'a backup replaces nothing, and is not written among the files that are served', async () => {
  expect(await run(['backup', project.folder, '--to', backup])).toMatchObject({
    status: 1,
    err: expect.stringContaining(`${backup} exists`),
  })
  const inside = await run(['backup', project.folder, '--to', join(project.folder, 'uploads', 'backup')])
  expect(inside).toMatchObject({ status: 1, err: expect.stringContaining('is in the uploads folder') })
})

rule('backups.4', 'an interrupted backup removes its files', async () => {
  const path = join(emptyFolder(), 'backup')
  const { child, ended } = begin(['backup', project.folder, '--to', path])
  while (readdirSync(dirname(path)).length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ status: 143, err: 'octavo: interrupted\n' })
  expect(readdirSync(dirname(path))).toEqual([])
})

rule('backups.6', 'a byte that differs is found, wherever it is, and its file is named', async () => {
  expect(await verify(backup)).toMatchObject({ status: 0, err: '' })
  const schema = 'project/src/api/boat/content-types/boat/schema.json'
  for (const name of ['database.db', 'octavo-backup.json', schema, 'uploads/tern.txt']) {
    const path = copied()
    const bytes = readFileSync(join(path, name))
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(join(path, name), bytes)
    const { status, err } = await verify(path)
    expect([status, err], name).toEqual([1, expect.stringContaining(name)])
  }
})

rule('backups.6', 'a file that is missing, short or a link is found', async () => {
  const damages: readonly (readonly [(file: string) => void, RegExp])[] = [
    [(file) => rmSync(file), /uploads\/tern\.txt is missing/],
    [(file) => writeFileSync(file, 'tern '), /uploads\/tern\.txt is not the file that was written \(it has 5 bytes instead of 5000\)/],
    [
      (file) => {
        rmSync(file)
        symlinkSync(join(backup, 'uploads', 'tern.txt'), file)
      },
      /uploads\/tern\.txt is a link/,
    ],
    [
      (file) => {
        rmSync(dirname(file), { recursive: true })
        symlinkSync(join(backup, 'uploads'), dirname(file))
      },
      /uploads\/heron\.txt is a link/,
    ],
    [(file) => rmSync(join(file, '..', '..', 'octavo-backup.json')), /is not a complete backup/],
  ]
  for (const [damage, sentence] of damages) {
    const path = copied()
    damage(join(path, 'uploads', 'tern.txt'))
    expect(await verify(path)).toMatchObject({ status: 1, err: expect.stringMatching(sentence) })
  }
})

rule('backups.5', 'sessions, codes and data of processes are left out', async () => {
  const used = isOnServer ? await small() : copyOf(project)
  await runStatement(used.database, "insert into octavo_leases (name, owner, beat) values ('mine', 'me', 1)")
  await runStatement(used.database, "insert into octavo_identities (provider, subject, user_id) values ('github', '7', 1)")
  await runStatement(used.database, "insert into strapi_sessions (user_id, session_id, status) values ('1', 'a secret session', 'active')")
  const path = await backedUp(used)
  const count = async (table: string) =>
    Number((await runStatement(join(path, 'database.db'), `select count(*) as count from ${table}`))[0]!.count)
  expect([await count('octavo_leases'), await count('strapi_sessions'), await count('octavo_identities')]).toEqual([0, 0, 1])
  expect(readFileSync(join(path, 'database.db')).includes('a secret session')).toBe(false)
})

rule('backups.3', 'a file that is not where its row says is named', async () => {
  const used = isOnServer ? await small() : copyOf(project)
  rmSync(join(used.folder, 'uploads', 'tern.txt'))
  const path = join(emptyFolder(), 'backup')
  const { status, out } = await run(['backup', used.folder, '--to', path])
  expect([status, out]).toEqual([3, expect.stringContaining('does not have 1 file of the media library')])
  expect(out).toContain('\n  tern.txt\n')
  expect(out).toContain('every local file is in the uploads folder')
  expect(await verify(path)).toMatchObject({ status: 0 })
  const allowed = join(emptyFolder(), 'backup')
  expect(await run(['backup', used.folder, '--to', allowed, '--allow-missing-files'])).toMatchObject({
    ...{ status: 0, out: expect.stringContaining('\n  tern.txt\n') },
  })
})

rule('backups.13', 'findings of octavo doctor are printed, and the backup is created', async () => {
  const used = isOnServer ? await small() : copyOf(project)
  await runStatement(used.database, "update boats set document_id = null where name = 'Heron'")
  const path = join(emptyFolder(), 'backup')
  const { status, out } = await run(['backup', used.folder, '--to', path])
  const doctor = await run(['doctor', used.folder])
  const [finding] = /^WRONG.*$/m.exec(doctor.out)!
  expect([status, out]).toEqual([0, expect.stringContaining(finding)])
  expect(await verify(path)).toMatchObject({ status: 0, out: expect.stringContaining(finding) })
})

describeSqlite('a file', 'a server has no file', () => {
  rule('backups.13', 'a damaged file is not backed up', async () => {
    const used = copyOf(project)
    const database = new Database(used.database)
    const page = Number(database.prepare("select rootpage from sqlite_schema where name = 'boats'").pluck().get())
    const size = Number(database.pragma('page_size', { simple: true }))
    database.pragma('journal_mode = DELETE')
    database.close()
    const bytes = readFileSync(used.database)
    bytes.fill(0xff, (page - 1) * size, page * size)
    writeFileSync(used.database, bytes)
    const path = join(emptyFolder(), 'backup')
    expect(await run(['backup', used.folder, '--to', path])).toMatchObject({ status: 1, err: expect.stringContaining('is damaged') })
    expect(readdirSync(dirname(path))).toEqual([])
  })

  rule('backups.4', 'R13: a backup that meets a full disk says so, and leaves nothing', async () => {
    const used = copyOf(project)
    writeFileSync(join(used.folder, 'uploads', 'tern.txt'), Buffer.alloc(3_000_000))
    for (const bytes of [100_000, 2_000_000]) {
      const path = join(emptyFolder(), 'backup')
      const { status, err } = await run(['backup', used.folder, '--to', path], {}, ['prlimit', `--fsize=${bytes}`])
      expect([status, err]).toEqual([
        1,
        expect.stringMatching(/^octavo: The backup at .* cannot be written: .*\. Nothing is left of it\n$/),
      ])
      expect(readdirSync(dirname(path))).toEqual([])
    }
  })

  rule('backups.3', 'a replacement that a killed service has committed counts as made', async () => {
    const used = copyOf(project)
    const staging = join(used.folder, 'uploads', '.octavo', 'of-a-killed-service')
    cpSync(join(used.folder, 'uploads', 'heron.txt'), join(staging, 'owner'))
    writeFileSync(join(staging, 'owner'), '')
    const noteOf = (id: string, from: string, to: string) =>
      writeFileSync(
        join(staging, `${id}.note`),
        JSON.stringify({ provider: 'local', hash: null, names: [], swap: { id, moves: [[from, to]] } }),
      )
    noteOf('committed', '.new-tern', 'tern.txt')
    noteOf('given-up', '.new-heron', 'heron.txt')
    for (const name of ['.new-tern', '.new-heron']) writeFileSync(join(used.folder, 'uploads', name), 'the new text')
    await runStatement(used.database, "insert into octavo_file_swaps (id) values ('committed')")
    const path = await backedUp(used)
    expect(readFileSync(join(path, 'uploads', 'tern.txt'), 'utf8')).toBe('the new text')
    expect(readFileSync(join(path, 'uploads', 'heron.txt'), 'utf8')).toMatch(/^another heron /)
  })

  rule('backups.4', 'R10: a backup killed at any step is never accepted as complete, and the next one removes its remains', async () => {
    const before = await everythingIn(project.database)
    const parent = emptyFolder()
    const path = join(parent, 'backup')
    expect(await run(['backup', project.folder, '--to', path], killedAt(parent, 0))).toMatchObject({ status: 0 })
    const steps = stepsIn(parent)
    expect(steps).toBeGreaterThan(8)
    for (let step = 1; step <= steps; step += !isThorough && step < steps - 2 ? Math.floor(steps / 4) : 1) {
      rmSync(path, { recursive: true, force: true })
      expect((await run(['backup', project.folder, '--to', path], killedAt(parent, step))).status, `step ${step}`).toBe(null)
      if (existsSync(path)) expect(await verify(path), `step ${step}`).toMatchObject({ status: 0 })
    }
    rmSync(path, { recursive: true, force: true })
    expect(await run(['backup', project.folder, '--to', path])).toMatchObject({ status: 0, err: '' })
    expect(readdirSync(parent)).toEqual(['backup'])
    expect(await everythingIn(project.database)).toEqual(before)
  })
})
