// docs/spec/archives.md: files of archives in a bucket: they are stored there by an import, and fetched from there and nowhere else by an
// export.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { runStatement } from '../support/statements.js'
import { bucket, piecePause, type S3Server, startS3, storedAt } from '../uploads/s3-server.js'
import { contentOf, differences } from './content.js'
import { harbour, newContent, oldContent, schemas, settled } from './harbour.js'
import { type Environment, emptyFolder, exported, type Project, removeAll, run } from './projects.js'

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

const inBucket = (more: Environment = {}) => {
  const { config, environment } = storedAt(s3, more)
  return {
    configure: ({ folder }: Project, limits: object = {}) =>
      writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify({ ...config, limits })),
    environment,
  }
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

/** A project with its two files, heron.txt and tern.txt, in the bucket. */
async function filesInBucket(more: Environment = {}) {
  const { configure, environment } = inBucket(more)
  const project = await settled({ ...schemas(), ...oldContent })
  configure(project)
  expect(await run(['import', project.folder, '-f', archive, '--force'], environment)).toMatchObject({ status: 0 })
  const base = join(emptyFolder(), 'archive')
  const uploads = join(base, 'assets', 'uploads')
  return {
    environment,
    limit: (limits: object) => configure(project, limits),
    row: (hash: string, values: Readonly<Record<string, string>>) =>
      runStatement(project.database, `update files set ${Object.keys(values).map((column) => `${column} = ?`)} where hash = ?`, [
        ...Object.values(values),
        hash,
      ]),
    export: (given = environment) => run(['export', project.folder, '-f', base, '--format', 'dir', '--overwrite'], given),
    exportedFiles: () => readdirSync(uploads).sort(),
    text: (name: string) => readFileSync(join(uploads, name), 'utf8'),
  }
}

/** Another server, which must not get requests. */
async function startElsewhere() {
  const seen: string[] = []
  const server = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`)
    answer.end('not ours')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    url: (path: string) => `http://${host}/${path}`,
    seen,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

rule('archives.15', 'no address in a row makes an export ask anything but the storage of the project', async () => {
  const project = await filesInBucket()
  const elsewhere = await startElsewhere()
  try {
    // The row and a format of it lead elsewhere, and the bucket has nothing of these names.
    const formats = { thumbnail: { hash: 'small', ext: '.txt', url: elsewhere.url('small.txt') } }
    await project.row('tern', { hash: 'gannet', url: elsewhere.url('gannet.txt'), formats: JSON.stringify(formats) })
    const exported = await project.export()
    expect(exported).toMatchObject({ status: 0, err: '' })
    expect(exported.out).toContain(
      `The archive does not have 2 files, because they are not in the project's storage, and files are not fetched from other addresses:
  gannet.txt (${elsewhere.host})
  small.txt (${elsewhere.host})
`,
    )
    expect(project.exportedFiles()).toEqual(['heron.txt'])

    // Another provider, and paths of the bucket's own host that lead out of the bucket.
    await project.row('gannet', { provider: 'cloudinary' })
    expect((await project.export()).out).toContain(`  gannet.txt (${elsewhere.host})\n`)
    const before = s3.seen.length
    for (const path of ['../', '%2e%2e/', 'a/../../', `..%2F`]) {
      await project.row('gannet', { provider: 'aws-s3', url: `${s3.origin}/${bucket}/${path}other/heron.txt` })
      expect((await project.export()).out).toContain('  gannet.txt (')
    }
    expect(s3.seen.slice(before).filter((line) => !/^GET \/pictures\/(?:heron|gannet|small)\.txt$/.test(line))).toEqual([])

    // The storage itself leads elsewhere.
    s3.trouble = { all: 'none', GET: { location: elsewhere.url('heron.txt') } }
    expect(await project.export()).toMatchObject({ status: 1, err: expect.stringMatching(/^octavo: The object heron\.txt .* 302/) })
    expect(elsewhere.seen).toEqual([])
  } finally {
    await elsewhere.close()
  }
})

rule('archives.15', 'an object is found by its address, and by its name where the row has another address', async () => {
  const project = await filesInBucket()
  await project.row('tern', { url: 'https://former.cdn.example/tern.txt' })
  await project.row('heron', { hash: 'renamed' })
  expect(await project.export()).toMatchObject({ status: 0, out: expect.not.stringContaining('does not have') })
  expect(project.exportedFiles()).toEqual(['renamed.txt', 'tern.txt'])
  expect(project.text('tern.txt')).toBe('tern '.repeat(1000))

  // In a folder of the bucket.
  const folder = await filesInBucket({ CDN_ROOT_PATH: 'birds' })
  expect(s3.keys()).toContain('birds/tern.txt')
  expect(await folder.export(project.environment)).toMatchObject({ status: 0, out: expect.not.stringContaining('does not have') })
  expect(folder.exportedFiles()).toEqual(['heron.txt', 'tern.txt'])

  // One that is not there is missing as before.
  await project.row('renamed', { hash: 'gone', url: `${s3.origin}/${bucket}/gone.txt` })
  expect((await project.export()).out).toContain(
    'The archive does not have 1 file, because they are not where their rows say:\n  gone.txt\n',
  )
})

rule('archives.15', 'a download may take long as long as bytes come', async () => {
  const project = await filesInBucket()
  project.limit({ storageTimeout: piecePause * 12 })
  s3.trouble = { all: 'none', GET: 'pieces' }
  expect(await project.export()).toMatchObject({ status: 0, out: expect.not.stringContaining('does not have') })
  expect(project.text('tern.txt')).toBe('tern '.repeat(1000))

  s3.trouble = { all: 'none', GET: 'ceases' }
  expect(await project.export()).toMatchObject({
    status: 1,
    err: 'octavo: The file heron.txt cannot be fetched: the storage request timed out after 0.6 s without progress\n',
  })
})

test('archives.3: a storage that cannot be reached ends an export, which leaves nothing', async () => {
  const project = await filesInBucket()
  const failed = await project.export({ ...project.environment, AWS_ENDPOINT: 'http://127.0.0.1:1' })
  expect(failed).toMatchObject({ status: 1, err: expect.stringMatching(/^octavo: The object \S+ of the bucket pictures cannot be read: /) })
  expect(() => project.exportedFiles()).toThrow('ENOENT')
})
