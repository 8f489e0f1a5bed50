// docs/spec/archives.md: damaged and malicious archives. None of them changes anything.
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { type Content, contentOf, differences } from './content.js'
import { newContent, oldContent, schemas, settled } from './harbour.js'
import { type HeaderArgument, packed } from './packed.js'
import { emptyFolder, exported, type Project, removeAll, run } from './projects.js'

let target: Project
let content: Content
/** An archive as a folder, with checksums, and without, as Strapi's are. */
let whole: string
let plain: string
beforeAll(async () => {
  whole = await exported(await settled({ ...schemas(), ...newContent }), '--format', 'dir')
  plain = join(emptyFolder(), 'plain')
  cpSync(whole, plain, { recursive: true, filter: (path) => !path.endsWith('octavo.json') })
  target = await settled({ ...schemas(), ...oldContent })
  content = await contentOf(target.database)
})
afterAll(removeAll)

const uploads = () => readdirSync(join(target.folder, 'uploads')).sort()
const staged = () => readdirSync(join(target.folder, 'uploads', '.octavo'))

afterEach(async () => {
  expect(differences(content, await contentOf(target.database))).toEqual([])
  expect(uploads()).toEqual(['.octavo', 'gull.txt', 'heron.txt'])
  expect(staged()).toEqual([])
})

/** Imports, and returns the message of the refusal. */
async function refusal(path: string, limits: Readonly<Record<string, number>> = {}): Promise<string> {
  writeFileSync(join(target.folder, 'octavo.config.json'), JSON.stringify({ limits }))
  const { status, err, out } = await run(['import', target.folder, '-f', path, '--force', '--adapt'])
  expect({ status, out }).toEqual({ status: 1, out: '' })
  expect(err).toMatch(/^octavo: [^\n]+\n$/)
  expect(err).not.toMatch(/\.js:\d+/)
  return err
}

/** A copy of the archive with one changed file. */
function changed(name: string, change: (text: string) => string): string {
  const folder = join(emptyFolder(), 'archive')
  cpSync(plain, folder, { recursive: true })
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  const file = join(folder, name)
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // A file that is new.
  }
  writeFileSync(file, change(text))
  return folder
}

const entities = 'entities/entities_00001.jsonl'
const links = 'links/links_00001.jsonl'
const first = (text: string) => text.split('\n')[0]!

const lines: readonly (readonly [what: string, file: string, change: (text: string) => string, says: RegExp])[] = [
  ['a line that is not JSON', entities, (text) => `${text}\n{"type":`, /entities_00001\.jsonl, line \d+ is not JSON/],
  ['a line cut off', entities, (text) => text.slice(0, -10), /line \d+ is not JSON/],
  ['an entity without a type', entities, (text) => `${text}\n{"id":1,"data":{}}`, /is not an entity/],
  ['an entity without a documentId', entities, (text) => `${text}\n{"type":"api::boat.boat","id":99,"data":{}}`, /has no documentId/],
  ['a row id that is none', entities, (text) => text.replace(/"id":\d+/, '"id":-1'), /has no row id/],
  ['a row id beyond every database', entities, (text) => text.replace(/"id":\d+/, '"id":99999999999'), /has no row id/],
  ['the same row twice', entities, (text) => `${text}\n${first(text)}`, /line \d+: \S+ \d+ appears twice/],
  ['a component that is none', entities, (text) => text.replace(/"sails":\[\{/, '"sails":[7,{'), /has a value that is not a component/],
  ['deep JSON', entities, (text) => `${text}\n${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested too deeply/],
  ['a relation without ends', links, (text) => `${text}\n{"kind":"relation.basic"}`, /is not a relation/],
  ['a relation whose position is a text', links, (text) => text.replace(/"pos":\d+/, '"pos":"1; drop table boats"'), /is not a relation/],
  ['a setting twice', 'configuration/configuration_00001.jsonl', (text) => `${text}\n${first(text)}`, /appears twice/],
  [
    'a setting of another kind',
    'configuration/configuration_00001.jsonl',
    (text) => `${text}\n{"type":"x","value":{}}`,
    /neither a setting nor/,
  ],
  ['schemas that are none', 'schemas/schemas_00001.jsonl', () => '[]', /schemas_00001\.jsonl, line 1 is not a schema/],
  ['no schemas', 'schemas/schemas_00001.jsonl', () => '', /has no schemas/],
  ['metadata that are not JSON', 'metadata.json', () => '{', /metadata\.json is not JSON/],
  ['no version', 'metadata.json', () => '{}', /of an unknown version/],
  ['an upload without metadata', 'assets/uploads/evil.sh', () => 'x', /has uploads without metadata: evil\.sh\./],
  ['checksums of something else', 'octavo.json', () => '{"files":{}}', /octavo\.json of the archive is not as Octavo writes it/],
]

for (const [what, file, change, says] of lines)
  test(`archives.10: ${what}`, async () => {
    expect(await refusal(changed(file, change))).toMatch(says)
  })

test('archives.10: bytes that are not UTF-8', async () => {
  const folder = changed(entities, (text) => text)
  appendFileSync(join(folder, entities), Buffer.from([0x0a, 0xff, 0xfe, 0x22]))
  expect(await refusal(folder)).toMatch(/line \d+ is not UTF-8/)
})

test('archives.10: no metadata.json', async () => {
  const folder = changed(entities, (text) => text)
  rmSync(join(folder, 'metadata.json'))
  expect(await refusal(folder)).toMatch(/has no metadata\.json: it is incomplete/)
})

test('archives.10: a link in a folder', async () => {
  const folder = changed('assets/metadata/passwd.json', () => '{}')
  symlinkSync('/etc/passwd', join(folder, 'assets', 'uploads', 'passwd'))
  expect(await refusal(folder)).toMatch(/is a link or a device, not a file/)
})

rule('archives.5', 'files that differ from their checksums, are missing, or are new', async () => {
  for (const change of [
    (folder: string) => writeFileSync(join(folder, entities), readFileSync(join(folder, entities), 'utf8').replace('Heron', 'Hiron')),
    (folder: string) => rmSync(join(folder, links)),
    (folder: string) => rmSync(join(folder, 'assets', 'uploads', 'tern.txt')),
    (folder: string) => writeFileSync(join(folder, 'entities', 'entities_00002.jsonl'), ''),
  ]) {
    const folder = join(emptyFolder(), 'archive')
    cpSync(whole, folder, { recursive: true })
    change(folder)
    expect(await refusal(folder)).toMatch(/The archive is damaged: 1 of its files are not as they were written \(\S+\)/)
  }
})

test('archives.10: a relation twice, which the database refuses', async () => {
  const folder = changed(links, (text) => `${text}\n${text.split('\n').find((line) => line.includes('"field":"harbours"'))!}`)
  writeFileSync(join(target.folder, 'octavo.config.json'), '{}')
  const { status, err } = await run(['import', target.folder, '-f', folder, '--force'])
  expect(status).toBe(1)
  expect(err).toMatch(/^octavo: A row of boats_harbours_lnk could not be written: [^\n]+\. Nothing was changed\n$/)
})

/** A tar file with the archive's files and others. */
async function tarWith(...others: readonly (readonly [HeaderArgument, string])[]): Promise<string> {
  const names = (readdirSync(plain, { recursive: true }) as string[]).filter((name) => /\.\w+$/.test(name)).sort()
  const path = join(emptyFolder(), 'archive.tar')
  writeFileSync(path, await packed([...names.map((name) => [{ name }, readFileSync(join(plain, name))] as const), ...others]))
  return path
}

const paths: readonly (readonly [what: string, header: HeaderArgument, says: RegExp])[] = [
  ['a path out of the archive', { name: '../../evil.txt' }, /a file with the name "\.\.\/\.\.\/evil\.txt", which is not allowed/],
  ['a path out of the uploads', { name: 'assets/uploads/../../evil.txt' }, /which is not allowed/],
  ['an absolute path', { name: '/tmp/evil.txt' }, /which is not allowed/],
  ['a backslash', { name: 'assets/uploads/..\\evil.txt' }, /which is not allowed/],
  ['an upload that would be hidden', { name: 'assets/uploads/.octavo' }, /an upload with the name "\.octavo", which is not allowed/],
  ['a symbolic link', { name: 'assets/uploads/x.txt', type: 'symlink', linkname: '/etc/passwd' }, /has a symlink with the name/],
  ['a hard link', { name: 'assets/uploads/x.txt', type: 'link', linkname: 'metadata.json' }, /has a link with the name/],
  ['a device', { name: 'assets/uploads/x.txt', type: 'character-device' }, /has a character-device with the name/],
  ['a name twice', { name: 'metadata.json' }, /has two files with the name metadata\.json/],
]

for (const [what, header, says] of paths)
  test(`archives.10: ${what}`, async () => {
    expect(await refusal(await tarWith([header, header.type === undefined ? 'x' : '']))).toMatch(says)
  })

rule('archives.10', 'more than the limits', async () => {
  const tar = await tarWith()
  expect(await refusal(tar, { archiveFiles: 3 })).toMatch(/more than 3 files \(limits\.archiveFiles\)/)
  expect(await refusal(tar, { archiveBytes: 1_000 })).toMatch(/more than 1000 bytes when unpacked/)
  const long = await tarWith([{ name: 'entities/entities_99999.jsonl' }, 'x'.repeat(1_000_000)])
  expect(await refusal(long, { archiveBytes: 2_000_000 })).toMatch(/has more than 500000 bytes \(a quarter of limits\.archiveBytes/)
})

test('archives.10: a small file that unpacks to a large one', async () => {
  const bomb = join(emptyFolder(), 'bomb.tar.gz')
  const tar = await packed([[{ name: 'entities/entities_00001.jsonl' }, Buffer.alloc(30_000_000, 0x20)]])
  writeFileSync(bomb, gzipSync(tar))
  expect(await refusal(bomb, { archiveBytes: 10_000_000 })).toMatch(/more than 10000000 bytes when unpacked/)
})

test('archives.10: files that are cut off, or nothing at all', async () => {
  const bytes = gzipSync(readFileSync(await tarWith()))
  const folder = emptyFolder()
  for (const part of [0, 20, 1_000, bytes.length - 5]) {
    writeFileSync(join(folder, 'x.tar.gz'), bytes.subarray(0, part))
    expect(await refusal(join(folder, 'x.tar.gz')), String(part)).toMatch(
      /is not an archive of Strapi, or is damaged|has no metadata\.json/,
    )
  }
  expect(await refusal(join(folder, 'nowhere.tar'))).toMatch(/There is no archive at/)
  writeFileSync(join(folder, 'x.zip'), 'PK')
  expect(await refusal(join(folder, 'x.zip'))).toMatch(/its name does not end in/)
})

test('archives.10: names that mean something to objects are attributes like others', async () => {
  const folder = changed(entities, (text) => text.replace('"data":{', '"data":{"__proto__":{"polluted":1},"constructor":1,'))
  const { status, out } = await run(['import', target.folder, '-f', folder])
  expect(status).toBe(1)
  expect(out).toMatch(/1 × \S+\.__proto__: the project has no such attribute/)
})

test('archives.10: administrators are never imported', async () => {
  const folder = changed(entities, (text) => `${text}\n{"type":"admin::user","id":1,"data":{"documentId":"a","email":"evil@example.test"}}`)
  const { status, out } = await run(['import', target.folder, '-f', folder])
  expect(status).toBe(1)
  expect(out).toMatch(/1 × admin::user: entities of the admin panel are never imported/)
})
