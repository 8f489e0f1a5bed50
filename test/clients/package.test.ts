// The package octavo-client as a registry delivers it, alone in an empty folder.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { goldenProject, goldenTokens, type Served, serveGolden } from '../support/serve.js'
import { compile, typesOf } from '../types/compile.js'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'packages', 'client')
const website = mkdtempSync(join(tmpdir(), 'octavo-client-'))
const installed = join(website, 'node_modules', 'octavo-client')
const packageOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
let served: Served
let tarball: string

beforeAll(async () => {
  served = await serveGolden()
  const name = execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', website], {
    cwd: source,
    encoding: 'utf8',
  })
  tarball = join(website, name.trim())
  writeFileSync(join(website, 'package.json'), JSON.stringify({ type: 'module', dependencies: { 'octavo-client': `file:${tarball}` } }))
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: website })
})
afterAll(async () => {
  await served?.close()
  rmSync(website, { recursive: true, force: true })
})

rule('types.16', 'it is small, has the version of octavo, and installs nothing else', () => {
  expect(statSync(tarball).size).toBeLessThan(20_000)
  expect(readdirSync(join(website, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['octavo-client'])
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  const { version, dependencies, sideEffects } = packageOf(installed)
  expect({ version, dependencies, sideEffects }).toEqual({ version: packageOf(root).version, dependencies: undefined, sideEffects: false })
})

rule('types.16', 'it reads documents in Node', async () => {
  const script = `
    import { createClient, isApiError } from 'octavo-client'
    const client = createClient({ url: '${served.origin}/api', token: '${goldenTokens().full}' })
    const { data, meta } = await client.collection('articles').find({ fields: ['title'], pagination: { pageSize: 2 } })
    const error = await client.collection('articles').findOne('none').catch((error) => error)
    console.log(JSON.stringify([data.length, meta.pagination.pageSize, isApiError(error, 404)]))`
  // Not synchronous: this process serves the project.
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: website })
  expect(stdout).toBe('[2,2,true]\n')
})

rule('types.16', 'it has the types of octavo/client, which the file of octavo types fills', () => {
  const use = (client: string) => `
    import { createClient, type Result, typed } from '${client}'
    const client = createClient({ url: '' })
    const { data } = await client.collection('articles').find({ populate: { author: true }, fields: ['title'] })
    export const names: (string | undefined)[] = data.map(({ author }) => author?.name)
    export const title = ({ title }: Result<'api::article.article'>): string => title
    declare const strapi: { collection(name: string): unknown; single(name: string): unknown }
    await typed(strapi).collection('articles').find({ sort: 'rankk' })
    data[0]!.summary
    client.collection('article')`
  const inWebsite = compile({ 'octavo.d.ts': typesOf(goldenProject, '--client', 'octavo-client'), 'use.ts': use('octavo-client') }, website)
  const inProject = compile({ 'octavo.d.ts': typesOf(goldenProject), 'use.ts': use('octavo/client') })
  expect(inWebsite.mistakes).toHaveLength(3)
  expect(inWebsite.mistakes.map(({ message }) => message)).toEqual(inProject.mistakes.map(({ message }) => message))
})
