// A file that is replaced keeps its address. Until the replacement is committed the old bytes are served, and after it the new
// ones, also if the process or the storage stops in between.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOnMysql, isOnPostgres, isOnServer } from '../support/databases.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { bucket, type S3Server, startS3, storedAt } from './s3-server.js'
import { file, leftovers, send, stored } from './sending.js'

const impatient = { config: { database: { busyTimeout: 50 } } }

/** Holds the lock of the database while `work` runs, so that nothing can be committed. Servers refuse the rows of files. */
async function locked(served: Served, work: () => Promise<void>): Promise<void> {
  if (isOnPostgres) {
    await served.sql(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`)
    await served.sql('create trigger refused before update on files execute function refuse()')
    await work()
    await served.sql('drop trigger refused on files')
    await served.sql('drop function refuse')
    return
  }
  if (isOnMysql) {
    await served.sql("create trigger refused before update on files for each row signal sqlstate '45000' set message_text = 'refused'")
    await work()
    await served.sql('drop trigger refused')
    return
  }
  const other = new Database(served.database)
  other.exec('begin immediate')
  try {
    await work()
  } finally {
    other.exec('rollback')
    other.close()
  }
}

describe('on the local disk', () => {
  let served: Served
  beforeAll(async () => {
    served = await serveGolden(impatient)
  })
  afterAll(() => served.close())

  test('a replacement whose commit is refused leaves the old bytes and nothing else', async () => {
    const [{ id, url }] = (await send(served, [file('old bytes', 'a.txt')])).body
    const before = [stored(served), await served.sql('select * from files')]
    await locked(served, async () => {
      const { status } = await send(served, [file('new bytes', 'b.txt')], { path: `/api/upload?id=${id}` })
      expect(status).toBe(isOnServer ? 500 : 503)
      expect((await served.request(url)).text).toBe('old bytes')
    })
    expect((await served.request(url)).text).toBe('old bytes')
    expect([stored(served), await served.sql('select * from files')]).toEqual(before)
    expect([leftovers(served), hidden(served)]).toEqual([[], ['.octavo']])
  })

  test('concurrent replacements end with the bytes that match the row', async () => {
    const [{ id, url }] = (await send(served, [file('first', 'a.txt')])).body
    const contents = Array.from({ length: 8 }, (_, index) => 'x'.repeat(100 * (index + 1)))
    const sent = contents.map((content) => send(served, [file(content, 'a.txt')], { path: `/api/upload?id=${id}` }))
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]))
    const [{ size }] = (await served.sql(`select size from files where id = ${id}`)) as unknown as [{ size: number }]
    expect((await served.request(url)).text).toHaveLength(Math.round(size * 1000))
    expect([await served.sql('select * from octavo_file_swaps'), leftovers(served)]).toEqual([[], []])
  })

  test('committed files of a stopped process are moved to their location, uncommitted ones are removed', async () => {
    const ids = (await send(served, [file('old 1', 'a.txt'), file('old 2', 'b.txt')])).body as readonly {
      readonly hash: string
      readonly url: string
    }[]
    const uploads = join(served.folder, 'uploads')
    const stopped = join(uploads, '.octavo', 'stopped')
    mkdirSync(stopped)
    for (const [index, { hash }] of ids.entries()) {
      writeFileSync(join(uploads, `.staged-${index}`), `new ${index + 1}`)
      const note = {
        provider: 'local',
        hash,
        names: [`${hash}.txt`, `.staged-${index}`],
        swap: { id: `swap-${index}`, moves: [[`.staged-${index}`, `${hash}.txt`]] },
      }
      writeFileSync(join(stopped, `${index}.note`), JSON.stringify(note))
    }
    await served.sql("insert into octavo_file_swaps (id) values ('swap-0')")
    const copy = await serveGolden({ environment: { UPLOADS_DIR: uploads, ...served.sameDatabase } })
    try {
      expect(await Promise.all(ids.map(async ({ url }) => (await copy.request(url)).text))).toEqual(['new 1', 'old 2'])
      expect(await served.sql('select * from octavo_file_swaps')).toEqual([])
      expect(readdirSync(uploads).filter((name) => name.startsWith('.staged'))).toEqual([])
    } finally {
      await copy.close()
    }
  })

  const hidden = ({ folder }: Served) => readdirSync(join(folder, 'uploads')).filter((name) => name.startsWith('.'))
})

describe('in S3', () => {
  let s3: S3Server
  let served: Served
  beforeAll(async () => {
    s3 = await startS3()
    const options = storedAt(s3)
    served = await serveGolden({ ...options, config: { ...options.config, ...impatient.config } })
  })
  afterAll(async () => {
    await served.close()
    await s3.close()
  })

  test('a replacement whose commit is refused leaves the old bytes and nothing else', async () => {
    const [{ id, hash }] = (await send(served, [file('old bytes', 'a.txt')])).body
    const content = async () => (await fetch(`${s3.origin}/${bucket}/${hash}.txt`)).text()
    const before = s3.keys()
    await locked(served, async () => {
      expect((await send(served, [file('new bytes', 'b.txt')], { path: `/api/upload?id=${id}` })).status).toBe(isOnServer ? 500 : 503)
      expect(await content()).toBe('old bytes')
    })
    await until('the old files are removed', () => s3.keys().length === before.length)
    expect([await content(), s3.keys()]).toEqual(['old bytes', before])
    expect((await send(served, [file('new bytes', 'b.txt')], { path: `/api/upload?id=${id}` })).status).toBe(200)
    expect([await content(), s3.keys()]).toEqual(['new bytes', before])
  })
})
