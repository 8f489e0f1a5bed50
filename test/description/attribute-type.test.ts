// A new attribute type is its name, a row in the table of types, and a file: built and served, it has a column, checks, queries and descriptions.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as Octavo from '../../src/service/index.js'
import { project, root } from '../start/command.js'
import { requestAt, type TestResponse } from '../support/serve.js'

const color = `// Colors in hexadecimal notation: #RRGGBB.
import type { AttributeType } from './attribute-type.js'
import { string } from './text.js'

const isColor = (value: string) => (/^#[0-9a-f]{6}$/.test(value) ? null : { says: 'must be a color such as #ff0000', code: 'pattern' as const })

export const color: AttributeType = {
  ...string,
  about: 'A color: #ff0000.',
  input: { ...string.input, cast: (value) => String(value).toLowerCase(), rules: [isColor] },
  parseQuery: (value) => String(value).toLowerCase(),
  schema: { response: { type: 'string', pattern: '^#[0-9a-f]{6}$' } },
  typescript: { response: '\`#\${string}\`', filter: 'Octavo.TextFilter' },
}
`

/** The part of the build that writes dist/index.js, dist/main.js and the threads. */
const bundling = `import { build } from 'esbuild'
import { bundle } from './scripts/bundle.mjs'
await build(bundle)`

const copy = mkdtempSync(join(tmpdir(), 'octavo-types-'))
let folder: string
let service: Octavo.Service
let origin: string

beforeAll(async () => {
  for (const part of ['src', 'packages', 'scripts', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true, filter: (path) => !/node_modules|dist$/.test(path) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  addTo('src/foundation/public/attribute-types.ts', "  'string',\n", "  'color',\n")
  addTo('src/model/types/attribute-types.ts', '  string,\n', '  color,\n')
  addTo('src/model/types/attribute-types.ts', 'import { date,', "import { color } from './color.js'\n", true)
  writeFileSync(join(copy, 'src/model/types/color.ts'), color)
  execFileSync(process.execPath, ['--input-type=module', '--eval', bundling], { cwd: copy })
  folder = project({
    'seed/access.json': { roles: { public: ['api::paint.paint.find', 'api::paint.paint.create'] } },
    'src/api/paint/content-types/paint/schema.json': {
      kind: 'collectionType',
      collectionName: 'paints',
      info: { singularName: 'paint', pluralName: 'paints', displayName: 'Paint' },
      attributes: { shade: { type: 'color', required: true, unique: true }, name: { type: 'string' } },
    },
  })
  const { createService, loadConfig } = (await import(join(copy, 'dist', 'index.js'))) as typeof Octavo
  const config = await loadConfig(
    folder,
    { HOST: '127.0.0.1', PORT: '0', NODE_ENV: 'production', DATABASE_CLIENT: 'sqlite' },
    () => 'secret',
  )
  service = await createService(config, pino({ level: 'silent' }))
  origin = await service.listen()
})
afterAll(async () => {
  await service?.close()
  for (const path of [copy, folder]) rmSync(path ?? copy, { recursive: true, force: true })
})

/** Inserts text once, after or before a line. */
function addTo(file: string, line: string, added: string, isBefore = false): void {
  const text = readFileSync(join(copy, file), 'utf8')
  expect(text.split(line)).toHaveLength(2)
  writeFileSync(join(copy, file), text.replace(line, isBefore ? added + line : line + added))
}

const post = (data: object): Promise<TestResponse> =>
  requestAt(origin, '/api/paints', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

test('values are cast, checked and returned', async () => {
  expect((await post({ shade: '#FF0000', name: 'red' })).body.data).toMatchObject({ shade: '#ff0000', name: 'red' })
  expect((await post({ shade: '#00ff00', name: 'green' })).status).toBe(201)
  const refused = await post({ shade: 'blue' })
  expect(refused.status).toBe(400)
  expect(refused.body.error.message).toBe('shade must be a color such as #ff0000')
  expect((await post({})).body.error.message).toBe('shade must be defined.')
  expect((await post({ shade: '#FF0000' })).body.error.message).toBe('This attribute must be unique')
})

test('queries filter, sort and search by it', async () => {
  const names = async (query: string) =>
    (await requestAt(origin, `/api/paints?${query}`)).body.data.map(({ name }: { name: string }) => name)
  expect(await names('filters[shade]=%2300FF00')).toEqual(['green'])
  expect(await names('sort=shade:desc')).toEqual(['red', 'green'])
  expect(await names('_q=ff00')).toEqual(['red', 'green'])
})

test('OpenAPI and TypeScript describe it', async () => {
  const described = await requestAt(origin, '/api/openapi.json')
  expect(described.text).toContain('"pattern":"^#[0-9a-f]{6}$"')
  const types = execFileSync(process.execPath, [join(copy, 'dist', 'main.js'), 'types', '--out', 'types.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(types + readFileSync(join(folder, 'types.ts'), 'utf8')).toContain('shade: `#${string}`')
})
