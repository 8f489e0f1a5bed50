// Configuration files of a project: octavo.config in TypeScript, and the settings for responses in Strapi's `config/api`.
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { access, component, contentType, plain, reading, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import type { Served, ServeOptions } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const stones = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`stone ${index + 10}`, { weight: index, origin: 'quarry' }]))
const content = {
  'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
  ...contentType('stone', {
    name: { type: 'string' },
    weight: { type: 'integer' },
    origin: { type: 'string' },
    vein: { type: 'component', component: 'rock.vein' },
  }),
  ...component('rock', 'vein', { origin: { type: 'string' }, colour: { type: 'string' } }),
  ...seeded('stone', plain(stones)),
  ...access([...reading('stone'), 'api::stone.stone.create']),
}

const open: Served[] = []
afterAll(async () => {
  for (const served of open) await served.close()
})

async function serve(files: Readonly<Record<string, unknown>>, options: ServeOptions = {}): Promise<Served> {
  const served = await serveProject({ ...content, ...files }, options)
  open.push(served)
  return served
}

test("Strapi's config/api in TypeScript sets the prefix, the pages and private attributes", async () => {
  const { request } = await serve(
    {
      'config/api.ts': `import type { Core } from '@strapi/strapi'
        type Limits = { defaultLimit: number; maxLimit: number }
        const limits: Limits = { defaultLimit: 3, maxLimit: 7 }
        const config = ({ env }: { env: any }) => ({
          rest: { ...limits, prefix: env('API_PREFIX', '/api'), withCount: env.bool('WITH_COUNT', true) },
          responses: { privateAttributes: ['origin'] },
        })
        export default config satisfies unknown as unknown as Core`,
    },
    { environment: { API_PREFIX: '/v2', WITH_COUNT: 'false' } },
  )
  const { body } = await request('/v2/stones?populate=*')
  expect(body.data).toHaveLength(3)
  expect(body.meta.pagination).toEqual({ page: 1, pageSize: 3 })
  expect(body.data[0]).toHaveProperty('weight')
  expect(JSON.stringify(body)).not.toContain('quarry')
  expect((await request('/v2/stones?pagination[pageSize]=50')).body.data).toHaveLength(7)
  expect((await request('/api/stones')).status).toBe(404)
  for (const hidden of ['filters[origin]=quarry', 'sort=origin', 'fields=origin', 'filters[vein][origin]=quarry']) {
    expect([hidden, (await request(`/v2/stones?${hidden}`)).body.error.message]).toEqual([
      hidden,
      expect.stringContaining('Invalid key origin'),
    ])
  }
})

test('octavo.config wins over config/api, and config/env over config', async () => {
  const { request } = await serve({
    'config/api.js': 'module.exports = { rest: { defaultLimit: 3, maxLimit: 7 } }',
    'config/env/production/api.json': { rest: { defaultLimit: 4 } },
    'octavo.config.json': { api: { rest: { maxLimit: 9 } } },
  })
  expect((await request('/api/stones')).body.data).toHaveLength(4)
  expect((await request('/api/stones?pagination[pageSize]=50')).body.data).toHaveLength(9)
})

test('a config/api that cannot be used is named', async () => {
  await expect(serve({ 'config/api.js': 'module.exports = { rest: { maxLimit: "many" } }' })).rejects.toThrow(
    /^Invalid configuration \(config\/api\.js, rest\.maxLimit\): /,
  )
  await expect(serve({ 'config/api.ts': "throw new Error('no limits today')" })).rejects.toThrow(
    'Cannot load config/api.ts: no limits today.',
  )
})

rule('projects.23', 'config/api is read as Strapi reads it: numbers as text, no largest page, no prefix', async () => {
  const sizes = async (rest: string, prefix = '/api') => {
    const { request, log } = await serve({ 'config/api.js': rest })
    const asked = await Promise.all(['', '?pagination[pageSize]=11'].map((query) => request(`${prefix}/stones${query}`)))
    const warned = log.filter((line) => line.includes('config/api.js: rest.')).map((line) => /config\/api\.js: (rest\.\w+)/.exec(line)![1])
    return [...asked.map(({ body }) => body.data.length), warned]
  }
  expect(await sizes("module.exports = { rest: { defaultLimit: '5', maxLimit: '10' } }")).toEqual([5, 10, []])
  expect(await sizes('module.exports = { rest: { defaultLimit: 5, maxLimit: -1 } }')).toEqual([5, 11, ['rest.maxLimit']])
  expect(await sizes("module.exports = { rest: { defaultLimit: -1, maxLimit: null, withCount: 'yes' } }")).toEqual([
    12,
    11,
    ['rest.defaultLimit', 'rest.maxLimit', 'rest.withCount'],
  ])
  const compiled =
    "Object.defineProperty(exports, '__esModule', { value: true })\nexports.default = { rest: { defaultLimit: 4 }, documents: null }"
  expect(await sizes(compiled)).toEqual([4, 11, []])
  expect(await sizes("module.exports = { rest: { prefix: '' } }", '')).toEqual([12, 11, []])
})

rule('pagination.7', 'where pages have no largest size, text in place of a size is 400', async () => {
  const { request } = await serve({ 'config/api.js': 'module.exports = { rest: { maxLimit: -1 } }' })
  for (const [query, word] of [
    ['pageSize]=x', 'Start'],
    ['pageSize]=5&pagination[pageSize]=6', 'Start'],
    ['limit]=x', 'Limit'],
  ]) {
    const { status, body } = await request(`/api/stones?pagination[${query}`)
    expect([status, body.error?.message]).toEqual([400, `convert${word}QueryParams expected a positive integer got NaN`])
  }
  expect((await request('/api/stones?pagination[pageSize]=')).body.meta.pagination.pageSize).toBe(1)
})

rule('projects.23', 'without a prefix, the pages and files of the service stay where they are', async () => {
  const { request } = await serve({ 'config/api.json': { rest: { prefix: '' } } }, { config: { admin: { model: 'always' } } })
  for (const [path, status] of [
    ['/', 200],
    ['/docs', 200],
    ['/openapi.json', 200],
    ['/_health', 204],
    ['/uploads/none.png', 404],
    ['/upload/files', 403],
    ['/api/stones', 404],
    ['/content-type-builder/components', 403],
    ['/admin/api/start', 401],
  ] as const)
    expect([path, (await request(path)).status]).toEqual([path, status])
})

test('octavo.config.ts is read, types and hooks included, where Octavo is not installed', async () => {
  const { request } = await serve({
    'octavo.config.ts': `import { ApiError, defineConfig } from 'octavo'
      import type { BeforeCall } from 'octavo'
      const heaviest: number = 100
      export default defineConfig({
        api: { rest: { defaultLimit: 2 } },
        hooks: [{
          types: ['api::stone.stone'],
          before: ({ data }: BeforeCall) => {
            if (Number(data?.weight) > heaviest) throw new ApiError('ValidationError', 'Too heavy')
          },
        }],
      })`,
  })
  expect((await request('/api/stones')).body.data).toHaveLength(2)
  const create = (weight: number) =>
    request('/api/stones', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data: { weight } }) })
  expect((await create(101)).body.error).toMatchObject({ status: 400, name: 'ValidationError', message: 'Too heavy' })
  expect((await create(99)).status).toBe(201)
})

test('octavo.config.ts finds in octavo what the package exports, but for services', async () => {
  const exported = Object.keys(await import(join(import.meta.dirname, '..', '..', 'dist', 'index.js'))).filter(
    (name) => name !== 'createService' && name !== 'loadConfig',
  )
  expect(exported).toContain('defineHook')
  const { request } = await serve({
    'octavo.config.ts': `import * as octavo from 'octavo'
      const missing = ${JSON.stringify(exported)}.filter((name) => octavo[name] === undefined)
      if (missing.length > 0) throw new Error('octavo lacks ' + missing.join(', '))
      export default octavo.defineConfig({ hooks: [octavo.defineHook({ types: ['api::stone.stone'], after: () => {} })] })`,
  })
  expect((await request('/api/stones')).status).toBe(200)
})
