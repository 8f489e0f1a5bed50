// docs/spec/running.md: the commands of deploy/Dockerfile, carried out one after the other in an empty folder.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join, relative } from 'node:path'
import { DockerfileParser } from 'dockerfile-ast'
import { afterAll, expect, vi } from 'vitest'
import { contentType } from '../spec/library.js'
import { project, removeProjects } from '../start/command.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { root, textOf } from './composed.js'
import { responds, runProcess, startProcess } from './processes.js'

vi.setConfig({ testTimeout: 3_600_000 })

const folder = mkdtempSync(join(tmpdir(), 'octavo-image-'))
afterAll(() => {
  removeProjects()
  rmSync(folder, { recursive: true, force: true })
})

/** The text of an instruction of the file, by its keyword, in its order. */
const instructions = DockerfileParser.parse(textOf('Dockerfile'))
  .getInstructions()
  .map((each) => [each.getKeyword(), (each.getArgumentsContent() ?? '').replaceAll(/\\\n\s*/g, '')] as const)
const allOf = (keyword: string): readonly string[] => instructions.filter(([word]) => word === keyword).map(([, text]) => text)
/** The words of a command in the form of a list. */
const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[]

/** Copies the build's context, without the files that the file next to the Dockerfile leaves out. */
function context(from: string, to: string): void {
  const lines = textOf('Dockerfile.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const matches = (pattern: string, path: string): boolean =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(?:/|$)`).test(path)
  const isIgnored = (path: string): boolean =>
    lines.reduce(
      (ignored, line) => (line.startsWith('!') ? ignored && !matches(line.slice(1), path) : ignored || matches(line, path)),
      false,
    )
  cpSync(from, to, { recursive: true, filter: (path) => path === from || !isIgnored(relative(from, path)) })
}

rule('running.2', 'an image is built by its commands, has no secrets, serves, and says that it is healthy', async () => {
  const source = project({ ...contentType('article', { title: { type: 'string' } }), '.env': 'JWT_SECRET=not-for-the-image\n' })
  const packed = (await runProcess(['npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', source], process.env, root)).trim()
  writeProject(source, packed)

  // The first stage has the files of its COPY alone.
  const [dependencies, app] = [join(folder, 'dependencies'), join(folder, 'app')]
  mkdirSync(dependencies)
  const [, ...given] = ['COPY', ...allOf('COPY')[0]!.split(' ').slice(0, -1)]
  for (const name of readdirSync(source))
    if (given.some((pattern) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)))
      cpSync(join(source, name), join(dependencies, name))
  const [install, prepare] = allOf('RUN')
  // Without optimization, native modules are compiled in a third of the time.
  await runProcess(['sh', '-ec', install!], { ...process.env, CFLAGS: '-O0', CXXFLAGS: '-O0' }, dependencies)

  context(source, app)
  expect(existsSync(join(app, '.env'))).toBe(false)
  cpSync(join(dependencies, 'node_modules'), join(app, 'node_modules'), { recursive: true })
  // The user of the image does not exist here.
  const { uid, gid } = userInfo()
  await runProcess(['sh', '-ec', prepare!.replace('node:node', `${uid}:${gid}`)], process.env, app)

  const [port, management] = [await unusedPort(), await unusedPort()]
  const variables = Object.fromEntries(
    allOf('ENV').flatMap((text) =>
      text
        .trim()
        .split(/\s+/)
        .map((each) => each.split('=')),
    ),
  )
  const environment = {
    ...variables,
    ...{ HOST: '127.0.0.1', PORT: String(port), OCTAVO_MANAGEMENT_PORT: String(management) },
    ...{ API_TOKEN_SALT: 'a salt for the image', JWT_SECRET: 'a secret for the image', HOME: folder },
  }
  const isHealthy = async (): Promise<boolean> => {
    const check = startProcess(wordsOf(allOf('HEALTHCHECK')[0]!), environment, app)
    return (await check.ended) === 0
  }
  expect(await isHealthy()).toBe(false)
  const service = startProcess(wordsOf(allOf('CMD').at(-1)!), environment, app)
  try {
    await until(service.output, isHealthy)
    await until(service.output, () => responds(`http://127.0.0.1:${port}/_health`, 204))
    // Without secrets in it, the service writes none: its folder is only read.
    expect(readdirSync(app)).not.toContain('.env')
    expect(readFileSync(join(app, 'package.json'), 'utf8')).toContain(packed)
  } finally {
    expect(await service.stop()).toBe(0)
  }
  expect(await isHealthy()).toBe(false)
})

interface Locked {
  readonly dev?: boolean
  readonly [key: string]: unknown
}

/** Writes a project that depends on a packed Octavo, with a lock file of the versions that the repository has. */
function writeProject(to: string, packed: string): void {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { readonly packages: Readonly<Record<string, Locked>> }
  const { '': own, ...packages } = lock.packages
  const { version, license, dependencies, engines, bin } = own!
  const about = { name: 'content', version: '1.0.0', private: true, dependencies: { octavo: `file:${packed}` } }
  writeFileSync(join(to, 'package.json'), JSON.stringify(about))
  const octavo = { version, resolved: `file:${packed}`, license, dependencies, engines, bin }
  const needed = Object.entries(packages).filter(([, { dev }]) => dev !== true)
  const all = { '': about, 'node_modules/octavo': octavo, ...Object.fromEntries(needed) }
  writeFileSync(
    join(to, 'package-lock.json'),
    JSON.stringify({ name: about.name, version: about.version, lockfileVersion: 3, requires: true, packages: all }),
  )
}

/** A port that nothing listens on. */
function unusedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
