// docs/spec/archives.md: files of archives in a bucket: they are stored there by an import, and fetched from there by an export.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runStatement } from '../support/statements.js'
import { type S3Server, startS3, storedAt } from '../uploads/s3-server.js'
import { contentOf, differences } from './content.js'
import { harbour, newContent, oldContent, schemas, settled } from './harbour.js'
import { emptyFolder, exported, type Project, removeAll, run } from './projects.js'

let s3: S3Server
let archive: string
beforeAll(async () => {
  s3 = await startS3()
  archive = await exported(await settled({ ...schemas(), ...newContent }))
})
afterEach(() => {
  s3.trouble = { all: 'none' }
})
afterAll(async () => {
  await s3.close()
  await removeAll()
})

const inBucket = () => {
  const { config, environment } = storedAt(s3)
  return { configure: ({ folder }: Project) => writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify(config)), environment }
}

const local = ({ folder }: Project) => readdirSync(join(folder, 'uploads')).filter((name) => name !== '.octavo')
const filesOf = ({ database }: Project) => runStatement(database, 'select hash, provider, url from files order by hash')

test('archives.6: an import stores files where the project has them, and an export fetches them', async () => {
  const { configure, environment } = inBucket()
  const target = await settled({ ...schemas(), ...oldContent })
  configure(target)
  expect(local(target)).toEqual(['gull.txt', 'heron.txt'])
  expect(await run(['import', target.folder, '-f', archive, '--force'], environment)).toMatchObject({ status: 0 })
  expect(s3.keys()).toEqual(['heron.txt', 'tern.txt'])
  expect(s3.metadata('heron.txt')).toMatchObject({ 'content-type': 'text/plain' })
  expect(await filesOf(target)).toEqual(
    ['heron', 'tern'].map((hash) => ({
      hash,
      provider: 'aws-s3',
      url: expect.stringMatching(new RegExp(`^${s3.origin}/.*/${hash}\\.txt$`)),
    })),
  )
  // The files of the old rows were local.
  expect(local(target)).toEqual([])

  const base = join(emptyFolder(), 'archive')
  expect(await run(['export', target.folder, '-f', base, '--format', 'dir'], environment)).toMatchObject({ status: 0 })
  expect(readFileSync(join(base, 'assets', 'uploads', 'tern.txt'), 'utf8')).toBe('tern '.repeat(1000))
  const other = await harbour(schemas())
  expect(await run(['import', other.folder, '-f', base])).toMatchObject({ status: 0 })
  expect(local(other)).toEqual(['heron.txt', 'tern.txt'])
  expect(await filesOf(other)).toEqual(['heron', 'tern'].map((hash) => ({ hash, provider: 'local', url: `/uploads/${hash}.txt` })))
})

test('archives.9: a storage in trouble leaves the old content, and nothing of the new', async () => {
  const { configure, environment } = inBucket()
  const target = await settled({ ...schemas(), ...oldContent })
  configure(target)
  const before = await contentOf(target.database)
  const keys = s3.keys()
  s3.trouble = { all: 'none', PUT: 403 }
  const failed = await run(['import', target.folder, '-f', archive, '--force'], environment)
  expect(failed).toMatchObject({ status: 1, err: 'octavo: Files cannot be stored at the moment\n' })
  expect(differences(before, await contentOf(target.database))).toEqual([])
  expect(s3.keys()).toEqual(keys)
  expect(local(target)).toEqual(['gull.txt', 'heron.txt'])
  expect(existsSync(join(target.folder, 'uploads', '.octavo')) && readdirSync(join(target.folder, 'uploads', '.octavo'))).toEqual([])
})
