// docs/spec/backups.md: restores onto mounted folders, as root for another user, and under the eyes of a script.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyFolder, fresh, type Project, removeAll, run } from '../archive/projects.js'
import { rule } from '../support/rule.js'
import { describeSqlite } from '../support/sqlite-only.js'
import { backedUp, copyOf, everythingIn, expectSound, filesIn, small } from './backed-up.js'

/** The built package, as a script has it. */
const { createService, loadConfig } = (await import('../../dist/index.js' as string)) as typeof import('../../src/service/index.js')

describeSqlite('restores', 'a server has no database file', () => {
  let project: Project
  let backup: string
  beforeAll(async () => {
    project = await small()
    backup = await backedUp(project)
  })
  afterAll(removeAll)

  const restore = ({ folder }: Project, under: readonly string[] = []) => run(['restore', backup, folder, '--replace'], {}, under)
  const notes = ({ folder }: Project) => readdirSync(join(folder, 'uploads')).filter((name) => /restor|replaced/.test(name))

  /** Runs the following command after a private bind mount. */
  const mounting = (from: string, to: string) => ['unshare', '-rm', 'sh', '-c', `mount --bind '${from}' '${to}' && exec "$@"`, 'sh']
  const isRoot = process.getuid?.() === 0
  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0

  test.runIf(canMount)('backups.14: an uploads folder that is a mount point is restored, and keeps lost+found', async () => {
    const target = copyOf(project)
    const [disk, uploads] = [emptyFolder(), join(target.folder, 'uploads')]
    mkdirSync(join(disk, 'lost+found'))
    writeFileSync(join(disk, 'old.txt'), 'old')
    expect(await restore(target, mounting(disk, uploads))).toMatchObject({ status: 0, err: '' })
    expect(filesIn(disk)).toEqual({ ...filesIn(join(backup, 'uploads')) })
    expect(existsSync(join(disk, 'lost+found'))).toBe(true)
    const [aside] = readdirSync(disk).filter((name) => name.startsWith('.replaced'))
    expect(readFileSync(join(disk, aside!, 'uploads', 'old.txt'), 'utf8')).toBe('old')
  })

  test.runIf(canMount)('backups.14: a mount where the restore would archive files is refused before anything changes', async () => {
    const target = copyOf(project)
    const inner = join(target.folder, 'uploads', 'inner')
    mkdirSync(inner)
    const before = [await everythingIn(target.database), filesIn(join(target.folder, 'uploads'))]
    const refused = [1, expect.stringMatching(/ is mounted there, so it cannot be put aside\. .*Nothing was changed\n$/)]
    for (const path of [inner, target.database]) {
      const { status, err } = await restore(target, mounting(path, path))
      expect([status, err]).toEqual(refused)
      expect(err).toContain(path)
      expect(notes(target)).toEqual([])
    }
    expect([await everythingIn(target.database), filesIn(join(target.folder, 'uploads'))]).toEqual(before)
  })

  test.runIf(isRoot)('backups.15: what root restores belongs to the owner of the folder that it is put into', async () => {
    const target = await fresh()
    const uploads = join(target.folder, 'uploads')
    mkdirSync(uploads)
    chownSync(target.folder, 1234, 1235)
    chownSync(uploads, 1236, 1237)
    chmodSync(uploads, 0o770)
    const ownerOf = (path: string) => {
      const { uid, gid, mode } = statSync(path)
      return [uid, gid, (mode & 0o777).toString(8)]
    }
    const first = await run(['restore', backup, target.folder, '--schemas'])
    expect(first).toMatchObject({ status: 0, err: '' })
    expect(ownerOf(join(uploads, 'heron.txt'))).toEqual([1236, 1237, '660'])
    expect(ownerOf(join(target.folder, '.tmp'))).toEqual([1234, 1235, '700'])
    expect(ownerOf(target.database).slice(0, 2)).toEqual([1234, 1235])

    // A database that is replaced is followed by one with its owner and rights.
    chownSync(target.database, 1238, 1239)
    chmodSync(target.database, 0o640)
    expect(await restore(target)).toMatchObject({ status: 0, err: '' })
    expect(ownerOf(target.database)).toEqual([1238, 1239, '640'])
    const [aside] = readdirSync(uploads).filter((name) => name.startsWith('.replaced'))
    expect(ownerOf(join(uploads, aside!))).toEqual([1236, 1237, '700'])
    await expectSound(target)
  })

  rule('backups.9', 'a script opens no service on a project whose restore has not ended', async () => {
    const target = copyOf(project)
    writeFileSync(join(target.folder, 'uploads', '.octavo-restore.json'), '{}')
    const config = await loadConfig(target.folder)
    const opening = createService({ ...config, uploadsFolder: join(target.folder, 'uploads') })
    await expect(opening).rejects.toThrow('A restore of this project was begun and has not ended')
  })
})
