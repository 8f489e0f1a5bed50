// docs/spec/archives.md: an export compared with Strapi's of the same database, and Strapi's export as an import.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { describeSqlite } from '../support/sqlite-only.js'
import { contentOf, differences } from './content.js'
import { emptyFolder, exported, fresh, golden, type Project, removeAll, run } from './projects.js'

const strapis = join(import.meta.dirname, '..', 'golden', 'archive', 'golden-export.tar.gz')
const theirs = emptyFolder()
let source: Project
let ours: string

const unpack = (path: string, folder: string) => execFileSync('tar', ['xzf', path, '-C', folder])

beforeAll(async () => {
  unpack(strapis, theirs)
  source = await golden()
  ours = await exported(source, '--format', 'dir')
})
afterAll(removeAll)

const linesOf = (folder: string, kind: string): readonly string[] =>
  readFileSync(join(folder, kind, `${kind}_00001.jsonl`), 'utf8').split('\n')

type Json = Readonly<Record<string, never>>

/** Integers beyond 2⁵³, and times before 1970, which Strapi's export loses. */
const isDamaged = (value: unknown): boolean =>
  typeof value === 'string' &&
  ((/^-?\d{16,19}$/.test(value) && !Number.isSafeInteger(Number(value))) || /^-\d+$|^-?\d+-01-01T00:00:00\.000Z$|^19/.test(value))

describeSqlite('the format of archives', 'recorded on SQLite', () => {
  test('archives.1: entities are those of Strapi, key by key', () => {
    const [mine, others] = [linesOf(ours, 'entities'), linesOf(theirs, 'entities')]
    expect(mine).toHaveLength(others.length)
    const keyOf = (line: string) => /^\{"type":"[^"]+","id":\d+/.exec(line)![0]
    const known = new Map(mine.map((line) => [keyOf(line), line]))
    const lossy: unknown[] = []
    for (const line of others) {
      const own = known.get(keyOf(line))!
      if (own === line) continue
      const [there, here] = [JSON.parse(line).data as Json, JSON.parse(own).data as Json]
      expect(Object.keys(here)).toEqual(Object.keys(there))
      for (const key of Object.keys(there)) if (JSON.stringify(here[key]) !== JSON.stringify(there[key])) lossy.push(here[key])
    }
    expect(lossy.length).toBeGreaterThan(50)
    expect(lossy.filter((value) => !isDamaged(value))).toEqual([])
  })

  rule('archives.1', 'relations are those of Strapi', () => {
    expect([...linesOf(ours, 'links')].sort()).toEqual([...linesOf(theirs, 'links')].sort())
  })

  test('archives.1: schemas are those of Strapi, but for words that its import does not compare', () => {
    const harmless = ['private', 'required', 'configurable', 'default']
    const shown = (folder: string) =>
      linesOf(folder, 'schemas')
        .map((line) => JSON.parse(line) as { uid: string; attributes: Record<string, object> })
        .map((schema) => ({
          ...schema,
          attributes: Object.fromEntries(
            Object.entries(schema.attributes).map(([name, attribute]) => [
              name,
              Object.fromEntries(Object.entries(attribute).filter(([key]) => !harmless.includes(key))),
            ]),
          ),
        }))
        .sort((one, other) => (one.uid < other.uid ? -1 : 1))
    expect(shown(ours)).toEqual(shown(theirs))
  })

  test('archives.1: uploads and their metadata are those of Strapi', () => {
    for (const folder of ['uploads', 'metadata']) {
      const names = readdirSync(join(theirs, 'assets', folder)).sort()
      expect(readdirSync(join(ours, 'assets', folder)).sort()).toEqual(names)
      for (const name of names)
        expect(readFileSync(join(ours, 'assets', folder, name)).equals(readFileSync(join(theirs, 'assets', folder, name))), name).toBe(true)
    }
  })

  test('archives.1: settings are those of Strapi, except those that it changes at its start', () => {
    const shown = (folder: string) =>
      new Map(
        linesOf(folder, 'configuration').map((line) => [JSON.parse(line).value.key as string, Object.keys(JSON.parse(line).value).join()]),
      )
    const [mine, others] = [shown(ours), shown(theirs)]
    expect([...others.keys()].filter((key) => !mine.has(key))).toEqual(['plugin_upload_media_library_default_notice'])
    for (const [key, keys] of mine) expect(others.get(key)).toBe(keys)
  })

  test('archives.1: a tar file has files alone, in the order of Strapi, and two more at the end', async () => {
    const list = (path: string) =>
      execFileSync('tar', ['tzf', path], { encoding: 'utf8' })
        .trim()
        .split('\n')
        .map((name) => name.replace(/^assets\/.*/, 'assets'))
        .filter((name, at, names) => name !== names[at - 1])
    expect(list(await exported(source))).toEqual([...list(strapis), 'octavo.json'])
  })

  test("archives.6: Strapi's export is imported as the content that it was made of, but for the digits that it has lost", async () => {
    const target = await fresh()
    expect(await run(['import', target.folder, '-f', strapis])).toMatchObject({ status: 0 })
    const round = (text: string) => text.replace(/(?<==)-?\d{16,19}(?= |$)/g, (digits) => String(Number(digits)))
    const rounded = async (project: Project) =>
      Object.fromEntries(
        Object.entries(await contentOf(project.database))
          .filter(([table]) => !table.startsWith('strapi_'))
          .map(([table, rows]) => [table, rows.map(round).sort()]),
      )
    expect(differences(await rounded(source), await rounded(target))).toEqual([])
    expect((await run(['doctor', target.folder])).out).toMatch(/No problems found\.\n$/)
  })
})
