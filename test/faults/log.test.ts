// The log can never stop the service: lines that cannot be written are lost and counted; requests are answered, the start
// comes up, and a signal ends the process.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/until.js'
import { copyGolden, remove } from './child.js'
import { canLimit, limit } from './limits.js'

const command = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
let folder: string
let logs: string
let port: number
let started: ChildProcess[]
beforeEach(async () => {
  folder = await copyGolden({ limits: { drainTimeout: 10_000 } })
  logs = mkdtempSync(join(tmpdir(), 'octavo-log-'))
  port = await freePort()
  started = []
})
afterEach(async () => {
  for (const { pid } of started) {
    try {
      process.kill(-pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  await remove(folder)
  rmSync(logs, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Runs a shell script, in which `$octavo` starts the service and stores its process id, as one group of processes. */
function shell(script: string): ChildProcess {
  const octavo = `echo $$ > ${logs}/pid; exec ${process.execPath} ${command} start ${folder}`
  const child = spawn('bash', ['-c', script], {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: String(port), NODE_ENV: 'production', UPLOADS_DIR: 'uploads', octavo },
    stdio: 'ignore',
    detached: true,
  })
  started.push(child)
  return child
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const service = (): number => Number(readFileSync(join(logs, 'pid'), 'utf8'))

function status(path: string, timeout = 10_000): Promise<number | null> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, timeout }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode!))
    })
    asked.once('error', () => resolve(null))
    asked.once('timeout', () => asked.destroy())
    asked.end()
  })
}

const comesUp = () => until('the service is up', async () => (await status('/_health', 2_000)) === 204)

/** Requests with more log lines than all buffers together can hold. */
async function askMuch(): Promise<void> {
  for (let round = 0; round < 300; round++)
    for (const answer of await Promise.all(Array.from({ length: 20 }, () => status('/api/tags?pagination[pageSize]=1'))))
      expect(answer).toBe(200)
  expect(await status('/_health')).toBe(204)
}

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // Until its shell has looked, an ended process still has its number.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z')
  } catch {
    return false
  }
}

async function stops(): Promise<void> {
  const pid = service()
  process.kill(pid, 'SIGTERM')
  await until('the process has ended', () => !lives(pid))
}

describe.skipIf(process.platform !== 'linux')('wherever the log goes', () => {
  test.each([
    ['a disk that is full', 'bash -c "$octavo" > /dev/full 2> /dev/full'],
    ['a pipe whose reader leaves after a line', 'bash -c "$octavo" 2>&1 | head -1'],
    ['a pipe whose reader has left before the start', 'bash -c "sleep 0.3; $octavo" 2>&1 | true'],
    ['a pipe whose reader leaves during the start', 'bash -c "$octavo" 2>&1 | sleep 0.3'],
    ['a pipe that nobody reads', 'bash -c "$octavo" 2>&1 | sleep 1000'],
    ['outputs that are closed', 'bash -c "$octavo" >&- 2>&-'],
  ])('%s: the service starts, answers and stops', async (_where, script) => {
    shell(script)
    await comesUp()
    await askMuch()
    await stops()
  })

  test('a paused reader of a full pipe: requests are answered, and the process ends with status 0', async () => {
    shell(`(bash -c "$octavo"; echo $? > ${logs}/status) 2>&1 | (echo $BASHPID > ${logs}/reader; exec cat > /dev/null)`)
    await comesUp()
    process.kill(Number(readFileSync(join(logs, 'reader'), 'utf8')), 'SIGSTOP')
    await askMuch()
    await stops()
    await until('the status is known', () => (statSync(join(logs, 'status'), { throwIfNoEntry: false })?.size ?? 0) > 0)
    expect(readFileSync(join(logs, 'status'), 'utf8')).toBe('0\n')
  })

  test('the same with code of the project that keeps the event loop busy: the status is 0', async () => {
    rmSync(join(folder, 'octavo.config.json'))
    const busy = 'setInterval(() => { for (const end = performance.now() + 25; performance.now() < end; ); }, 5)'
    writeFileSync(join(folder, 'octavo.config.mjs'), `${busy}\nexport default { limits: { drainTimeout: 10_000 } }`)
    for (let round = 1; round <= 2; round++) {
      shell(`(timeout 0.5 yes; bash -c "$octavo"; echo $? > ${logs}/status${round}) 2>&1 | sleep 1000`)
      await comesUp()
      await stops()
      await until('the status is known', () => (statSync(join(logs, `status${round}`), { throwIfNoEntry: false })?.size ?? 0) > 0)
      expect(readFileSync(join(logs, `status${round}`), 'utf8')).toBe('0\n')
    }
  })

  test('a failed start ends even if its output is not read', async () => {
    writeFileSync(join(folder, 'src', 'api', 'article', 'content-types', 'article', 'schema.json'), '{')
    const child = shell('{ timeout 0.5 yes >&2; bash -c "$octavo"; } 2> >(sleep 1000)')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    expect(await Promise.race([ended, pause(15_000)])).toBe(1)
  })

  test.skipIf(!canLimit)('lost lines are counted, and reported when there is room again', async () => {
    const file = join(logs, 'log')
    openSync(file, 'w')
    shell(`bash -c "$octavo" >> ${file}`)
    await comesUp()
    await until('lines are written', async () => (await status('/api/tags')) === 200 && readFileSync(file, 'utf8').includes('"request"'))
    limit(service(), 'fsize', statSync(file).size)
    await askMuch()
    limit(service(), 'fsize', 'unlimited')
    const lost = () => /\{"level":40,"time":\d+,"lostLines":(\d+),.*\}\n/.exec(readFileSync(file, 'utf8'))
    await until('the log tells', () => lost() !== null)
    await status('/api/tags?fields[0]=name')
    await stops()
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    const requests = lines.filter(({ msg }) => msg === 'request').length
    expect(Number(lost()![1])).toBeGreaterThan(300)
    // None is counted twice, none is missing from both; the first loop sent at least one request.
    expect(requests + Number(lost()![1])).toBeGreaterThanOrEqual(6_002)
    expect(lines.at(-1)).toMatchObject({ msg: expect.stringMatching(/stop|request/) })
  })
})

describe('code of the project', () => {
  const hooks = (body: string) =>
    writeFileSync(join(folder, 'octavo.config.mjs'), `export default { hooks: [{ name: 'careless', before() { ${body} } }] }`)

  test('an unhandled rejection is logged, and ends nothing', async () => {
    rmSync(join(folder, 'octavo.config.json'))
    hooks(`for (let i = 0; i < 50; i++) Promise.reject(new Error('nobody waits'))`)
    shell(`bash -c "$octavo" > ${logs}/log 2>&1`)
    await comesUp()
    const token = JSON.parse(readFileSync(join(folder, 'tokens.json'), 'utf8')).full
    const answer = await fetch(`http://127.0.0.1:${port}/api/tags`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { name: 'careless' } }),
    })
    expect(answer.status, await answer.text()).toBe(201)
    expect(await status('/_health')).toBe(204)
    await until('both lines are there', () => readFileSync(join(logs, 'log'), 'utf8').includes('"suppressed":49'))
    await stops()
    const lines = readFileSync(join(logs, 'log'), 'utf8').split('\n')
    const told = lines.filter((line) => line.includes('unhandled promise rejection')).map((line) => JSON.parse(line))
    expect(told).toMatchObject([{ level: 50, err: { message: 'nobody waits' } }, { suppressed: 49 }])
  })

  test('an uncaught error is logged, and stops the service with status 1', async () => {
    rmSync(join(folder, 'octavo.config.json'))
    hooks(`setTimeout(() => { throw new Error('out of nowhere') })`)
    shell(`bash -c "$octavo" > ${logs}/log 2>&1; echo $? > ${logs}/status`)
    await comesUp()
    const token = JSON.parse(readFileSync(join(folder, 'tokens.json'), 'utf8')).full
    await fetch(`http://127.0.0.1:${port}/api/tags`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { name: 'careless' } }),
    }).catch(() => undefined)
    await until('it ended', () => (statSync(join(logs, 'status'), { throwIfNoEntry: false })?.size ?? 0) > 0)
    expect(readFileSync(join(logs, 'status'), 'utf8')).toBe('1\n')
    expect(readFileSync(join(logs, 'log'), 'utf8')).toMatch(/\{"level":60,.*out of nowhere/)
  })
})
