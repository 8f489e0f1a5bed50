// docs/spec/archives.md: exports are imported again, in every form of an archive.
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { runStatement } from '../support/statements.js'
import { type Content, contentOf, differences } from './content.js'
import { harbour, newContent, schemas, settled } from './harbour.js'
import { written } from './leaving.js'
import { type Environment, emptyFolder, exported, fresh, golden, type Project, removeAll, run } from './projects.js'

let source: Project
let content: Content
beforeAll(async () => {
  source = await golden()
  content = await contentOf(source.database)
})
afterAll(removeAll)

rule('archives.6', 'an export that is imported into an empty project is the same content, and the doctor finds nothing', async () => {
  const target = await fresh()
  const imported = await run(['import', target.folder, '-f', await exported(source)])
  expect(imported).toMatchObject({ status: 0 })
  expect(imported.out).toMatch(/^Imported \d+ entities, \d+ relations, 29 files, \d+ settings\.$/m)
  expect(differences(content, await contentOf(target.database))).toEqual([])
  const doctor = await run(['doctor', target.folder])
  expect(doctor.out).toMatch(/No problems found\.\n$/)
})

test('archives.6: administrators, their roles and API tokens stay', async () => {
  const target = await golden()
  const administrators = () =>
    Promise.all(
      ['admin_users', 'admin_roles', 'strapi_api_tokens', 'strapi_api_token_permissions'].map((table) =>
        runStatement(target.database, `select * from ${table} order by id`),
      ),
    )
  const before = await administrators()
  expect((await run(['import', target.folder, '-f', await exported(source), '--force'])).status).toBe(0)
  expect(await administrators()).toEqual(before)
  expect(differences(content, await contentOf(target.database))).toEqual([])
})

test('archives.6: relations that wait for a publication go along', async () => {
  const [origin, target] = [await golden(), await fresh()]
  await written(origin)
  const waiting = ({ database }: Project) =>
    runStatement(database, 'select link_table, owner_id, target_type, target_document, place from octavo_pending_links')
  expect(await waiting(origin)).toHaveLength(1)
  expect(await run(['import', target.folder, '-f', await exported(origin)])).toMatchObject({ status: 0 })
  expect(await waiting(target)).toEqual(await waiting(origin))
})

const key = 'a key of an archive'
const forms: readonly (readonly [name: string, options: readonly string[], path: string])[] = [
  ['encrypted and compressed', ['-k', key], 'x.tar.gz.enc'],
  ['encrypted', ['-k', key, '--no-compress'], 'x.tar.enc'],
  ['plain', ['--no-encrypt', '--no-compress'], 'x.tar'],
  ['a folder', ['--format', 'dir'], 'x'],
]

for (const [name, options, path] of forms)
  rule('archives.4', `an archive that is ${name} is imported again`, async () => {
    const [origin, target, folder] = [await settled({ ...schemas(), ...newContent }), await harbour(schemas()), emptyFolder()]
    expect(await run(['export', origin.folder, '-f', join(folder, 'x'), ...options])).toMatchObject({ status: 0 })
    const given: Environment = options.includes('-k') ? { OCTAVO_ARCHIVE_KEY: key } : {}
    const imported = await run(['import', target.folder, '-f', join(folder, path)], given)
    expect(imported).toMatchObject({ status: 0 })
    expect(differences(await contentOf(origin.database), await contentOf(target.database))).toEqual([])
  })

test('archives.4: without a key, or with another one, nothing is written', async () => {
  const [source, folder] = [await settled({ ...schemas(), ...newContent }), emptyFolder()]
  const without = await run(['export', source.folder, '-f', join(folder, 'x')])
  expect(without).toMatchObject({ status: 1, out: '' })
  expect(without.err).toMatch(/^octavo: An encrypted archive needs a key: set OCTAVO_ARCHIVE_KEY/)
  expect(await run(['export', source.folder, '-f', join(folder, 'x'), '-k', key])).toMatchObject({ status: 0 })
  const before = await contentOf(source.database)
  const none = await run(['import', source.folder, '-f', join(folder, 'x.tar.gz.enc'), '--force'])
  expect(none.err).toMatch(/^octavo: The archive is encrypted/)
  const wrong = await run(['import', source.folder, '-f', join(folder, 'x.tar.gz.enc'), '--force', '-k', 'another'])
  expect(wrong).toMatchObject({ status: 1, out: '' })
  expect(wrong.err).toMatch(/^octavo: The key is wrong, or .* is damaged/)
  renameSync(join(folder, 'x.tar.gz.enc'), join(folder, 'x.tar.gz'))
  expect((await run(['import', source.folder, '-f', join(folder, 'x.tar.gz'), '--force'])).err).toMatch(
    /is not an archive of Strapi, or is damaged/,
  )
  expect(differences(before, await contentOf(source.database))).toEqual([])
})

test('archives.4: what Strapi has encrypted is decrypted', async () => {
  const target = await golden()
  const archive = join(import.meta.dirname, '..', 'golden', 'archive', 'golden-config.tar.gz.enc')
  const imported = await run(['import', target.folder, '-f', archive, '-k', 'secret-key', '--force'])
  expect(imported).toMatchObject({ status: 0 })
  expect(imported.out).toMatch(/^Imported 60 settings\.$/m)
  const { strapi_core_store_settings: settings, ...others } = await contentOf(target.database)
  const { strapi_core_store_settings: _, ...before } = content
  expect(differences(before as Content, others)).toEqual([])
  expect(settings).toHaveLength(60)
})

rule('archives.5', 'every file has its size, lines and checksum, and one that differs is refused', async () => {
  const folder = await exported(await settled({ ...schemas(), ...newContent }), '--format', 'dir')
  const manifest = JSON.parse(readFileSync(join(folder, 'octavo.json'), 'utf8')) as { files: Record<string, { lines?: number }> }
  expect(Object.keys(manifest.files)).toHaveLength(4 + 2 * 2 + 1)
  const entities = readFileSync(join(folder, 'entities', 'entities_00001.jsonl'), 'utf8')
  expect(manifest.files['entities/entities_00001.jsonl']!.lines).toBe(entities.split('\n').length)
})
