// `octavo copy` to a server and back, as an operator calls it: its output, and its refusals.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { octavo, project, removeProjects, root } from '../start/command.js'
import { describeServers } from './server.js'

afterAll(removeProjects)

describeServers('octavo copy', (server, { client }) => {
  const golden = join(root, 'test/golden/project')
  let file: string
  let url: string
  beforeAll(async () => {
    const folder = project({})
    file = join(folder, 'content.db')
    writeFileSync(file, gunzipSync(readFileSync(join(golden, 'content.db.gz'))))
    // The first batch has more bytes than a server takes at once.
    const source = new Database(file)
    source.exec('update articles set body = hex(zeroblob(200000)) where id in (select id from articles order by id limit 55)')
    source.close()
    url = await server().createDatabase()
  })
  const copy = (...options: string[]) => octavo(['copy', golden, ...options])

  it('names what does not fit, and writes nothing', async () => {
    const { status, out, err } = await copy('--from', file, '--to', url)
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err).toMatch(
      /^octavo: \w+:\/\/127\.0\.0\.1:\d+\/\w+ cannot hold \d+ values as they are\. Change them, or let them be changed with --adapt:$/m,
    )
    expect(err).toMatch(/^ {2}articles \d+, rating: 3\.14159 has 5 decimals, of which 2 are kept$/m)
    expect(err).toMatch(/^ {2}… and \d+ more$/m)
    expect(await server().run(url, 'select count(*) as count from articles')).toEqual([{ count: 0 }])
  })

  it('changes it with --adapt, and prints each', async () => {
    const { status, out, err } = await copy('--from', file, '--to', url, '--adapt')
    expect({ status, err: err.replaceAll(/^(?:checking|copying|verifying) .*\n/gm, '') }).toEqual({ status: 0, err: '' })
    const [, changed] = /^Changed (\d+) values that the copy cannot hold\.$/m.exec(out) ?? []
    expect(out.match(/^changed: /gm)).toHaveLength(Number(changed))
    expect(out).toMatch(
      /^Copied \d+ rows of \d+ tables and verified them\.\nNext, to serve the copy, set in \.env: DATABASE_CLIENT=(?:postgres|mysql) and DATABASE_URL, which names it\.\n$/m,
    )
  })

  it('copies back without a difference', async () => {
    const back = join(project({}), 'back.db')
    const { status, out } = await copy('--from', url, '--to', back)
    expect(status).toBe(0)
    expect(out).toMatch(
      /^Copied \d+ rows of \d+ tables and verified them\.\nNext, [^\n]*DATABASE_CLIENT=sqlite and DATABASE_FILENAME, which names it\.\n$/,
    )
    const [before, after] = [new Database(file, { readonly: true }), new Database(back, { readonly: true })]
    const texts = 'select id, document_id, title, slug, body, created_at, published_at, locale from articles order by id'
    expect(after.prepare(texts).all()).toEqual(before.prepare(texts).all())
  })

  it('explains unusable input in one sentence', async () => {
    const errorOf = async (...options: string[]) => (await copy(...options)).err
    expect(await errorOf('--from', file, '--to', url)).toMatch(
      /is not empty: it has rows in \w+\. To remove all its rows first: --overwrite/,
    )
    expect(await errorOf('--from', '/nowhere.db', '--to', url)).toBe('octavo: There is no database at /nowhere.db\n')
    expect(await errorOf('--from', `${client}://x@127.0.0.1:1/y`, '--to', file)).toMatch(
      /^octavo: \w+:\/\/127\.0\.0\.1:1\/y cannot be used: .+\n$/,
    )
    expect(await errorOf('--from', `${client}://a:b/c@d`, '--to', file)).toMatch(/cannot be read|cannot be used/)
    expect(await errorOf('--from', join(root, 'README.md'), '--to', url)).toMatch(
      /^octavo: The database .*README\.md cannot be used: file is not a database\n$/,
    )
  })
})
