// docs/spec/backups.md: files in a bucket are in a backup, and come back into one.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { harbour, newContent, oldContent, schemas, settled } from '../archive/harbour.js'
import { emptyFolder, exported, fresh, type Project, removeAll, run } from '../archive/projects.js'
import { rule } from '../support/rule.js'
import { runStatement } from '../support/statements.js'
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

/** A project whose files are in the bucket. */
async function stored() {
  const { config, environment = {} } = storedAt(s3)
  const archive = await exported(await settled({ ...schemas(), ...newContent }))
  const project = await settled({ ...schemas(), ...oldContent })
  configure(project, config)
  expect(await run(['import', project.folder, '-f', archive, '--force'], environment)).toMatchObject({ status: 0 })
  return { project, config, environment }
}

const configure = ({ folder }: Project, config: unknown) => writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify(config))

rule('backups.11', 'missing and changed objects of a bucket are restored, and replaced ones are archived', async () => {
  const { project, config, environment } = await stored()
  const backup = join(emptyFolder(), 'backup')
  expect(await run(['backup', project.folder, '--to', backup], environment)).toMatchObject({ status: 0, err: '' })
  expect(readdirSync(join(backup, 'objects'))).toEqual(['heron.txt', 'tern.txt'])
  expect(existsSync(join(backup, 'uploads'))).toBe(false)
  const bytes = readFileSync(join(backup, 'objects', 'heron.txt'))

  // One object is lost, the other one has another content.
  const target = await harbour(schemas())
  configure(target, config)
  s3.remove('heron.txt')
  s3.put('tern.txt', 'damaged')
  const refused = await run(['restore', backup, target.folder], environment)
  expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('The object tern.txt is not that of the backup') })
  expect(s3.keys()).toEqual(['tern.txt'])
  const restored = await run(['restore', backup, target.folder, '--replace'], environment)
  expect(restored).toMatchObject({ status: 0, err: '' })
  const aside = s3.keys().find((name) => name.startsWith('replaced-'))!
  expect(restored.out).toContain(aside)
  expect(s3.keys()).toEqual(['heron.txt', aside, 'tern.txt'])
  expect([s3.read('heron.txt'), s3.read('tern.txt'), s3.read(aside)]).toEqual([bytes.toString(), 'tern '.repeat(1000), 'damaged'])
  await expectSound(target, environment)

  const without = await fresh()
  expect(await run(['restore', backup, without.folder, '--schemas'])).toMatchObject({
    ...{ status: 1, err: expect.stringContaining('files of the storage "aws-s3", which this project does not use') },
  })
})

rule('backups.11', 'an object is missing only if the storage says so', async () => {
  const { project, environment } = await stored()
  const path = join(emptyFolder(), 'backup')
  s3.trouble = { all: 'none', GET: 403 }
  const refused = await run(['backup', project.folder, '--to', path], environment)
  s3.trouble = { all: 'none' }
  expect(refused).toMatchObject({
    status: 1,
    err: expect.stringMatching(/^octavo: The object \S+ of the bucket pictures cannot be read: .*403/),
  })
  expect(existsSync(path)).toBe(false)

  s3.remove('heron.txt')
  const made = await run(['backup', project.folder, '--to', path], environment)
  expect(made).toMatchObject({ status: 3, out: expect.stringContaining('\n  heron.txt\n') })
})

rule('backups.11', 'objects are read by their names in the bucket, regardless of the addresses in rows', async () => {
  const { project, environment } = await stored()
  let asked = 0
  const inside = createServer((_, response) => {
    asked++
    response.end('a secret of the network')
  })
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`
  await runStatement(project.database, `update files set url = '${address}/metadata/heron.txt' where name = 'heron.txt'`)
  await runStatement(project.database, `update files set url = '${address}/tern.txt', provider = 'elsewhere' where name = 'tern.txt'`)
  const path = join(emptyFolder(), 'backup')
  const { status, out } = await run(['backup', project.folder, '--to', path], environment)
  inside.close()
  expect([status, asked]).toEqual([3, 0])
  expect(readdirSync(join(path, 'objects'))).toEqual(['heron.txt'])
  expect(readFileSync(join(path, 'objects', 'heron.txt'), 'utf8')).toBe(s3.read('heron.txt'))
  expect(out).toContain('\n  tern.txt (in the storage "elsewhere", which this project does not use)\n')
})
