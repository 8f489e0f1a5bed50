// kill -9 after the statements of writes that share a commit (R01, R02, R03): each is whole or not there, none is there
// that was not begun, and all that was acknowledged is. FAULTS=all takes every statement.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { isThorough } from '../support/thorough.js'
import { copyGolden, remove } from './child.js'
import type { Faulty } from './faulty.js'
import { end, startFaulty } from './faulty.js'
import { send } from './operations.js'
import { findings } from './sound.js'

const token = goldenTokens().full!
/** Documents that are created at once, and the runs that are killed at some statement unless FAULTS=all. */
const [together, some] = [8, 10]
/** Statements of one commit that several of them must share. */
const ofSeveral = 60

let folder: string
let orders: string
let service: Faulty
let tags: readonly string[]

beforeAll(async () => {
  folder = await copyGolden()
  orders = join(folder, 'faults')
  mkdirSync(orders)
  service = await startFaulty(folder, orders)
  const { body } = await service.request('/api/tags?sort=id&pagination[pageSize]=2', { token })
  tags = body.data.map(({ documentId }: { documentId: string }) => documentId)
})
afterAll(async () => {
  await end(service)
  await remove(folder)
})

/** Creates several articles at once; the names of those that were acknowledged. */
async function createTogether(run: string): Promise<readonly string[]> {
  const names = Array.from({ length: together }, (_, index) => `${run}, article ${index}`)
  const create = async (title: string) => {
    const sections = [{ heading: 'One' }, { heading: 'Two', links: [{ label: 'Home', url: '/' }] }]
    const { status, text } = await send(service.request, 'POST', '/api/articles', { title, tags, sections, seo: { metaTitle: title } })
    expect(status, text).toBe(201)
    return title
  }
  const settled = await Promise.allSettled(names.map(create))
  for (const one of settled) if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(TypeError)
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

/** The articles of a run in a state, by name: what each has. */
async function madeBy(run: string, status: 'draft' | 'published'): Promise<Readonly<Record<string, unknown>>> {
  const populate = 'populate[tags][fields]=name&populate[seo]=true&populate[sections][populate]=*'
  const path = `/api/articles?filters[title][$startsWith]=${encodeURIComponent(`${run},`)}&status=${status}&${populate}&pagination[pageSize]=100`
  const { body } = await service.request(path, { token })
  return Object.fromEntries(
    body.data.map(({ title, tags, seo, sections }: Record<string, never>) => [title, { tags, seo, sections }]).map(bare),
  )
}

/** Without ids, which differ between versions. */
const bare = (value: unknown): never => JSON.parse(JSON.stringify(value), (key, one) => (key === 'id' ? undefined : one)) as never

const whole = (title: string) => ({
  tags: [expect.objectContaining({ documentId: tags[0] }), expect.objectContaining({ documentId: tags[1] })],
  seo: expect.objectContaining({ metaTitle: title }),
  sections: [
    expect.objectContaining({ heading: 'One', links: [] }),
    expect.objectContaining({ heading: 'Two', links: [expect.objectContaining({ label: 'Home', url: '/' })] }),
  ],
})

test('writes that share a commit, killed after each statement, are whole or not there, and none that was acknowledged is lost', async () => {
  const counted = async (run: string): Promise<number> => {
    writeFileSync(join(orders, 'order'), JSON.stringify({ n: 1_000_000 }))
    expect(await createTogether(run)).toHaveLength(together)
    return Number(readFileSync(join(orders, 'counted'), 'utf8'))
  }
  let statements = 0
  // The number of writes that share a commit depends on timing.
  for (let attempt = 1; attempt < 100 && statements < ofSeveral; attempt++) statements = await counted(`counted ${attempt}`)
  expect(statements, 'statements of several writes in one commit').toBeGreaterThanOrEqual(ofSeveral)

  const step = isThorough ? 1 : Math.floor(statements / some)
  const killedAt: string[] = []
  for (let n = 1; n <= statements; n += step) {
    const run = `killed after ${n}`
    rmSync(join(orders, 'done'), { force: true })
    writeFileSync(join(orders, 'order'), JSON.stringify({ n }))
    const acknowledged = await createTogether(run)
    // Fewer may have shared it than when it was counted.
    const ended = await Promise.race([service.child.ended, new Promise<null>((resolve) => setTimeout(resolve, 100, null))])
    if (ended === null) {
      expect(acknowledged).toHaveLength(together)
      rmSync(join(orders, 'order'), { force: true })
    } else {
      expect(ended.signal).toBe('SIGKILL')
      killedAt.push(readFileSync(join(orders, 'done'), 'utf8'))
      service = await startFaulty(folder, orders)
    }
    const [drafts, published] = [await madeBy(run, 'draft'), await madeBy(run, 'published')]
    expect(Object.keys(published).sort(), run).toEqual(Object.keys(drafts).sort())
    for (const [title, has] of [...Object.entries(drafts), ...Object.entries(published)])
      expect(has, `${run}: ${title}`).toEqual(whole(title))
    for (const title of acknowledged) expect(Object.keys(published), `${run}: acknowledged`).toContain(title)
    expect(await findings(folder), run).toEqual([])
  }
  expect(killedAt.length).toBeGreaterThan(2)
})
