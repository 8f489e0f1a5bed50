// Time of `octavo dev` from a saved schema to the first response of its endpoint. Prints milliseconds; run it on an idle machine.
// Run: node bench/dev.mjs [changes]
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const changes = Number(process.argv[2] ?? 10)
const command = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'octavo-dev-'))
mkdirSync(join(folder, 'src', 'api'), { recursive: true })

const probe = createServer().listen(0, '127.0.0.1')
await new Promise((resolve) => probe.once('listening', resolve))
const { port } = probe.address()
await new Promise((resolve) => probe.close(resolve))

const environment = { ...process.env, HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'error' }
const dev = spawn(process.execPath, [command, 'dev', folder], { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
const statusOf = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => ({ status: 0 }))).status
const until = async (path, status) => {
  while ((await statusOf(path)) !== status) await new Promise((resolve) => setTimeout(resolve, 5))
}

await until('/_health', 204)
const times = []
for (let number = 1; number <= changes; number++) {
  const name = `type-${number}`
  const schema = { info: { singularName: name, pluralName: `${name}s`, displayName: name }, attributes: { title: { type: 'string' } } }
  mkdirSync(join(folder, 'src', 'api', name, 'content-types', name), { recursive: true })
  // The service that replaces another one is given a moment of rest, as a person gives it.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const begin = performance.now()
  writeFileSync(join(folder, 'src', 'api', name, 'content-types', name, 'schema.json'), JSON.stringify(schema))
  await until(`/api/${name}s`, 403)
  times.push(Math.round(performance.now() - begin))
}
times.sort((a, b) => a - b)
console.log(`from a saved schema to its endpoint, ${changes} changes: median ${times[times.length >> 1]} ms, slowest ${times.at(-1)} ms`)
dev.kill('SIGTERM')
await new Promise((resolve) => dev.once('close', resolve))
rmSync(folder, { recursive: true })
