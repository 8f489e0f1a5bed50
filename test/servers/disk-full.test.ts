// The disk of the database server is full: acknowledged writes are there, other writes are refused, and the service recovers by itself.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith } from '../support/describe-with.js'
import { until } from '../support/until.js'
import { type NotesService, range, serveNotes } from './notes-service.js'
import { kinds, type ServerKind, type TestServer } from './server.js'

const megabyte = 1024 * 1024

/** A separate file system for a server; null if this user may not mount one. */
function mountSmallDisk(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-disk-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'none', folder], { stdio: 'ignore' }).status === 0) {
    chmodSync(folder, 0o777)
    return folder
  }
  rmdirSync(folder)
  return null
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder])
  rmdirSync(folder)
}

/** Why nothing can be mounted here; null: it can. */
function missingMount(): string | null {
  const folder = mountSmallDisk()
  if (folder === null) return 'this user may not mount a disk'
  unmount(folder)
  return null
}

/** Fills the rest of a disk with a file, whose path it returns. */
function fill(folder: string): string {
  const file = join(folder, 'ballast')
  for (const piece of [Buffer.alloc(megabyte), Buffer.alloc(4096)]) {
    try {
      for (;;) appendFileSync(file, piece)
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' })
    }
  }
  return file
}

function testsOn(kind: ServerKind): void {
  let folder: string
  let server: TestServer
  let service: NotesService
  let url: string
  beforeAll(async () => {
    folder = mountSmallDisk()!
    server = await kind.start(undefined, folder)
    url = await server.createDatabase()
    service = await serveNotes(url, { config: { limits: { readTimeout: 2_000, writeTimeout: 3_000 } } })
  })
  afterAll(async () => {
    await service.close()
    await server.close()
    unmount(folder)
  })

  it('R21 nothing acknowledged is lost, nothing is there twice, and the service goes on when there is space', async () => {
    const text = 'A long text. '.repeat(4_000)
    const answers: (readonly [string, number])[] = []
    const write = async (code: string) => {
      const { status, text: body } = await service.send('POST', '/api/notes', { code, text })
      answers.push([code, status])
      expect([201, 503], body).toContain(status)
      return status
    }
    expect(await write('before')).toBe(201)
    const ballast = fill(folder)
    const isFull = () => answers.filter(([, status]) => status === 503).length >= 8
    await Promise.all(
      range(4).map(async (client) => {
        for (let index = 0; !isFull() && index < 2_000; index++) await write(`full ${client} ${index}`)
      }),
    )
    expect(isFull()).toBe(true)
    rmSync(ballast)
    // A server that has ended itself is started by its operator.
    if ((await service.request('/api/cards')).status !== 200) await server.crash!().catch(() => {})
    await until('it takes writes', async () => (await service.send('POST', '/api/notes', { code: `space ${Date.now()}` })).status === 201)
    const rows = await server.run(url, 'select code, count(*) as count from notes group by code')
    const there = new Map(rows.map(({ code, count }) => [code as string, count as number]))
    for (const [code, status] of answers) {
      if (status === 201) expect(there.get(code), code).toBe(1)
      else expect(there.get(code) ?? 0, code).toBeLessThanOrEqual(1)
    }
    expect((await service.request('/api/notes?pagination[pageSize]=1')).status).toBe(200)
  })
}

for (const kind of Object.values(kinds)) {
  const title = `a full disk below ${kind.name}`
  const noMount = missingMount()
  if (noMount === null) describeWith([kind.name], title, () => testsOn(kind))
  else describe.skip(`${title} (skipped: ${noMount})`, () => testsOn(kind))
}
