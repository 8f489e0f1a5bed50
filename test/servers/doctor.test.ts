// `octavo doctor` on a database server: a sound database is sound, and damage is found as on SQLite.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { damages } from '../support/damages.js'
import { goldenProject, serveGolden } from '../support/serve.js'
import { describeServers, environmentOf, goldenContent } from './server.js'

const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')

/** The damage that is planted here; its other kinds are found by the same words of SQL. */
const planted = [
  'two published rows of a document',
  'a link to a row that is gone',
  'two targets at one place',
  'a component row that nothing uses',
  'an entry without its component row',
  'a link to a file that is gone',
]

interface Report {
  readonly status: number
  readonly text: string
  readonly wrong: readonly string[]
  readonly notes: readonly string[]
}

function doctor(folder: string, url: string, ...options: string[]): Promise<Report> {
  const env = { ...process.env, ...environmentOf(url), UPLOADS_DIR: 'uploads' }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'doctor', folder, ...options], { env }, (error, output, complaint) => {
      const named = (verdict: string) => [...output.matchAll(new RegExp(`^${verdict} +(\\d+) {2}(.+)$`, 'gm'))].map(([, , name]) => name!)
      const status = error === null ? 0 : Number(error.code)
      resolve({ status, text: output + complaint, wrong: named('WRONG'), notes: named('note') })
    })
  })
}

describeServers('octavo doctor', (server, kind) => {
  const content = goldenContent(kind)
  let folder: string
  let golden: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
    cpSync(goldenProject, folder, { recursive: true })
    golden = await server().createDatabase(content)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A copy of the sound database, changed by `sql` with foreign keys off. */
  async function damaged(sql: string): Promise<string> {
    const url = await server().createDatabase(content)
    await server().run(url, `${server().withoutForeignKeys} ${sql}`)
    return url
  }

  test('an empty database is one sentence that says what to do', async () => {
    const { status, text } = await doctor(folder, await server().createDatabase())
    expect([status, text]).toEqual([1, expect.stringMatching(/^octavo: The database [^\n]+ is empty\. Start the service once: [^\n]+\n$/)])
  })

  test("Strapi's own has notes at most, and does not speak of a file", async () => {
    const report = await doctor(folder, golden, '--links')
    expect(report, report.text).toMatchObject({ status: 0, wrong: [], notes: ['owners of a target have distinct positions'] })
    expect(report.text).toContain('No problems found.')
    expect(report.text).not.toContain('the database file is intact')
  })

  test("a new one of Octavo's has nothing at all", async () => {
    const url = await server().createDatabase()
    const served = await serveGolden({ environment: environmentOf(url) })
    try {
      const report = await doctor(served.folder, url, '--links')
      expect(report, report.text).toMatchObject({ status: 0, wrong: [], notes: [] })
      expect(report.text).toContain('No pending links.')
    } finally {
      await served.close()
    }
  })

  test.each(damages.filter(({ what }) => planted.includes(what)))('$what', async ({ sql, found }) => {
    const report = await doctor(folder, await damaged(sql))
    expect(report, report.text).toMatchObject({ status: 1, wrong: found })
  })

  test('files that are not in the uploads folder', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'octavo-test-'))
    cpSync(folder, empty, { recursive: true })
    for (const file of readdirSync(join(empty, 'uploads'))) rmSync(join(empty, 'uploads', file))
    const report = await doctor(empty, golden)
    rmSync(empty, { recursive: true })
    expect(report, report.text).toMatchObject({ status: 1, wrong: ['every local file is in the uploads folder'] })
  })

  test('a column that is missing: the other checks go on', async () => {
    const report = await doctor(folder, await damaged(`alter table tags drop column document_id; ${damages[4]!.sql}`))
    expect(report.status).toBe(1)
    expect(report.text).toContain('document_id')
    for (const name of damages[4]!.found) expect(report.wrong).toContain(name)
    expect(report.text).not.toMatch(/^\s+at /m)
    expect(report.text).not.toContain('current transaction is aborted')
  })
})
