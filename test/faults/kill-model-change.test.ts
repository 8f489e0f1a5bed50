// kill -9 after the statements of a change of the model (live-model.9): afterwards the former model holds or the new one, with its files, and the
// doctor finds nothing.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { isThorough } from '../support/thorough.js'
import { copyGolden, remove } from './child.js'
import { end, type Faulty, startFaulty } from './faulty.js'
import { findings } from './sound.js'

const token = goldenTokens().full!

let folder: string
let orders: string
let service: Faulty | null = null

beforeAll(async () => {
  folder = await copyGolden({ admin: { model: 'always' } })
  orders = join(folder, 'faults')
  mkdirSync(orders)
})

afterAll(async () => {
  if (service !== null) await end(service)
  await remove(folder)
})

/** Sends a change that is killed at its n-th statement; the status, or null if the process ended. */
async function killed(n: number, data: object): Promise<number | null> {
  service ??= await startFaulty(folder, orders)
  rmSync(join(orders, 'done'), { force: true })
  writeFileSync(join(orders, 'order'), JSON.stringify({ n }))
  try {
    const { status } = await service.request('/api/content-type-builder/schemas', {
      method: 'PUT',
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    })
    return status
  } catch {
    await service.child.ended
    service = null
    return null
  } finally {
    rmSync(join(orders, 'order'), { force: true })
  }
}

const schemas = (name: string, displayName = name) => ({
  [`kill.${name}`]: { info: { displayName: `Part ${name}` }, attributes: { text: { type: 'string' } } },
  [`api::${name}.${name}`]: {
    kind: 'collectionType',
    info: { singularName: name, pluralName: `${name}-all`, displayName },
    attributes: {
      text: { type: 'string' },
      part: { type: 'component', component: `kill.${name}` },
      tags: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' },
    },
  },
})

const fileOf = (name: string): string => join(folder, 'src', 'api', name, 'content-types', name, 'schema.json')

test('a change that makes tables is done or was never begun', async () => {
  let ends = 0
  for (let n = 1; ; n++) {
    const name = `made-${n}`
    const status = await killed(n, schemas(name))
    if (status === null) ends++
    service ??= await startFaulty(folder, orders)
    const found = await service.request(`/api/${name}-all?populate=*`, { token })
    expect(found.status).toBe(existsSync(fileOf(name)) ? 200 : 404)
    if (status === null) continue
    expect([status, found.status]).toEqual([200, 200])
    break
  }
  expect(ends).toBeGreaterThan(5)
  expect(await findings(folder)).toEqual([])
})

test('the row of a change makes it', async () => {
  expect(await killed(1_000, schemas('named'))).toBe(200)
  let ends = 0
  for (let n = 1; ; n++) {
    const status = await killed(n, schemas('named', `Name ${n}`))
    if (status === null) ends++
    service ??= await startFaulty(folder, orders)
    const { body } = await service.request('/api/content-type-builder/content-types/api::named.named', { token })
    if (status === null) continue
    expect([status, body.data.schema.displayName]).toEqual([200, `Name ${n}`])
    break
  }
  expect(ends).toBeGreaterThan(1)
  expect(await findings(folder)).toEqual([])
})

/** Statements between two kills; FAULTS=all kills after each. */
const every = isThorough ? 1 : 4

test('a change that moves and converts content is done or was never begun', async () => {
  service ??= await startFaulty(folder, orders)
  const form = (attributes: object, draftAndPublish: boolean, plural: string) => ({
    'api::moved.moved': {
      kind: 'collectionType',
      collectionName: plural,
      info: { singularName: 'moved', pluralName: 'moved-all', displayName: 'Moved' },
      options: { draftAndPublish },
      attributes,
    },
  })
  const one = form({ size: { type: 'string' }, part: { type: 'component', component: 'kill.named' } }, false, 'moved_once')
  const other = form({ size: { type: 'integer' }, part: { type: 'component', component: 'kill.named' } }, true, 'moved_twice')
  expect(await killed(1_000_000, one)).toBe(200)
  const data = { size: '12', part: { text: 'kept' } }
  const created = await service.request('/api/moved-all', {
    ...{ method: 'POST', token, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ data }),
  })
  expect(created.status, created.text).toBe(201)
  let ends = 0
  for (let n = 1; ; n += every) {
    const status = await killed(n, other)
    if (status === null) ends++
    service ??= await startFaulty(folder, orders)
    const isMade = readFileSync(fileOf('moved'), 'utf8').includes('moved_twice')
    const found = await service.request('/api/moved-all?populate=*&status=draft', { token })
    expect(found.status, found.text).toBe(200)
    expect(found.body.data).toMatchObject([{ size: isMade ? 12 : '12', part: { text: 'kept' } }])
    if (isMade) break
  }
  expect(ends).toBeGreaterThan(20 / every)
  expect(await findings(folder)).toEqual([])
})
