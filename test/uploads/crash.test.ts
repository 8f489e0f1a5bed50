// The service is killed in the middle of uploads: each row has its file, nothing half is served, and remains are
// removed at the next start.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { copyGoldenTo, removeProject } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { until } from '../support/until.js'
import { file, formOf, noise, tokens } from './sending.js'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

interface Running {
  readonly process: ChildProcess
  readonly origin: string
}

async function start(folder: string): Promise<Running> {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PORT: String(port),
    UPLOADS_DIR: 'uploads',
    LOG_LEVEL: 'silent',
  }
  const child = spawn(process.execPath, [main, 'start', folder], { env: environment, stdio: 'ignore' })
  const origin = `http://127.0.0.1:${port}`
  const alive = () =>
    fetch(`${origin}/_health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the service is up', alive)
  return { process: child, origin }
}

async function kill({ process }: Running): Promise<void> {
  const gone = new Promise((resolve) => process.once('exit', resolve))
  process.kill('SIGKILL')
  await gone
}

interface Row {
  readonly hash: string
  readonly ext: string
  readonly size: number
  readonly formats: string | null
}

/** The stored names that the rows of uploads speak of, with their sizes. */
async function named(database: string): Promise<ReadonlyMap<string, number>> {
  const found = await runStatement(database, 'select hash, ext, size, formats from files where id > 13')
  return new Map(
    (found as unknown as Row[]).flatMap(({ hash, ext, size, formats }) => {
      const all = [{ hash, ext, size }, ...(Object.values(JSON.parse(formats ?? '{}') ?? {}) as Row[])]
      return all.map((one) => [one.hash + one.ext, one.size] as const)
    }),
  )
}

test('kill -9 while files come in, are replaced and are removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-crash-'))
  const database = await copyGoldenTo(folder)
  const uploads = join(folder, 'uploads')
  const before = new Set(readdirSync(uploads))
  const picture = await noise(1200, 900).jpeg({ quality: 100 }).toBuffer()
  const headers = { authorization: `Bearer ${tokens.full}` }
  try {
    for (let round = 0; round < 6; round++) {
      const running = await start(folder)
      const post = (path: string, content: Uint8Array, name: string) =>
        fetch(running.origin + path, { method: 'POST', headers, body: formOf([file(content, name)]) }).then(
          (answer) => answer.json(),
          () => null,
        )
      const work = async (client: number): Promise<void> => {
        for (;;) {
          const added = (await post(
            '/api/upload',
            client % 2 === 0 ? picture : Buffer.alloc(300_000, client),
            client % 2 === 0 ? 'p.jpg' : 'b.bin',
          )) as { id: number }[]
          if (added === null) return
          if ((await post(`/api/upload?id=${added[0]!.id}`, Buffer.alloc(100_000, 1), 'r.bin')) === null) return
          if (client > 2) continue
          if ((await fetch(`${running.origin}/api/upload/files/${added[0]!.id}`, { method: 'DELETE', headers }).catch(() => null)) === null)
            return
        }
      }
      const working = Promise.all([0, 1, 2, 3, 4, 5].map(work))
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 500))
      await kill(running)
      await working

      const names = await named(database)
      for (const [name] of names) expect([name, existsSync(join(uploads, name))]).toEqual([name, true])
      const workplaces = join(uploads, '.octavo')
      const again = await start(folder)
      expect(readdirSync(workplaces)).toHaveLength(1)
      expect(readdirSync(join(workplaces, readdirSync(workplaces)[0]!))).toEqual(['owner'])
      const there = readdirSync(uploads).filter((name) => !before.has(name) && !name.startsWith('.'))
      expect(there.sort()).toEqual([...(await named(database)).keys()].sort())
      for (const name of there) expect(statSync(join(uploads, name)).size).toBeGreaterThan(0)
      again.process.kill('SIGTERM')
      await new Promise((resolve) => again.process.once('exit', resolve))
      expect(readdirSync(workplaces)).toEqual([])
    }
  } finally {
    await removeProject(folder)
  }
})
