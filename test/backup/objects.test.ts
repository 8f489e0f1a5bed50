// docs/spec/backups.md: files in a bucket are in a backup, and come back into one.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { harbour, newContent, oldContent, schemas, settled } from '../archive/harbour.js'
import { emptyFolder, exported, fresh, type Project, removeAll, run } from '../archive/projects.js'
import { rule } from '../support/rule.js'
import { type S3Server, startS3, storedAt } from '../uploads/s3-server.js'
import { expectSound } from './backed-up.js'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(async () => {
  await s3.close()
  await removeAll()
})

const configure = ({ folder }: Project, config: unknown) => writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify(config))

rule(
  'backups.11',
  'objects that a bucket lacks or has with other content come back, and those that are replaced are put aside',
  async () => {
    const { config, environment = {} } = storedAt(s3)
    const archive = await exported(await settled({ ...schemas(), ...newContent }))
    const project = await settled({ ...schemas(), ...oldContent })
    configure(project, config)
    expect(await run(['import', project.folder, '-f', archive, '--force'], environment as never)).toMatchObject({ status: 0 })
    const backup = join(emptyFolder(), 'backup')
    expect(await run(['backup', project.folder, '--to', backup], environment as never)).toMatchObject({ status: 0, err: '' })
    expect(readdirSync(join(backup, 'objects'))).toEqual(['heron.txt', 'tern.txt'])
    expect(existsSync(join(backup, 'uploads'))).toBe(false)
    const bytes = readFileSync(join(backup, 'objects', 'heron.txt'))

    // One object is lost, the other one has another content.
    const target = await harbour(schemas())
    configure(target, config)
    s3.remove('heron.txt')
    s3.put('tern.txt', 'damaged')
    const refused = await run(['restore', backup, target.folder], environment as never)
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('The object tern.txt is not that of the backup') })
    expect(s3.keys()).toEqual(['tern.txt'])
    const restored = await run(['restore', backup, target.folder, '--replace'], environment as never)
    expect(restored).toMatchObject({ status: 0, err: '' })
    const aside = s3.keys().find((name) => name.startsWith('replaced-'))!
    expect(restored.out).toContain(aside)
    expect(s3.keys()).toEqual(['heron.txt', aside, 'tern.txt'])
    expect([s3.read('heron.txt'), s3.read('tern.txt'), s3.read(aside)]).toEqual([bytes.toString(), 'tern '.repeat(1000), 'damaged'])
    await expectSound(target, environment as never)

    const without = await fresh()
    expect(await run(['restore', backup, without.folder, '--schemas'])).toMatchObject({
      ...{ status: 1, err: expect.stringContaining('files of the storage "aws-s3", which this project does not use') },
    })
  },
)
