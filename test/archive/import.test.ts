// docs/spec/archives.md: confirmation, possible losses, limits and user ids of an import.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { runStatement } from '../support/statements.js'
import { contentOf, differences } from './content.js'
import { boatAttributes, harbour, newContent, oldContent, schemas, settled } from './harbour.js'
import { exported, type Project, removeAll, run } from './projects.js'

let archive: string
beforeAll(async () => {
  archive = await exported(await settled({ ...schemas(), ...newContent }))
})
afterAll(removeAll)

const importing = ({ folder }: Project, ...options: readonly string[]) => run(['import', folder, '-f', archive, ...options])

const uploadsOf = ({ folder }: Project) =>
  Object.fromEntries(
    readdirSync(join(folder, 'uploads'))
      .filter((name) => !name.startsWith('.'))
      .sort()
      .map((name) => [name, readFileSync(join(folder, 'uploads', name), 'utf8').slice(0, 20)]),
  )

rule('archives.7', 'data to be deleted is printed; without --force and a terminal nothing is deleted', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  const before = await contentOf(target.database)
  const refused = await importing(target)
  expect(refused.status).toBe(1)
  expect(refused.err).toMatch(/^octavo: The import deletes \d+ rows\. To agree: --force\. Nothing was changed\n$/)
  expect(refused.out).toMatch(/^api::boat\.boat +2 +2$/m)
  expect(refused.out).toMatch(/^api::harbour\.harbour +2 +2$/m)
  expect(differences(before, await contentOf(target.database))).toEqual([])
  expect(Object.keys(uploadsOf(target))).toEqual(['gull.txt', 'heron.txt'])

  expect(await importing(target, '--force')).toMatchObject({ status: 0, err: '' })
  const boats = await runStatement(target.database, 'select name, crew from boats order by name')
  expect(boats).toEqual([
    { name: 'Heron', crew: 4 },
    { name: 'Tern', crew: 1 },
  ])
  expect(uploadsOf(target)).toEqual({ 'heron.txt': 'another heron anothe', 'tern.txt': 'tern tern tern tern ' })
})

test('archives.6: files that no row names stay, and those of deleted rows go', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  writeFileSync(join(target.folder, 'uploads', 'stray.txt'), 'of somebody else')
  await importing(target, '--force')
  expect(Object.keys(uploadsOf(target))).toEqual(['heron.txt', 'stray.txt', 'tern.txt'])
  expect((await run(['doctor', target.folder])).out).toMatch(/No problems found\.\n$/)
})

const { crew: _, harbours: __, ...fewer } = boatAttributes as Record<string, object>

/** Boats whose crew has another name, whose harbours are gone, and whose gear takes no anchors. */
const changed = schemas({ ...fewer, people: { type: 'integer' }, gear: { type: 'dynamiczone', components: ['parts.sail'] } })

rule('archives.8', 'values that the project cannot store are counted, and refused without --adapt', async () => {
  const files = { ...changed, ...withoutBoats() }
  const target = await settled(files)
  const before = await contentOf(target.database)
  const refused = await importing(target, '--force')
  expect(refused.status).toBe(1)
  expect(refused.err).toMatch(/^octavo: The project cannot hold 4 values, rows or relations of the archive\./)
  expect(refused.out).toMatch(/^ {2}2 × api::boat\.boat\.crew: the project has no such attribute/m)
  expect(refused.out).toMatch(/^ {2}1 × api::boat\.boat\.gear: the project has no component parts\.anchor there$/m)
  expect(refused.out).toMatch(/^ {2}1 × api::boat\.boat\.harbours: the project has no such relation$/m)
  expect(refused.out).toMatch(/^ {2}api::boat\.boat\.people: only the project has it$/m)
  expect(differences(before, await contentOf(target.database))).toEqual([])

  expect(await importing(target, '--force', '--adapt')).toMatchObject({ status: 0 })
  expect(await runStatement(target.database, 'select name, people from boats order by name')).toEqual([
    { name: 'Heron', people: null },
    { name: 'Tern', people: null },
  ])
  expect((await run(['doctor', target.folder])).out).toMatch(/No problems found\.\n$/)
})

/** The same harbours, with the other side of the relation gone. */
function withoutBoats() {
  const path = 'src/api/harbour/content-types/harbour/schema.json'
  const schema = changed[path] as { readonly attributes: Readonly<Record<string, unknown>> }
  return { [path]: { ...schema, attributes: { name: schema.attributes.name } } }
}

test('archives.8: a type whose Draft & Publish differs is refused', async () => {
  const target = await settled(schemas(boatAttributes, { draftAndPublish: true }))
  const refused = await importing(target, '--force', '--adapt')
  expect(refused).toMatchObject({ status: 1, out: '' })
  expect(refused.err).toMatch(/^octavo: api::boat\.boat does not have Draft & Publish in the archive, but in the project\./)
})

test('archives.8: entities of types that the project lacks are counted', async () => {
  const files = Object.fromEntries(Object.entries(schemas()).filter(([path]) => !path.includes('/boat/')))
  const target = await settledWithout({ ...files, ...withoutBoats() })
  const refused = await importing(target, '--force')
  expect(refused.out).toMatch(/^ {2}2 × api::boat\.boat: the project has no such content-type; its entities$/m)
  expect(refused.status).toBe(1)
})

async function settledWithout(files: Readonly<Record<string, unknown>>): Promise<Project> {
  const project = await harbour(files)
  expect((await run(['settings', 'set', 'allow-register', 'yes', project.folder])).status).toBe(0)
  return project
}

rule('archives.11', 'options limit an import', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  const before = await contentOf(target.database)
  expect(await importing(target, '--force', '--only', 'files')).toMatchObject({ status: 0 })
  expect(differences(before, await contentOf(target.database))).toEqual([])
  expect(uploadsOf(target)).toEqual({ 'gull.txt': 'gull gull gull gull ', 'heron.txt': 'another heron anothe' })

  expect(await importing(target, '--force', '--only-content-types', 'api::harbour.harbour')).toMatchObject({ status: 0 })
  const { harbours, boats_harbours_lnk: links, components_parts_sails_made_lnk: made, ...others } = await contentOf(target.database)
  expect(harbours!.map((row) => /name=(\w+)/.exec(row)![1]).sort()).toEqual(['Mallaig', 'Tarbert'])
  expect([links, made]).toEqual([[], []])
  const { harbours: _harbours, boats_harbours_lnk: _links, components_parts_sails_made_lnk: _made, ...otherBefore } = before
  expect(differences(otherBefore, others)).toEqual([])
  expect((await run(['doctor', target.folder])).out).toMatch(/No problems found\.\n$/)
})

test('archives.11: entities of one type are replaced with their components, next to those of others', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  expect(await importing(target, '--force', '--only-content-types', 'api::boat.boat')).toMatchObject({ status: 0 })
  const names = await runStatement(target.database, 'select name from harbours order by name')
  expect(names).toEqual([{ name: 'Mallaig' }, { name: 'Oban' }])
  const sails = await runStatement(target.database, 'select area from components_parts_sails order by area')
  expect(sails.map(({ area }) => area)).toEqual([3, 6, 14])
  expect((await run(['doctor', target.folder])).out).toMatch(/No problems found\.\n$/)
})

test('archives.11: an import replaces nothing that its archive leaves out', async () => {
  const source = await settled({ ...schemas(), ...newContent })
  const target = await settled({ ...schemas(), ...oldContent })
  const before = await contentOf(target.database)
  const partial = await exported(source, '--only-content-types', 'api::boat.boat', '--exclude', 'config')
  expect(await run(['import', target.folder, '-f', partial, '--force'])).toMatchObject({ status: 0 })
  const after = await contentOf(target.database)
  for (const table of ['harbours', 'up_users', 'up_permissions', 'strapi_core_store_settings', 'files'])
    expect(after[table]).toEqual(before[table])
  expect(await runStatement(target.database, 'select name from boats order by name')).toEqual([{ name: 'Heron' }, { name: 'Tern' }])
})

test('archives.11: a name that does not exist is refused', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  expect((await importing(target, '--only-content-types', 'api::boat.boats')).err).toBe(
    'octavo: --only-content-types names "api::boat.boats", which does not exist; did you mean "api::boat.boat"?\n',
  )
  expect((await importing(target, '--exclude', 'media')).err).toMatch(/^octavo: --exclude names "media", which does not exist/)
})

rule('archives.12', 'users keep their ids unless they are taken, and get new ones otherwise', async () => {
  const target = await settled({ ...schemas(), ...oldContent })
  const idsOf = async ({ database }: Project): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries(
      (await runStatement(database, 'select id, username from up_users order by id')).map(
        ({ id, username }) => [username, Number(id)] as const,
      ),
    )
  expect(await idsOf(target)).toEqual({ anna: 1, bert: 2 })
  await importing(target, '--force')
  // Carla had the id 1 in the exported database, and this anna is another person.
  const imported = await idsOf(target)
  expect(Object.values(imported).every((id) => id > 2)).toBe(true)

  // The same users keep their values in a repeated import.
  const own = await exported(target)
  expect(await run(['import', target.folder, '-f', own, '--force'])).toMatchObject({ status: 0 })
  expect(await idsOf(target)).toEqual(imported)
})

test('archives.6: an import is the first command of a project', async () => {
  const target = await harbour({ ...schemas(), ...oldContent })
  const imported = await importing(target)
  expect(imported).toMatchObject({ status: 0 })
  expect(await runStatement(target.database, 'select name from boats order by name')).toEqual([{ name: 'Heron' }, { name: 'Tern' }])
})

test('archives.10: an archive of Strapi 4 is refused', async () => {
  const folder = await exported(await settled({ ...schemas(), ...newContent }), '--format', 'dir')
  const target = await settled({ ...schemas(), ...oldContent })
  rmSync(join(folder, 'octavo.json'))
  mkdirSync(dirname(join(folder, 'metadata.json')), { recursive: true })
  writeFileSync(join(folder, 'metadata.json'), JSON.stringify({ strapi: { version: '4.25.1' } }))
  expect((await run(['import', target.folder, '-f', folder, '--force'])).err).toMatch(
    /^octavo: The archive was made by Strapi 4\.25\.1; only/,
  )
})
