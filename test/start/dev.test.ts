// `octavo dev`: saved changes are served without refused requests, errors are reported while the previous version is served, and
// nothing remains when it ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { patience, until } from '../support/until.js'
import { octavo, project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const schemaOf = (name: string) => `src/api/${name}/content-types/${name}/schema.json`
const notes = {
  ...contentType('note', { name: { type: 'string' } }),
  ...seeded('note', plain({ first: {} })),
  ...access([...reading('note', 'page'), 'api::note.note.create']),
}

interface Dev {
  readonly folder: string
  readonly origin: string
  readonly process: ChildProcess
  /** Standard output and standard error so far. */
  printed(): string
  /** Waits for output after that of the previous call. */
  prints(text: RegExp): Promise<void>
  status(path: string): Promise<number>
  save(path: string, content: unknown): void
  /** Resolves to the exit status, or to the signal. */
  readonly ended: Promise<number | string>
}

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Started {
  readonly words?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The command as words of a shell. */
  command?(words: string): readonly string[]
}

/** Starts `octavo dev` on a project. */
async function startDev(folder: string, { words = [], environment = {}, command }: Started = {}): Promise<Dev> {
  const port = await freePort()
  const own = [process.execPath, join(root, 'dist', 'main.js'), 'dev', folder, ...words]
  const [program, ...rest] = command?.(own.map((word) => `'${word}'`).join(' ')) ?? own
  const child = spawn(program!, rest, {
    env: {
      PATH: process.env.PATH,
      ...{ HOST: '127.0.0.1', PORT: String(port), OCTAVO_DATABASE_READER_THREADS: '1', TERM: 'xterm' },
      ...environment,
    },
    cwd: tmpdir(),
  })
  running.push(child)
  let [printed, seen] = ['', 0]
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      printed += bytes
    })
  const origin = `http://127.0.0.1:${port}`
  return {
    ...{ folder, origin, process: child },
    printed: () => printed,
    prints: (text) =>
      until(
        () => `${text} after ${printed.slice(seen)}`,
        () => {
          const found = text.exec(printed.slice(seen))
          if (found === null) return false
          seen += found.index + found[0].length
          return true
        },
      ),
    status: async (path) => (await fetch(origin + path).catch(() => ({ status: 0 }))).status,
    save: (path, content) => save(join(folder, path), content),
    ended: new Promise((resolve) => child.once('close', (status, signal) => resolve(status ?? signal!))),
  }
}

function save(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
}

const becomes = (dev: Dev, path: string, status: number): Promise<void> =>
  until(
    () => `${status} of ${path} after ${dev.printed()}`,
    async () => (await dev.status(path)) === status,
  )

rule(
  'projects.6',
  'a schema that is added is served, a broken one is reported and the version before is served; no request is refused',
  async () => {
    const dev = await startDev(project(notes))
    await dev.prints(/Octavo serves/)
    const statuses: number[] = []
    let isAsking = true
    const asking = (async () => {
      while (isAsking) {
        statuses.push(await dev.status('/api/notes'))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    expect(await dev.status('/api/pages')).toBe(404)
    const [page] = Object.values(contentType('page', { title: { type: 'string' } }))
    dev.save(schemaOf('page'), page)
    await becomes(dev, '/api/pages', 200)
    expect(dev.printed()).toContain(`changed: ${schemaOf('page')}`)

    dev.save(schemaOf('page'), '{ "info": ')
    await dev.prints(/octavo: \S+page\/schema\.json is not valid JSON/)
    await dev.prints(/change not applied; still serving the previous version/)
    expect(await dev.status('/api/pages')).toBe(200)
    dev.save(schemaOf('page'), contentType('page', { title: { type: 'strng' } })[schemaOf('page')])
    await dev.prints(/attributes\.title\.type "strng" is not an attribute type/)
    await dev.prints(/change not applied/)

    dev.save(schemaOf('page'), contentType('page', { title: { type: 'string' }, kind: { type: 'string' } })[schemaOf('page')])
    await dev.prints(/serving the change/)
    await becomes(dev, '/api/pages?filters[kind]=x', 200)
    rmSync(join(dev.folder, 'src', 'api', 'page'), { recursive: true })
    await becomes(dev, '/api/pages', 404)
    isAsking = false
    await asking
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    expect(statuses.length).toBeGreaterThan(20)

    dev.process.kill('SIGTERM')
    expect(await dev.ended).toBe(0)
    expect(await dev.status('/_health')).toBe(0)
  },
)

rule('projects.13', 'the types of a project follow its schemas, if it has them and octavo types wrote them', async () => {
  const folder = project({ ...notes, 'types/own.d.ts': '// Nobody writes here but me.' })
  const file = join(folder, 'types', 'octavo.d.ts')
  const dev = await startDev(folder)
  await dev.prints(/Octavo serves/)
  const [note] = Object.values(contentType('note', { name: { type: 'string' }, added: { type: 'integer' } }))
  dev.save(schemaOf('note'), note)
  await dev.prints(/serving the change/)
  expect(existsSync(file)).toBe(false)
  const written = await octavo(['types', folder, '--out', file])
  expect(written.status).toBe(0)
  const [changed] = Object.values(contentType('note', { name: { type: 'string' }, renamed: { type: 'integer' } }))
  dev.save(schemaOf('note'), changed)
  await dev.prints(/wrote types\/octavo\.d\.ts again/)
  expect(readFileSync(file, 'utf8')).toMatch(/^ {2}renamed: number \| null$/m)
  expect((await octavo(['types', folder, '--check', '--out', file])).status).toBe(0)
  await octavo(['types', folder, '--client', 'octavo-client', '--out', file])
  dev.save(schemaOf('note'), note)
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/^ {2}added: number \| null$/m), patience)
  expect((await octavo(['types', folder, '--client', 'octavo-client', '--check', '--out', file])).status).toBe(0)
  writeFileSync(file, '// My own.')
  dev.save(schemaOf('note'), changed)
  await dev.prints(/serving the change/)
  dev.process.kill('SIGTERM')
  expect(await dev.ended).toBe(0)
  expect([readFileSync(file, 'utf8'), readdirSync(join(folder, 'types'))]).toEqual(['// My own.', ['octavo.d.ts', 'own.d.ts']])
})

rule(
  'projects.8',
  'the configuration, the code that it imports, and .env are followed; files without a change and files of the service are not',
  async () => {
    const config = (greeting: string) => `import { greet } from './lib/greet.js'
    export default { hooks: [{ actions: ['create'], before: ({ data }) => { data.name = greet(data.name) + '${greeting}' } }] }`
    const folder = project({
      ...notes,
      'octavo.config.ts': config('!'),
      'lib/greet.ts': "import { word } from './word'\nexport const greet = (name: string): string => word + name",
      'lib/word.ts': "export const word = 'hello '",
    })
    const dev = await startDev(folder)
    await dev.prints(/Octavo serves/)
    expect(readFileSync(join(folder, '.env'), 'utf8')).toContain('JWT_SECRET=')
    const create = async () => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${dev.origin}/api/notes`, { method: 'POST', headers, body: JSON.stringify({ data: { name: 'a' } }) })
      return ((await response.json()) as { readonly data: { readonly name: string } }).data.name
    }
    expect(await create()).toBe('hello a!')
    const creates = (name: string) =>
      until(
        () => `${name} after ${dev.printed()}`,
        async () => (await create()) === name,
      )
    dev.save('lib/word.ts', "export const word = 'good day '")
    await creates('good day a!')
    dev.save('octavo.config.ts', config('?'))
    await creates('good day a?')
    // Only the times of files, unused files, and those of the service change.
    for (const file of ['octavo.config.ts', schemaOf('note')]) utimesSync(join(folder, file), new Date(), new Date())
    dev.save('notes.txt', 'x')
    dev.save('lib/unused.ts', 'export const unused = 1')
    dev.save('.tmp/other.json', '{}')
    dev.save('public/uploads/picture.json', '{}')
    dev.save('types/api.d.ts', 'export {}')
    dev.save('.env', `${readFileSync(join(folder, '.env'), 'utf8')}LOG_LEVEL=warn\n`)
    await until(
      () => dev.printed(),
      () => dev.printed().includes('changed: .env'),
    )
    await dev.prints(/serving the change/)
    expect([...dev.printed().matchAll(/"changed: ([^"]+)"/g)].map(([, paths]) => paths)).toEqual([
      'lib/word.ts',
      'octavo.config.ts',
      '.env',
    ])
  },
)

rule('projects.6', 'routes and schedules that are changed are served and run as they are now, and no longer as they were', async () => {
  const config = (path: string) => `import { word } from './lib/word.ts'
    export default {
      routes: [{ method: 'GET', path: '${path}', auth: false, handle: () => word }],
      schedules: [{ name: 'tick', cron: '* * * * * *', run: ({ documents }) => documents('api::note.note').create({ data: { name: word } }) }],
    }`
  const dev = await startDev(project({ ...notes, 'octavo.config.ts': config('/word'), 'lib/word.ts': "export const word = 'one'" }))
  await dev.prints(/Octavo serves/)
  // Each request has its own connection: one that is idle for 100 ms ends with the process that is replaced, which may cross a request.
  const request = async (path: string) => (await (await fetch(dev.origin + path, { headers: { connection: 'close' } })).json()) as unknown
  const ticks = async (word: string) => {
    const { meta } = (await request(`/api/notes?filters[name]=${word}&pagination[pageSize]=1`)) as {
      meta: { pagination: { total: number } }
    }
    return meta.pagination.total
  }
  const ticked = (word: string, more: number) =>
    until(
      () => `${more} ticks of ${word} after ${dev.printed()}`,
      async () => (await ticks(word)) >= more,
    )
  expect(await request('/api/word')).toBe('one')
  await ticked('one', 1)
  dev.save('lib/word.ts', "export const word = 'two'")
  await until(
    () => dev.printed(),
    async () => (await request('/api/word')) === 'two',
  )
  await ticked('two', 1)
  const former = await ticks('one')
  await ticked('two', (await ticks('two')) + 2)
  expect(await ticks('one')).toBe(former)
  dev.save('octavo.config.ts', config('/notes'))
  await dev.prints(/shadows GET \/notes of api::note\.note/)
  await dev.prints(/change not applied/)
  expect(await request('/api/word')).toBe('two')
  dev.save('octavo.config.ts', config('/words'))
  await becomes(dev, '/api/words', 200)
  await becomes(dev, '/api/word', 404)
})

rule('projects.7', 'a project that cannot be served yet is served once a saved change allows it, also by polling', async () => {
  const dev = await startDev(project({ ...notes, 'octavo.config.mjs': "import './missing.mjs'\nexport default { port: 'x' }" }), {
    words: ['--poll', '50'],
  })
  await dev.prints(/Cannot load octavo\.config\.mjs/)
  await dev.prints(/nothing is served until a change is saved/)
  dev.save('missing.mjs', 'export {}')
  await dev.prints(/octavo: Invalid configuration \(octavo\.config\.mjs, port\)/)
  dev.save('octavo.config.mjs', 'export default {}')
  await becomes(dev, '/api/notes', 200)
  const bad = await startDev(project(notes), { words: ['--poll', 'often'] })
  expect([await bad.ended, bad.printed()]).toEqual([
    1,
    'octavo: --poll is "often"; it must be a number of milliseconds from 20 to 60000.\n',
  ])
})

rule('projects.9', 'no process and no port is left when the command is killed, or the package manager that runs it', async () => {
  const killed = await startDev(project(notes))
  await killed.prints(/Octavo serves/)
  killed.process.kill('SIGKILL')
  await killed.ended
  await becomes(killed, '/_health', 0)
  const managed = await startDev(project(notes), {
    environment: { npm_lifecycle_event: 'dev' },
    command: (words) => ['sh', '-c', `${words}; true`],
  })
  await managed.prints(/Octavo serves/)
  managed.process.kill('SIGTERM')
  await becomes(managed, '/_health', 0)
})

test('Ctrl+C ends it at once, also while a client holds a request', async () => {
  const dev = await startDev(project(notes))
  await dev.prints(/Octavo serves/)
  const held = fetch(`${dev.origin}/api/notes`, { method: 'POST', body: new ReadableStream({}), duplex: 'half' } as RequestInit).catch(
    () => null,
  )
  dev.process.kill('SIGINT')
  expect(await dev.ended).toBe(0)
  await held
  expect(await dev.status('/_health')).toBe(0)
})

test('another port in .env is served, and the one before is free', async () => {
  const dev = await startDev(project(notes), { command: (words) => ['sh', '-c', `unset PORT; exec ${words}`] })
  const [first, second] = [await freePort(), await freePort()]
  dev.save('.env', `PORT=${first}\n`)
  const answers = (port: number, status: number) =>
    until(
      () => `${status} at ${port} after ${dev.printed()}`,
      async () => (await fetch(`http://127.0.0.1:${port}/_health`).catch(() => ({ status: 0 }))).status === status,
    )
  await answers(first, 204)
  dev.save('.env', readFileSync(join(dev.folder, '.env'), 'utf8').replace(String(first), String(second)))
  await answers(second, 204)
  await answers(first, 0)
})

test('on a terminal the log is readable, in colour unless NO_COLOR says otherwise; elsewhere it is JSON', async () => {
  const plainOutput = await startDev(project(notes))
  await plainOutput.prints(/Octavo serves/)
  await plainOutput.status('/api/nonsense')
  await plainOutput.prints(/"msg":"request"/)
  const environments: readonly Readonly<Record<string, string>>[] = [{}, { NO_COLOR: '1' }]
  for (const environment of environments) {
    const dev = await startDev(project(notes), {
      environment,
      command: (words) => ['script', '-qefc', `stty cols 200 rows 40; exec ${words}`, '/dev/null'],
    })
    await dev.prints(/Octavo serves/)
    await dev.status('/api/nonsense')
    await dev.prints(/NotFoundError: Not Found/)
    const lines = dev.printed().replaceAll('\r', '').split('\n')
    const line = lines.find((one) => one.includes('/api/:name'))!
    const bare = /^\d\d:\d\d:\d\d info {2}GET \/api\/:name 404 [\d.]+ ms NotFoundError: Not Found$/
    if ('NO_COLOR' in environment) expect(line).toMatch(bare)
    else {
      expect(line).toContain('\u001b[')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of colours
      expect(line.replaceAll(/\u001b\[\d+m/g, '')).toMatch(bare)
    }
    expect(dev.printed()).not.toContain('{"level"')
    // A refusal with its hint and a message with its fields are a line each; addresses are in the line of the service.
    expect(lines.filter((one) => one.includes('hint:'))).toEqual([
      expect.stringMatching(/GET \/api\/nonsense 404.* hint: There is no content-type/),
    ])
    expect(lines.filter((one) => /Server listening/.test(one))).toEqual([])
    expect(lines.filter((one) => /^ {6}\S/.test(one))).toEqual([])
  }
})

test('a folder without a project is refused, and nothing is created in it', async () => {
  const folder = project({ 'package.json': {} })
  const dev = await startDev(folder)
  expect([await dev.ended, dev.printed()]).toEqual([1, expect.stringMatching(/^octavo: [^\n]+ is not a content project[^\n]+\n$/)])
  expect(readdirSync(folder)).toEqual(['package.json'])
  expect(existsSync(join(folder, '.tmp'))).toBe(false)
})
