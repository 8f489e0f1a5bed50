// docs/spec/backups.md: restores, their refusals, and kills at any time (R10).
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect } from 'vitest'
import { oldContent, schemas, settled } from '../archive/harbour.js'
import { begin, emptyFolder, type Project, removeAll, run } from '../archive/projects.js'
import { start } from '../faults/child.js'
import { rule } from '../support/rule.js'
import { describeSqlite } from '../support/sqlite-only.js'
import { isThorough } from '../support/thorough.js'
import { backedUp, copyOf, everythingIn, expectSound, filesIn, killedAt, small, stepsIn } from './backed-up.js'

describeSqlite('restores', 'a server keeps its former database: test/servers/backups.test.ts', () => {
  let newer: Project
  let older: Project
  let backup: string
  beforeAll(async () => {
    ;[newer, older] = [await small(), await settled({ ...schemas(), ...oldContent })]
    backup = await backedUp(newer)
  })
  afterAll(removeAll)

  interface State {
    readonly rows: Awaited<ReturnType<typeof everythingIn>>
    readonly uploads: Readonly<Record<string, string>>
  }
  const stateOf = async ({ folder, database }: Project): Promise<State> => ({
    rows: await everythingIn(database),
    uploads: filesIn(join(folder, 'uploads')),
  })

  const restore = (project: Project, ...options: readonly string[]) => run(['restore', backup, project.folder, ...options])

  /** Names that a restore created next to the database and in the uploads folder. */
  const madeIn = ({ folder }: Project) =>
    [...readdirSync(join(folder, '.tmp')), ...readdirSync(join(folder, 'uploads'))].filter((name) => /restor|replaced/.test(name)).sort()

  rule('backups.8', 'a project that has something is only replaced with --replace, and nothing of it is deleted', async () => {
    const project = copyOf(older)
    const before = await stateOf(project)
    const refused = await restore(project)
    expect([refused.status, refused.err]).toEqual([
      1,
      expect.stringMatching(/The project has the database .* and files in .*--replace\. Nothing was changed/),
    ])
    expect(await stateOf(project)).toEqual(before)
    const { status, out, err } = await restore(project, '--replace')
    expect([status, err]).toEqual([0, ''])
    expect(madeIn(project)).toHaveLength(2)
    expect(await stateOf(project)).toEqual(await stateOf(newer))
    await expectSound(project)
    const [database, uploads] = out
      .trim()
      .split('\n')
      .slice(-2)
      .map((line) => line.trim())
    expect(dirname(uploads!)).toBe(join(project.folder, 'uploads'))
    expect({ rows: await everythingIn(database!), uploads: filesIn(join(uploads!, 'uploads')) }).toEqual(before)
  })

  rule('backups.8', 'a database that something has open is not replaced', async () => {
    const project = copyOf(older)
    const open = new Database(project.database)
    open.prepare('select count(*) from boats').get()
    expect(await restore(project, '--replace')).toMatchObject({ status: 1, err: expect.stringContaining('is in use') })
    open.close()
    expect(await restore(project, '--replace')).toMatchObject({ status: 0 })
  })

  rule('backups.8', 'a damaged database is replaced', async () => {
    const project = copyOf(older)
    writeFileSync(project.database, 'this is not a database'.repeat(1000))
    expect(await restore(project, '--replace')).toMatchObject({ status: 0, err: '' })
    await expectSound(project)
  })

  rule('backups.7', 'a damaged backup is refused with the name of the file, and nothing is changed', async () => {
    const project = copyOf(older)
    const before = await stateOf(project)
    const damaged = join(emptyFolder(), 'backup')
    cpSync(backup, damaged, { recursive: true })
    const bytes = readFileSync(join(damaged, 'uploads', 'heron.txt'))
    bytes[100]! ^= 4
    writeFileSync(join(damaged, 'uploads', 'heron.txt'), bytes)
    const { status, err } = await run(['restore', damaged, project.folder, '--replace'])
    expect([status, err]).toEqual([1, expect.stringMatching(/The backup is damaged: uploads\/heron\.txt is not the file that was written/)])
    expect(await stateOf(project)).toEqual(before)
    expect(madeIn(project)).toEqual([])
  })

  rule('backups.7', 'no path of a manifest leads out of the backup or the project', async () => {
    const project = copyOf(older)
    const secret = join(emptyFolder(), 'secret.txt')
    writeFileSync(secret, 'a secret')
    const sum = createHash('sha256').update('a secret').digest('hex')
    const paths = ['uploads/../../secret.txt', secret, 'uploads/.octavo', 'project/.env', 'project/src/../../x.json']
    for (const path of paths) {
      const hostile = join(emptyFolder(), 'backup')
      cpSync(backup, hostile, { recursive: true })
      const { manifest } = JSON.parse(readFileSync(join(hostile, 'octavo-backup.json'), 'utf8'))
      manifest.files.push({ path, bytes: 8, sha256: sum })
      const sha256 = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
      writeFileSync(join(hostile, 'octavo-backup.json'), JSON.stringify({ sha256, manifest }))
      const { status, err } = await run(['restore', hostile, project.folder, '--replace', '--schemas'])
      expect([status, err]).toEqual([1, expect.stringContaining(`a backup has no file ${JSON.stringify(path)}`)])
    }
    const linked = join(emptyFolder(), 'backup')
    cpSync(backup, linked, { recursive: true })
    rmSync(join(linked, 'uploads', 'tern.txt'))
    symlinkSync(secret, join(linked, 'uploads', 'tern.txt'))
    expect(await run(['restore', linked, project.folder, '--replace'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('uploads/tern.txt is a link'),
    })
    expect(madeIn(project)).toEqual([])
  })

  rule('backups.10', 'differing schemas are named, and an option decides what happens to them', async () => {
    const path = (name: string) => `src/api/${name}/content-types/${name}/schema.json`
    const changed = () => {
      const project = copyOf(older)
      const file = join(project.folder, path('boat'))
      const schema = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...schema, attributes: { ...schema.attributes, mast: { type: 'integer' } } }))
      mkdirSync(join(project.folder, 'src', 'components', 'more'), { recursive: true })
      writeFileSync(
        join(project.folder, 'src/components/more/oar.json'),
        JSON.stringify({ info: { displayName: 'Oar' }, attributes: { length: { type: 'integer' } } }),
      )
      return project
    }
    const project = changed()
    const before = readFileSync(join(project.folder, path('boat')), 'utf8')
    const refused = await restore(project, '--replace')
    expect([refused.status, refused.err]).toEqual([
      1,
      expect.stringContaining(`${path('boat')}: differs\n  src/components/more/oar.json: only in the project\n`),
    ])
    expect(madeIn(project)).toEqual([])

    expect(await restore(project, '--replace', '--schemas')).toMatchObject({ status: 0, err: '' })
    expect(filesIn(join(project.folder, 'src'))).toEqual(filesIn(join(newer.folder, 'src')))
    const [aside] = readdirSync(join(project.folder, 'uploads')).filter((name) => name.startsWith('.replaced'))
    const keptAside = join(project.folder, 'uploads', aside!, 'project')
    expect(Object.keys(filesIn(keptAside))).toEqual([path('boat'), 'src/components/more/oar.json'])
    expect(readFileSync(join(keptAside, path('boat')), 'utf8')).toBe(before)
    await expectSound(project)

    const kept = changed()
    expect(await restore(kept, '--replace', '--keep-schemas')).toMatchObject({ status: 0, err: '' })
    expect(readFileSync(join(kept.folder, path('boat')), 'utf8')).toBe(before)
  })

  rule('backups.9', 'R13: a restore that meets a full disk leaves the project as it was, and says so', async () => {
    const project = copyOf(older)
    const before = await stateOf(project)
    const full = await run(['restore', backup, project.folder, '--replace'], {}, ['prlimit', '--fsize=100000'])
    expect([full.status, full.err]).toEqual([
      1,
      expect.stringMatching(/^octavo: The backup cannot be restored: .*\. Nothing was changed\n$/),
    ])
    expect(await stateOf(project)).toEqual(before)
    expect(madeIn(project)).toEqual([])
  })

  rule('backups.9', 'a restore that is interrupted before it changes the project removes its files', async () => {
    const project = copyOf(older)
    const before = await stateOf(project)
    const { child, ended } = begin(['restore', backup, project.folder, '--replace'])
    const isBegun = () => readdirSync(join(project.folder, 'uploads')).some((name) => name.startsWith('.octavo-restore'))
    while (!isBegun()) await new Promise((resolve) => setTimeout(resolve, 1))
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ status: 143, out: '', err: 'octavo: interrupted\n' })
    expect(await stateOf(project)).toEqual(before)
    expect(madeIn(project).filter((name) => !name.startsWith('.octavo-restore.lock'))).toEqual([])
  })

  rule('backups.9', 'R10: a restore that is killed at any step leaves the old state, or is finished by the next one', async () => {
    const [old, expected] = [await stateOf(older), await stateOf(newer)]
    const rehearsal = copyOf(older)
    const words = (project: Project) => ['restore', backup, project.folder, '--replace']
    expect(await run(words(rehearsal), killedAt(rehearsal.folder, 0))).toMatchObject({ status: 0 })
    const steps = stepsIn(rehearsal.folder)
    const found: string[] = []
    let refusals = 0
    for (let step = 1; step <= steps; step += isThorough ? 1 : Math.max(1, Math.floor(steps / 4))) {
      const project = copyOf(older)
      expect((await run(words(project), killedAt(project.folder, step))).status, `step ${step}`).toBe(null)
      const isBegun = existsSync(join(project.folder, 'uploads', '.octavo-restore.json'))
      if (isBegun && refusals++ === 0) {
        expect(await run(['doctor', project.folder])).toMatchObject({
          status: 1,
          err: expect.stringContaining('A restore of this project was begun'),
        })
        const service = start(project.folder)
        expect((await service.ended).code).toBe(1)
        expect(service.errors()).toContain('A restore of this project was begun')
        const other = await run(['restore', await backedUp(older), project.folder, '--replace'])
        expect(other).toMatchObject({ status: 1, err: expect.stringContaining('Finish it first') })
      }
      if (!isBegun) found.push((await stateOf(project)).uploads['gull.txt'] === undefined ? 'new' : 'old')
      if (found.at(-1) === 'old' && !isBegun) expect(await stateOf(project)).toEqual(old)
      const { status, out, err } = await run(words(project))
      expect([status, err], `step ${step}`).toEqual([0, ''])
      expect(out.startsWith('Finished the restore that was interrupted'), `step ${step}`).toBe(isBegun)
      expect(await stateOf(project), `step ${step}`).toEqual(expected)
      // The former state is archived as a whole.
      const aside = madeIn(project)
      const uploads = aside
        .filter((name) => name.startsWith('.replaced'))
        .map((name) => filesIn(join(project.folder, 'uploads', name, 'uploads')))
      expect(uploads).toContainEqual(old.uploads)
      expect(aside.filter((name) => name.includes('restor'))).toEqual([])
    }
    expect(found.join(' ')).toMatch(/^(?:old ?)+(?:new ?)*$/)
    expect(refusals).toBeGreaterThan(1)
  })
})
