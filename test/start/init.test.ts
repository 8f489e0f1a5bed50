// `octavo init`, from the published package: its files, and the cases in which it creates none.
import { execFile, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { serveExisting } from '../support/serve.js'
import { patience } from '../support/until.js'
import { type Ended, octavo, root } from './command.js'

const place = mkdtempSync(join(tmpdir(), 'octavo-init-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

/** The package in a folder of another project, as npm installs it from a tarball. */
const installed = join(place, 'elsewhere', 'node_modules', 'octavo')

beforeAll(() => {
  mkdirSync(installed, { recursive: true })
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', place], { cwd: root, encoding: 'utf8' })
  expect(packed.status).toBe(0)
  spawnSync('tar', ['xzf', join(place, packed.stdout.trim()), '-C', installed, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly dependencies: object }
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(installed, '..', name, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(installed, '..', name))
  }
})

interface Started {
  readonly command?: string
  readonly words: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** Runs the command of the package in the test's folder. */
function run({ command = join(installed, 'dist', 'main.js'), words, environment = {} }: Started): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words], {
    ...{ cwd: place, encoding: 'utf8', timeout: patience.timeout },
    env: { PATH: process.env.PATH, HOME: place, npm_config_offline: 'true', ...environment },
  })
  return { status, out: stdout, err: stderr }
}
const init = (...words: readonly string[]): Ended => run({ words: ['init', ...words] })
const apart = ['--no-install', '--no-git']

const everything = (folder: string): readonly string[] =>
  readdirSync(join(place, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(place, folder, path)).isFile())
    .sort()
const textOf = (...path: readonly string[]): string => readFileSync(join(place, ...path), 'utf8')
const jsonOf = (...path: readonly string[]) => JSON.parse(textOf(...path))

describe('creates', () => {
  test('a blank project, with every file that it needs', () => {
    expect(init('blank', ...apart, '--yes')).toEqual({
      status: 0,
      out: 'Created blank (blank, SQLite).\nNext:\n  cd blank\n  npm install\n  npm run dev\n',
      err: '',
    })
    expect(everything('blank')).toEqual([
      ...['.env.example', '.gitignore', '.vscode/settings.json', 'README.md', 'octavo.config.ts', 'package.json'],
      ...['src/api/.gitkeep', 'src/components/.gitkeep', 'tsconfig.json', 'types/octavo.d.ts'],
    ])
    expect(jsonOf('blank', 'package.json')).toMatchObject({
      name: 'blank',
      private: true,
      scripts: { dev: 'octavo dev', start: 'octavo start', types: 'octavo types --out types/octavo.d.ts' },
    })
    for (const ignored of ['node_modules/', '.env', '.tmp/', 'public/uploads/'])
      expect(textOf('blank', '.gitignore').split('\n')).toContain(ignored)
    const editor = jsonOf('blank', '.vscode', 'settings.json')['json.schemas'] as readonly { readonly url: string }[]
    for (const { url } of editor) expect(existsSync(join(place, 'elsewhere', url))).toBe(true)
  })

  test.each(['blank', 'blog', 'magazine'])('a project from the template %s that starts, and is safe by default', async (template) => {
    expect(init(`from-${template}`, '--template', template, ...apart).status).toBe(0)
    const folder = join(place, `from-${template}`)
    const { status, out } = await octavo(['start', folder])
    expect([status, out]).toEqual([0, expect.stringContaining('Octavo serves')])
    expect(out).not.toMatch(/"level":[4-6]0/)
    const served = await serveExisting({ folder })
    const answers = await Promise.all(
      [
        '/api/upload/files',
        '/api/posts?populate=cover',
        '/api/posts?status=draft',
        '/api/articles?populate=cover&sort=reportedOn:desc',
      ].map((path) => served.request(path)),
    )
    await served.close()
    const [files, posts, drafts, articles] = answers.map(({ status: code, body }) => [code, body] as const)
    // Everybody may list the files of the magazine.
    expect(files![0]).toBe(template === 'magazine' ? 200 : 403)
    const covers = ([, body]: readonly [number, { readonly data: readonly { readonly cover: unknown }[] }]) =>
      body.data.map(({ cover }) => cover !== null)
    if (template === 'blog') expect([posts![0], covers(posts!), drafts![0]]).toEqual([200, [true, true, true], 403])
    if (template === 'magazine') expect([articles![0], covers(articles!).slice(0, 6)]).toEqual([200, Array(6).fill(true)])
  })

  rule('projects.3', 'unknown query parameters are refused in a new project, and so are drafts without their permission', async () => {
    const served = await serveExisting({ folder: join(place, 'from-blog') })
    const statuses = await Promise.all(
      ['filter[title]=x', 'status=draft', 'sort=title'].map((query) => served.request(`/api/posts?${query}`)),
    )
    await served.close()
    expect(statuses.map(({ status }) => status)).toEqual([400, 403, 200])
  })

  rule('projects.14', "a new project has indexes of Octavo's own, which keep writes of relations fast", async () => {
    const folder = join(place, 'from-blog')
    const indexes = () => {
      const database = new Database(join(folder, '.tmp', 'data.db'), { readonly: true })
      const found = database.prepare("select tbl_name from sqlite_schema where type = 'index' and name like 'octavo_%'").pluck().all()
      database.close()
      return found
    }
    const served = await serveExisting({ folder })
    await expect.poll(indexes, patience).toEqual(expect.arrayContaining(['posts', 'posts_author_lnk']))
    await served.close()
  })

  rule('projects.4', 'users of a template with random passwords', () => {
    const shipped = JSON.parse(readFileSync(join(root, 'examples', 'magazine', 'seed', 'access.json'), 'utf8'))
    const written = jsonOf('from-magazine', 'seed', 'access.json')
    const passwords = ({ users }: { readonly users: readonly { readonly password: string }[] }) => users.map(({ password }) => password)
    expect(written.roles).toEqual(shipped.roles)
    expect(passwords(written)).toHaveLength(2)
    expect(new Set([...passwords(written), ...passwords(shipped)]).size).toBe(4)
    expect(existsSync(join(place, 'from-magazine', 'seed', 'check.mjs'))).toBe(false)
  })

  test('a configuration that the compiler accepts, in TypeScript and in JavaScript, and with a misspelt setting found', () => {
    expect(init('scripted', '--no-typescript', ...apart).status).toBe(0)
    const written = everything('scripted')
    for (const name of ['octavo.config.ts', 'tsconfig.json', 'types/octavo.d.ts']) expect(written).not.toContain(name)
    expect(jsonOf('scripted', 'package.json')).not.toHaveProperty('devDependencies')
    mkdirSync(join(place, 'blank', 'node_modules'))
    for (const name of ['octavo', 'zod', 'pino']) symlinkSync(join(installed, '..', name), join(place, 'blank', 'node_modules', name))
    symlinkSync(join(root, 'node_modules', '@types'), join(place, 'blank', 'node_modules', '@types'))
    const texts = { ts: textOf('blank', 'octavo.config.ts'), mjs: textOf('scripted', 'octavo.config.mjs') }
    for (const [extension, text] of Object.entries(texts)) {
      writeFileSync(join(place, 'blank', `right.${extension}`), text)
      writeFileSync(join(place, 'blank', `wrong.${extension}`), text.replace('strictParams', 'strictParam'))
    }
    const options = { ...jsonOf('blank', 'tsconfig.json').compilerOptions, allowJs: true, checkJs: true }
    const include = ['right.ts', 'right.mjs', 'wrong.ts', 'wrong.mjs']
    writeFileSync(join(place, 'blank', 'tsconfig.both.json'), JSON.stringify({ compilerOptions: options, include }))
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.both.json'], { cwd: join(place, 'blank'), encoding: 'utf8' })
    const errors = stdout.split('\n').filter((line) => line.includes('error TS'))
    expect(errors.map((line) => line.slice(0, line.indexOf('(')))).toEqual(['wrong.mjs', 'wrong.ts'])
    for (const error of errors) expect(error).toContain('strictParam')
  })

  test.each([
    ['postgres', 'postgres://me:p%40ss%20word@db.example.org/site', ['db.example.org', '5432', 'site', 'me', "'p@ss word'"]],
    ['mysql', 'mysql://me@db.example.org:3307/site', ['db.example.org', '3307', 'site', 'me', '']],
  ])('a project on %s, with the connection in .env', (client, url, values) => {
    expect(init(client, '--database-url', url, ...apart).status).toBe(0)
    const names = ['HOST', 'PORT', 'NAME', 'USERNAME', 'PASSWORD']
    const lines = names.map((name, index) => `DATABASE_${name}=${values[index]}`)
    expect(textOf(client, '.env')).toBe([`DATABASE_CLIENT=${client}`, ...lines, ''].join('\n'))
    expect(statSync(join(place, client, '.env')).mode & 0o077).toBe(0)
    expect(textOf(client, '.env.example')).toContain(`DATABASE_CLIENT=${client}\n`)
    expect(textOf(client, '.env.example')).not.toContain('p@ss')
  })

  test('a repository, and none in another one', () => {
    expect(init('versioned', '--no-install').status).toBe(0)
    expect(existsSync(join(place, 'versioned', '.git'))).toBe(true)
    expect(init('versioned/inner', '--no-install').status).toBe(0)
    expect(existsSync(join(place, 'versioned', 'inner', '.git'))).toBe(false)
  })

  rule('projects.1', 'a project in an empty folder that has only a repository', () => {
    mkdirSync(join(place, 'cloned', '.git'), { recursive: true })
    expect(init('cloned', ...apart).status).toBe(0)
  })
})

describe('prepared for the package manager that runs the command', () => {
  const by = (manager: string) => {
    const folder = `with-${manager}`
    const environment = { npm_config_user_agent: `${manager}/10.0.0 node/v20.19.0 linux x64` }
    const { status, out } = run({ words: ['init', folder, ...apart, '--yes'], environment })
    expect([status, out]).toEqual([0, expect.stringContaining(`${manager} install\n  ${manager} run dev\n`)])
    return folder
  }

  rule('projects.30', 'npm, pnpm and yarn may run the install script of the native module, which they otherwise skip', () => {
    expect(jsonOf('blank', 'package.json').allowScripts).toEqual({ 'better-sqlite3': true })
    expect(textOf(by('pnpm'), 'pnpm-workspace.yaml')).toBe(
      'onlyBuiltDependencies:\n  - better-sqlite3\nallowBuilds:\n  better-sqlite3: true\n',
    )
    expect(jsonOf(by('yarn'), 'package.json').dependenciesMeta).toEqual({ 'better-sqlite3': { built: true } })
    expect(textOf('with-yarn', '.yarnrc.yml')).toBe('nodeLinker: node-modules\n')
    expect(textOf(by('bun'), 'README.md')).toContain('bun run dev')
  })

  rule('projects.30', 'a native module that is not built or not installed is one sentence with the commands that repair it', () => {
    const folder = by('npm')
    const modules = join(place, 'bare-modules', 'node_modules')
    mkdirSync(join(modules, 'better-sqlite3'), { recursive: true })
    cpSync(installed, join(modules, 'octavo'), { recursive: true })
    for (const name of readdirSync(join(installed, '..')).filter((name) => !['octavo', 'better-sqlite3'].includes(name)))
      symlinkSync(join(installed, '..', name), join(modules, name))
    const command = join(modules, 'octavo', 'dist', 'main.js')
    const words = ['start', 'users list'].map((line) => [...line.split(' '), join(place, folder)])
    const problems = () => words.map((each) => run({ command, words: each })).map(({ status, err }) => [status, err])
    rmSync(join(modules, 'better-sqlite3'), { recursive: true })
    expect(problems()).toEqual(
      words.map(() => [1, expect.stringMatching(/^octavo: The package better-sqlite3 is not installed: [^\n]+\n$/)]),
    )
    cpSync(join(root, 'node_modules', 'better-sqlite3'), join(modules, 'better-sqlite3'), {
      recursive: true,
      filter: (path) => !path.endsWith(join('better-sqlite3', 'build')),
    })
    cpSync(join(root, 'node_modules', 'bindings'), join(modules, 'bindings'), { recursive: true })
    cpSync(join(root, 'node_modules', 'file-uri-to-path'), join(modules, 'file-uri-to-path'), { recursive: true })
    expect(problems()).toEqual(
      words.map(() => [
        1,
        expect.stringMatching(/^octavo: The native module better-sqlite3 is not built: [^\n]*pnpm approve-builds[^\n]+\n$/),
      ]),
    )
  })
})

describe('the package', () => {
  test('has everything that its README links to', () => {
    const links = [...readFileSync(join(installed, 'README.md'), 'utf8').matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link]) => link!)
    const inside = links.filter((link) => !/^https?:/.test(link))
    expect(inside.length).toBeGreaterThan(3)
    expect(inside.filter((link) => !existsSync(join(installed, link)))).toEqual([])
  })

  rule('projects.31', 'create-octavo is octavo init by the name that npm create takes, in the version of the package', () => {
    const starter = join(root, 'packages', 'create-octavo')
    const versionOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
    expect(versionOf(starter)).toBe(versionOf(root))
    const folder = join(installed, '..', 'create-octavo')
    cpSync(starter, folder, { recursive: true })
    const { status, out } = run({ command: join(folder, 'create.js'), words: ['created', ...apart, '--yes'] })
    expect([status, out]).toEqual([0, expect.stringMatching(/^Created created \(blank, SQLite\)\./)])
    expect(everything('created')).toContain('package.json')
  })
})

describe('depends on', () => {
  const dependency = (folder: string) => jsonOf(folder, 'package.json').dependencies.octavo

  rule('projects.5', 'the version that a registry has', () => {
    expect(dependency('blank')).toBe(`^${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}`)
  })

  rule('projects.5', 'the tarball that it was installed from', () => {
    const lock = join(installed, '..', '.package-lock.json')
    writeFileSync(lock, JSON.stringify({ packages: { 'node_modules/octavo': { resolved: 'file:../octavo-0.1.0.tgz' } } }))
    expect(init('from-tarball', ...apart).status).toBe(0)
    rmSync(lock)
    expect(dependency('from-tarball')).toBe('file:../octavo-0.1.0.tgz')
  })

  rule('projects.5', 'the checkout that it runs from; npm installs that without a network', () => {
    const { status, out } = run({
      command: join(root, 'dist', 'main.js'),
      words: ['init', 'checkout', '--no-typescript', '--yes', '--no-git'],
    })
    expect([status, out]).toEqual([0, expect.stringMatching(/Next:\n {2}cd checkout\n {2}npm run dev\n$/)])
    expect(dependency('checkout')).toMatch(/^file:(?:\.\.\/)+/)
    const { stdout } = spawnSync('npx', ['--no-install', 'octavo', '--version'], { cwd: join(place, 'checkout'), encoding: 'utf8' })
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  rule('projects.2', 'a failed installation: the project stays, and the command names the failure and the next step', () => {
    const created = (folder: string) => `Created ${folder} (blank, SQLite).\n`
    const problem = (folder: string, how: string) =>
      new RegExp(
        `(?:^|\\n)octavo: npm install ${how}\\. The files of the project are complete in ${folder}\\. Once the cause is removed:\n  cd ${folder}\n  npm install\n  npm run dev\n$`,
      )
    expect(run({ words: ['init', 'alone', '--no-git'], environment: { npm_config_cache: join(place, 'no-cache') } })).toEqual({
      status: 1,
      out: created('alone'),
      err: expect.stringMatching(problem('alone', 'failed \\(exit status 1\\)')),
    })
    expect(everything('alone')).toContain('package.json')

    // No package manager at all.
    expect(run({ words: ['init', 'bare', '--no-git'], environment: { PATH: '' } })).toEqual({
      status: 1,
      out: created('bare'),
      err: expect.stringMatching(problem('bare', 'failed \\(spawn npm ENOENT\\)')),
    })
    expect(everything('bare')).toContain('package.json')
  })
})

describe('in TypeScript', () => {
  const stops: (() => void)[] = []
  afterAll(() => {
    for (const stop of stops) stop()
  })

  /** Packages of node_modules, at an address of this machine, as a registry has them. */
  async function serveRegistry(names: readonly string[]): Promise<string> {
    const server = createServer(({ url = '' }, response) => {
      const name = names.find((one) => decodeURIComponent(url) === `/${one}`)
      if (name !== undefined) response.end(JSON.stringify(packages.get(name)))
      else if (url.endsWith('.tgz')) createReadStream(join(place, url.slice(1))).pipe(response)
      else response.writeHead(404).end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => server.close())
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const packages = new Map(
      names.map((name) => {
        const folder = join(root, 'node_modules', name)
        const { stdout } = spawnSync('npm', ['pack', folder, '--ignore-scripts', '--silent'], { cwd: place, encoding: 'utf8' })
        const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string }
        const version = { ...description, dist: { tarball: `${address}/${stdout.trim()}` } }
        return [name, { name, 'dist-tags': { latest: version.version }, versions: { [version.version]: version } }]
      }),
    )
    return address
  }

  const ended = promisify(execFile)
  const passed = { code: 0, stdout: 'types/octavo.d.ts is up to date.\n' }
  const check = (folder: string) =>
    ended('npm', ['run', 'check', '--silent'], { cwd: join(place, folder) }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { readonly code: number; readonly stdout: string }) => ({ code, stdout }),
    )

  rule('projects.15', 'a new project compiles once its dependencies are installed, and does not with an error', async () => {
    const npm_config_registry = await serveRegistry(['typescript', '@types/node', 'undici-types'])
    const environment = { PATH: process.env.PATH, HOME: place, npm_config_registry }
    const command = [join(root, 'dist', 'main.js'), 'init', '--yes', '--no-git']
    await ended(process.execPath, [...command, 'compiled-blank'], { cwd: place, env: environment })
    expect(jsonOf('compiled-blank', 'node_modules', 'typescript', 'package.json').name).toBe('typescript')
    for (const template of ['blog', 'magazine']) {
      const folder = `compiled-${template}`
      await ended(process.execPath, [...command, folder, '--no-install', '--template', template], { cwd: place, env: environment })
      symlinkSync(join(place, 'compiled-blank', 'node_modules'), join(place, folder, 'node_modules'))
    }
    for (const template of ['blank', 'magazine']) expect(await check(`compiled-${template}`)).toEqual(passed)
    const script = (uid: string) =>
      `import { createService, loadConfig } from 'octavo'\n\nconst service = await createService(await loadConfig(process.cwd()))\nconsole.log(await service.documents('${uid}').count())\nawait service.close()\n`
    mkdirSync(join(place, 'compiled-blog', 'scripts'))
    writeFileSync(join(place, 'compiled-blog', 'scripts', 'right.ts'), script('api::post.post'))
    writeFileSync(join(place, 'compiled-blog', 'scripts', 'wrong.ts'), script('api::post.psot'))
    const { code, stdout } = await check('compiled-blog')
    expect(code).not.toBe(0)
    expect(stdout.split('\n').filter((line) => line.includes('error'))).toEqual([
      expect.stringMatching(/^scripts\/wrong\.ts\(4,37\): error TS2345: .*psot/),
    ])
  })
})

describe('creates nothing', () => {
  rule('projects.1', 'in a folder that has something', () => {
    mkdirSync(join(place, 'full', 'b'), { recursive: true })
    for (const name of ['a.txt', '.env']) writeFileSync(join(place, 'full', name), 'mine')
    expect(init('full')).toEqual({
      status: 1,
      out: '',
      err: `octavo: ${join(place, 'full')} is not empty: it has .env, a.txt, b. A new project needs an empty folder.\n`,
    })
    expect(readdirSync(join(place, 'full')).sort()).toEqual(['.env', 'a.txt', 'b'])
    expect(init('full/a.txt').err).toBe(`octavo: ${join(place, 'full', 'a.txt')} is a file.\n`)
  })

  test.each([
    [[], /^octavo: Name the folder of the new project: (?:npx octavo|node \S+main\.js) init my-project\n$/],
    [['new', '--template', 'blgo'], /^octavo: --template is "blgo"; it must be blank, blog or magazine; did you mean "blog"\?\n$/],
    [['new', '--database', 'oracle'], /^octavo: --database is "oracle"; it must be sqlite, postgres or mysql\n$/],
    [['new', '--database-url', 'db.example.org'], /^octavo: --database-url must be a URL/],
    [['new', '--database', 'mysql', '--database-url', 'postgres://x/y'], /^octavo: --database is mysql, and --database-url is of postgres/],
  ])('for flags that make no sense: %j', (words, said) => {
    expect(init(...words)).toEqual({ status: 1, out: '', err: expect.stringMatching(said) })
    expect(existsSync(join(place, 'new'))).toBe(false)
  })

  rule('projects.2', 'a file that cannot be written: the created files are removed', () => {
    const command = `ulimit -f 16; exec '${process.execPath}' '${join(installed, 'dist', 'main.js')}' init a/b/c --template magazine`
    const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: place, encoding: 'utf8', env: { PATH: process.env.PATH } })
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/octavo: \S+types\/octavo\.d\.ts cannot be written \(EFBIG: [^\n]+\)\. Nothing was created\.\n$/),
    ])
    expect(existsSync(join(place, 'a'))).toBe(false)
  })
})

describe('in a terminal', () => {
  /** Runs the command in a terminal and types keys, each after its question. Resolves to the screen. */
  function typed(words: readonly string[], keys: readonly (readonly [string, string])[]): Promise<string> {
    const command = [process.execPath, join(installed, 'dist', 'main.js'), ...words].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['-qefc', `stty cols 120 rows 40; ${command}`, '/dev/null'], {
      cwd: place,
      env: { PATH: process.env.PATH, TERM: 'xterm', HOME: place },
      timeout: patience.timeout,
    })
    let screen = ''
    const waiting = [...keys]
    child.stdout.on('data', (bytes) => {
      screen += bytes
      const [question, key] = waiting[0] ?? []
      if (question === undefined || !screen.includes(question)) return
      waiting.shift()
      // The terminal is not read before the question is on the screen.
      setTimeout(() => child.stdin.write(key!), 200)
    })
    return new Promise((resolve) => child.on('close', () => resolve(screen)))
  }

  test('prompts for values without flags', async () => {
    const screen = await typed(
      ['init', '--no-install', '--no-git'],
      [
        ['In which folder?', 'asked\r'],
        ['What does it start with?', '\u001b[B\r'],
        ['Which database?', '\r'],
        ['in TypeScript?', 'n'],
      ],
    )
    expect(screen).toContain('Created asked (blog, SQLite).')
    expect(everything('asked')).toEqual(expect.arrayContaining(['octavo.config.mjs', 'src/api/post/content-types/post/schema.json']))
  })

  test('prompts again if the folder is not empty; Ctrl+C creates nothing', async () => {
    const screen = await typed(
      ['init'],
      [
        ['In which folder?', 'full\r'],
        ['is not empty', '\u0003'],
      ],
    )
    expect(screen).toContain('octavo: Cancelled; nothing was created.')
  })
})
