// One act on many documents: carried out at once, or as a job that goes on behind the response, survives restarts and can be canceled.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { start } from '../faults/child.js'
import { askAdmin, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Answer, type Served, serveBeside } from '../support/serve.js'
import { secrets } from './callers.js'
import { type Desk, front, giveRights, officeRoles, openDesk, serveOffice, story, writer } from './editorial-office.js'

let served: Served
let ada: Desk
const desks: Record<string, Desk> = {}
/** Low bounds, so that a few documents are many. */
const limits = { authRateLimit: 1_000, bulkAtOnce: 5, bulkDocuments: 200, jobErrors: 3, jobs: 2 }

beforeAll(async () => {
  served = await serveOffice({ config: { limits } })
  ada = await openDesk(served, 'ada@office.example')
  for (const [code, rows] of Object.entries(officeRoles)) {
    await giveRights(served, code, rows)
    desks[code] = await openDesk(served, `${code}@office.example`, [code])
  }
})
afterAll(() => served?.close())

async function ok(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

const create = async (data: object, desk: Desk = ada): Promise<string> => {
  const id: string = (await ok(ada.send('POST', `/content/${story}`, { data }))).body.data.documentId
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', desk.id, id)
  return id
}
/** So many stories that a filter on `summary` finds. */
async function stories(count: number, summary: string, desk: Desk = ada): Promise<readonly string[]> {
  const ids: string[] = []
  for (let index = 0; index < count; index++) ids.push(await create({ title: `${summary} ${index}`, summary }, desk))
  return ids
}
const inGerman = async (id: string) =>
  ok(ada.send('PATCH', `/content/${story}/${id}?locale=de`, { changes: { title: 'Deutsch' } }, { 'if-none-match': '*' }))
const bulk = (desk: Desk, action: string, body: object, headers?: Record<string, string>) =>
  desk.send('POST', '/bulk', { action, type: story, ...body }, headers)
const stateOf = async (id: string, locale = 'en') => (await ada.get(`/content/${story}/${id}?locale=${locale}`)).body.data?.state ?? null
const statusesOf = ({ body }: Answer) => body.data.results.map(({ error }: { error: { status: number } | null }) => error?.status ?? 200)
const published = async (summary: string) =>
  (await ok(ada.get(`/content/${story}/total?status=published&filters[summary]=${summary}`))).body.data.total as number

/** Waits until a job has ended, or `until` holds. */
async function ended(desk: Desk, id: number, until: (job: Answer['body']) => boolean = ({ endedAt }) => endedAt !== null) {
  for (let tries = 0; tries < 600; tries++) {
    const { data } = (await ok(desk.get(`/jobs/${id}`))).body
    if (until(data)) return data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Job ${id} did not end`)
}

rule('administration-bulk.1', 'an act on documents by their ids reports what each came to, and the others go on', async () => {
  const [one, two] = await stories(2, 'named')
  const bad = await create({ title: null, summary: 'named' })
  const documents = [one!, bad, 'aaaaaaaaaaaaaaaaaaaaaaaa', two!, one!]
  const { body } = await ok(bulk(ada, 'publish', { documents }))
  expect(body.data.job).toBe(null)
  expect(body.data.results).toMatchObject([
    { documentId: one, error: null },
    { documentId: bad, error: { status: 400, name: 'ValidationError', errors: [{ path: ['title'] }] } },
    { documentId: 'aaaaaaaaaaaaaaaaaaaaaaaa', error: { status: 404 } },
    { documentId: two, error: null },
  ])
  expect([await stateOf(one!), await stateOf(bad), await stateOf(two!)]).toEqual(['published', 'draft', 'published'])
  const tag = (await ada.get(`/content/${story}/${one}`)).headers.get('etag') ?? ''
  await ok(ada.send('PATCH', `/content/${story}/${one}`, { changes: { title: 'Other' } }, { 'if-match': tag }))
  expect(await stateOf(one!)).toBe('changed')
  expect(statusesOf(await ok(bulk(ada, 'discard', { documents: [one] })))).toEqual([200])
  expect((await ada.get(`/content/${story}/${one}`)).body.data.draft.title).toBe('named 0')
  expect(statusesOf(await ok(bulk(ada, 'unpublish', { documents: [one, two] })))).toEqual([200, 200])
  expect([await stateOf(one!), await stateOf(two!)]).toEqual(['draft', 'draft'])
  expect(statusesOf(await ok(bulk(ada, 'delete', { documents: [one, two] })))).toEqual([200, 200])
  expect(await stateOf(one!)).toBe(null)
})

rule('administration-bulk.1', 'each act is in the log of activity, and is that of its administrator', async () => {
  const ids = await stories(2, 'logged')
  await ok(bulk(desks.editor!, 'publish', { documents: ids }))
  for (const id of ids) {
    const { body } = await ada.get(`/activity?subject=${story}&subjectId=${id}&limit=1`)
    expect(body.data[0]).toMatchObject({ action: 'publish', administrator: { id: desks.editor!.id } })
  }
})

rule('administration-bulk.2', 'a list chooses documents by the parameters of lists', async () => {
  const ids = await stories(3, 'listed')
  await inGerman(ids[1]!)
  await served.sql('UPDATE stories SET score = 7 WHERE document_id = ?', ids[2]!)
  const chosen = async (where: object, more: object = {}) =>
    (await ok(bulk(ada, 'unpublish', { where, ...more }))).body.data.results.map(({ documentId }: { documentId: string }) => documentId)
  expect(await chosen({ filters: { summary: 'listed' } })).toEqual(ids)
  expect(await chosen({ filters: { summary: 'listed', score: { $gt: 5 } } })).toEqual([ids[2]])
  expect(await chosen({ filters: { $and: [{ summary: 'listed' }, { score: { $null: true } }] } })).toEqual([ids[0], ids[1]])
  expect(await chosen({ q: 'listed 1' })).toEqual([ids[1]])
  expect(await chosen({ locale: 'de', filters: { title: 'Deutsch', documentId: { $in: ids } } })).toEqual([ids[1]])
  expect(await chosen({ locale: '*', filters: { documentId: ids[1] } })).toEqual([ids[1]])
  expect(await chosen({ status: 'published', filters: { summary: 'listed' } })).toEqual([])
  await ok(bulk(ada, 'publish', { documents: [ids[0]] }))
  expect(await chosen({ hasPublishedVersion: true, filters: { summary: 'listed' } })).toEqual([ids[0]])
  const refusals: readonly (readonly [object, number])[] = [
    [{ where: { filters: { nothing: 'x' } } }, 400],
    [{ where: { filters: { summary: null } } }, 400],
    [{ where: { fields: ['title'] } }, 400],
    [{}, 400],
    [{ documents: ids, where: {} }, 400],
    [{ documents: [] }, 400],
    [{ documents: ids, type: 'api::nothing.nothing' }, 404],
    [{ documents: ids, type: writer }, 400],
    [{ documents: ids, more: true }, 400],
  ]
  for (const [body, status] of refusals) expect([body, (await bulk(ada, 'publish', body)).status]).toEqual([body, status])
})

rule('administration-bulk.3', 'an act is done in the locales that are named, as far as a document has them', async () => {
  const [both, english] = await stories(2, 'tongues')
  await inGerman(both!)
  const several = await ok(bulk(ada, 'publish', { documents: [both, english], locale: 'en,de' }))
  expect(statusesOf(several)).toEqual([200, 200])
  expect([await stateOf(both!), await stateOf(both!, 'de'), await stateOf(english!)]).toEqual(['published', 'published', 'published'])
  expect(statusesOf(await ok(bulk(ada, 'unpublish', { documents: [both, english], locale: 'de' })))).toEqual([200, 404])
  expect([await stateOf(both!), await stateOf(both!, 'de')]).toEqual(['published', 'draft'])
  // Without another word, that of the list.
  await ok(bulk(ada, 'publish', { where: { locale: 'de', filters: { documentId: both } } }))
  expect(await stateOf(both!, 'de')).toBe('published')
  await ok(bulk(ada, 'delete', { documents: [both], locale: '*' }))
  expect(await stateOf(both!, 'de')).toBe(null)
})

describe('rights', () => {
  // What publishing, unpublishing and deleting come to, for a story of somebody else and for one's own.
  const table: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
    editor: [
      [200, 200],
      [200, 200],
      [200, 200],
    ],
    author: [
      [404, 200],
      [404, 200],
      [404, 200],
    ],
    colleague: [
      [404, 200],
      [404, 200],
      [404, 200],
    ],
    fields: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    german: [
      [404, 404],
      [404, 404],
      [404, 404],
    ],
    reader: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    blind: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    unknown: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
    none: [
      [403, 403],
      [403, 403],
      [403, 403],
    ],
  }
  for (const [code, expected] of Object.entries(table))
    rule('administration-bulk.4', `each document is decided by the rights of ${code}`, async () => {
      const desk = desks[code]!
      const results = []
      for (const action of ['publish', 'unpublish', 'delete']) {
        const documents = [await create({ title: 'Other' }), await create({ title: 'Own' }, desk)]
        const answer = await bulk(desk, action, { documents })
        results.push(answer.status === 200 ? statusesOf(answer) : [answer.status, answer.status])
      }
      expect(results).toEqual(expected)
    })

  rule('administration-bulk.4', 'a list has only what may be seen, and rights to one type or locale are none to others', async () => {
    const others = await stories(2, 'seen')
    const own = await stories(1, 'seen', desks.author!)
    const { body } = await ok(bulk(desks.author!, 'publish', { where: { filters: { summary: 'seen' } } }))
    expect(body.data.results).toEqual([{ documentId: own[0], error: null }])
    expect(await stateOf(others[0]!)).toBe('draft')
    // What may not be seen is no filter.
    expect((await bulk(desks.fields!, 'publish', { where: { filters: { secret: 'x' } } })).status).toBe(403)
    await giveRights(served, 'publisher', [
      { action: 'read', subject: story, properties: { fields: ['title'], locales: null } },
      { action: 'publish', subject: story },
    ])
    const publisher = await openDesk(served, 'publisher@office.example', ['publisher'])
    expect((await bulk(publisher, 'publish', { where: { filters: { summary: 'seen' } } })).status).toBe(400)
    expect((await bulk(desks.editor!, 'delete', { type: writer, documents: ['aaaaaaaaaaaaaaaaaaaaaaaa'] })).status).toBe(403)
    expect((await bulk(desks.editor!, 'delete', { type: front, documents: ['aaaaaaaaaaaaaaaaaaaaaaaa'] })).status).toBe(403)
    const id = await create({ title: 'English' })
    await inGerman(id)
    expect(statusesOf(await ok(bulk(desks.german!, 'publish', { documents: [id], locale: 'de' })))).toEqual([200])
    expect(statusesOf(await ok(bulk(desks.german!, 'publish', { documents: [id], locale: 'en,de' })))).toEqual([200])
    expect([await stateOf(id), await stateOf(id, 'de')]).toEqual(['draft', 'published'])
    expect(statusesOf(await ok(bulk(desks.german!, 'publish', { documents: [id], locale: '*' })))).toEqual([403])
    expect(await stateOf(id)).toBe('draft')
  })
})

rule('administration-bulk.5', 'deleting asks for the password again', async () => {
  const ids = await stories(1, 'guarded')
  const old = await openDesk(served, 'old@office.example')
  const past = new Date(Date.now() - 3_600_000).toISOString()
  await served.sql('UPDATE strapi_sessions SET metadata = ? WHERE user_id = ?', JSON.stringify({ passwordAt: past }), String(old.id))
  const refused = await bulk(old, 'delete', { documents: ids })
  expect([refused.status, refused.body.error.details]).toEqual([403, { reason: 'password' }])
  expect((await bulk(old, 'publish', { documents: ids })).status).toBe(200)
  expect(await stateOf(ids[0]!)).toBe('published')
})

rule('administration-bulk.6', 'more documents than are done at once are a job, which tells how far it is', async () => {
  const ids = await stories(8, 'many')
  for (const id of ids.slice(0, 5)) await served.sql('UPDATE stories SET title = NULL WHERE document_id = ?', id)
  const made = await ok(bulk(desks.editor!, 'publish', { where: { filters: { summary: 'many' } } }))
  expect([made.status, made.body.data]).toMatchObject([
    202,
    { results: null, job: { action: 'publish', type: story, state: 'waiting', total: 8, done: 0, failed: 0, errors: [], endedAt: null } },
  ])
  const job = await ended(desks.editor!, made.body.data.job.id)
  expect(job).toMatchObject({ state: 'done', total: 8, done: 3, failed: 5 })
  // As many errors as are kept.
  expect(job.errors.map(({ documentId }: { documentId: string }) => documentId)).toEqual(ids.slice(0, 3))
  expect(job.errors[0].error).toMatchObject({ status: 400, errors: [{ path: ['title'] }] })
  expect(await published('many')).toBe(3)
  const { body } = await ada.get(`/activity?subject=${story}&subjectId=${ids[7]}&limit=1`)
  expect(body.data[0]).toMatchObject({ action: 'publish', administrator: { id: desks.editor!.id } })
  expect((await bulk(ada, 'publish', { documents: Array.from({ length: 201 }, (_, index) => `document-${index}`) })).status).toBe(400)
})

rule('administration-bulk.7', 'a job is its maker’s and super administrators’', async () => {
  const ids = await stories(6, 'private')
  const { id } = (await ok(bulk(desks.editor!, 'publish', { documents: ids }))).body.data.job
  await ended(desks.editor!, id)
  const seen = async (desk: Desk) => [(await desk.get(`/jobs/${id}`)).status, (await desk.send('DELETE', `/jobs/${id}`)).status]
  expect([await seen(ada), await seen(desks.editor!), await seen(desks.author!), await seen(desks.none!)]).toEqual([
    [200, 200],
    [200, 200],
    [404, 404],
    [404, 404],
  ])
  // One that has ended stays as it is.
  expect((await ada.send('DELETE', `/jobs/${id}`)).body.data.state).toBe('done')
  expect((await ada.get('/jobs/999999')).status).toBe(404)
})

rule('administration-bulk.8', 'the documents of a list must match it still when their turn comes', async () => {
  const ids = await stories(40, 'moving')
  const lease = await holdJobs()
  const { id } = (await ok(bulk(ada, 'publish', { where: { filters: { summary: 'moving' } } }))).body.data.job
  await served.sql("UPDATE stories SET summary = 'gone' WHERE document_id = ?", ids[30]!)
  await lease()
  expect(await ended(ada, id)).toMatchObject({ done: 39, failed: 1, errors: [{ documentId: ids[30], error: { status: 409 } }] })
  expect(await stateOf(ids[30]!)).toBe('draft')
})

/** Keeps every process from carrying out jobs, as one that is alive does, until the result is called. */
async function holdJobs(): Promise<() => Promise<unknown>> {
  const owner = 'another-machine 1 held'
  const held = async () => {
    await served.sql("UPDATE octavo_leases SET owner = ?, beat = beat + 1 WHERE name = 'administration jobs' AND owner IS NULL", owner)
    return (await served.sql("SELECT owner FROM octavo_leases WHERE name = 'administration jobs'"))[0]?.owner === owner
  }
  while (!(await held())) await new Promise((resolve) => setTimeout(resolve, 20))
  return () => served.sql("UPDATE octavo_leases SET owner = NULL, beat = beat + 1 WHERE name = 'administration jobs' AND owner = ?", owner)
}

rule('administration-bulk.9', 'rights are asked anew: a role that changed meanwhile, and an account that is blocked, hold', async () => {
  await giveRights(served, 'temporary', officeRoles.editor!)
  const temporary = await openDesk(served, 'temporary@office.example', ['temporary'])
  await stories(6, 'revoked')
  let lease = await holdJobs()
  const { id } = (await ok(bulk(temporary, 'publish', { where: { filters: { summary: 'revoked' } } }))).body.data.job
  await served.sql(
    `DELETE FROM admin_permissions WHERE action = ? AND id IN (SELECT l.permission_id FROM admin_permissions_role_lnk l
      JOIN admin_roles r ON r.id = l.role_id WHERE r.code = 'temporary')`,
    'plugin::content-manager.explorer.publish',
  )
  await lease()
  expect(await ended(ada, id)).toMatchObject({ state: 'done', done: 0, failed: 6, errors: [{ error: { status: 403 } }, {}, {}] })
  expect(await published('revoked')).toBe(0)
  await giveRights(served, 'temporary', [{ action: 'publish', subject: story }])
  lease = await holdJobs()
  const other = (await ok(bulk(temporary, 'publish', { where: { filters: { summary: 'revoked' } } }))).body.data.job.id
  await served.sql('UPDATE admin_users SET blocked = ? WHERE id = ?', 1, temporary.id)
  await lease()
  expect(await ended(ada, other)).toMatchObject({ state: 'canceled', done: 0, failed: 0 })
  expect(await published('revoked')).toBe(0)
})

rule('administration-bulk.10', 'a job that is canceled does nothing more, and what it has done stays', async () => {
  await stories(120, 'canceled')
  const { id } = (await ok(bulk(ada, 'publish', { where: { filters: { summary: 'canceled' } } }))).body.data.job
  await ended(ada, id, ({ done }) => done > 0)
  const canceled = (await ok(ada.send('DELETE', `/jobs/${id}`))).body.data
  expect(canceled).toMatchObject({ state: 'canceled' })
  expect(canceled.done).toBeLessThan(120)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(await published('canceled')).toBe(canceled.done)
  expect((await ok(ada.get(`/jobs/${id}`))).body.data).toEqual(canceled)
  // Canceled once, it stays as it is.
  await ok(ada.send('DELETE', `/jobs/${id}`))
  const log = (await ok(ada.get(`/activity?subject=job&subjectId=${id}`))).body.data
  expect(log.map(({ action, administrator, name }: Record<string, unknown>) => [action, administrator, name])).toEqual(
    ['cancel', 'create'].map((action) => [action, expect.objectContaining({ id: ada.id }), `publish 120 documents of ${story}`]),
  )
})

rule('administration-bulk.6', 'a job counts what has nothing to do as done', async () => {
  const made = await stories(8, 'never published')
  const { id } = (await ok(bulk(ada, 'unpublish', { where: { filters: { summary: 'never published' } } }))).body.data.job
  expect(await ended(ada, id)).toMatchObject({ state: 'done', done: 8, failed: 0 })
  const log = (await ok(ada.get('/activity?limit=200'))).body.data as { subjectId: string; action: string }[]
  const acts = log.filter(({ subjectId, action }) => action === 'unpublish' && made.includes(subjectId))
  expect(acts).toEqual([])
})

rule('administration-bulk.11', 'jobs wait in turn, up to a number', async () => {
  await stories(6, 'queued')
  const lease = await holdJobs()
  const where = { filters: { summary: 'queued' } }
  const one = (await ok(bulk(ada, 'publish', { where }))).body.data.job.id
  const two = (await ok(bulk(ada, 'publish', { where }))).body.data.job.id
  const refused = await bulk(ada, 'publish', { where })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  await ok(ada.send('DELETE', `/jobs/${one}`))
  const three = (await ok(bulk(ada, 'unpublish', { where }))).body.data.job.id
  await lease()
  expect([(await ended(ada, one)).state, (await ended(ada, two)).state, (await ended(ada, three)).state]).toEqual([
    'canceled',
    'done',
    'done',
  ])
  expect(await published('queued')).toBe(0)
})

rule('administration-bulk.12', 'with an Idempotency-Key that was used before, nothing is done again', async () => {
  const ids = await stories(3, 'repeated')
  const key = { 'idempotency-key': 'bulk-1' }
  const first = await ok(bulk(ada, 'delete', { documents: ids }, key))
  const again = await ok(bulk(ada, 'delete', { documents: ids }, key))
  expect([statusesOf(first), again.body]).toEqual([[200, 200, 200], first.body])
  expect((await bulk(ada, 'delete', { documents: ids.slice(1) }, key)).status).toBe(422)
  // The same key of somebody else is another one.
  expect(statusesOf(await ok(bulk(desks.editor!, 'delete', { documents: ids }, key)))).toEqual([404, 404, 404])
  await stories(6, 'twice')
  const many = { where: { filters: { summary: 'twice' } } }
  const job = await ok(bulk(ada, 'publish', many, { 'idempotency-key': 'bulk-2' }))
  const same = await ok(bulk(ada, 'publish', many, { 'idempotency-key': 'bulk-2' }))
  expect([same.status, same.body]).toEqual([202, job.body])
  expect(await served.sql("SELECT id FROM octavo_jobs WHERE request LIKE '%twice%'")).toHaveLength(1)
  await ended(ada, job.body.data.job.id)
})

describe('the end of a process', () => {
  /** Has 60 stories published by a job of another process; resolves when some of them are. */
  async function begun(origin: string, summary: string): Promise<{ readonly id: number; readonly ids: readonly string[] }> {
    const ids = await stories(60, summary)
    const other = { ...served, ...askingAt(origin) }
    const { accessToken: token } = await signInAdmin(other, 'ada@office.example')
    const body = { action: 'publish', type: story, where: { filters: { summary } } }
    const { id } = (await ok(askAdmin(other, '/bulk', { method: 'POST', token, body }))).body.data.job
    while ((await progress(id)).done < 5) await new Promise((resolve) => setTimeout(resolve, 5))
    return { id, ids }
  }

  async function progress(id: number): Promise<{ readonly done: number; readonly state: string }> {
    const [row] = await served.sql('SELECT done, state FROM octavo_jobs WHERE id = ?', id)
    return { done: Number(row!.done), state: String(row!.state) }
  }

  /** How often each of the documents was published. */
  const acts = async (ids: readonly string[]) =>
    (
      await served.sql(
        `SELECT subject_id, count(*) AS acts FROM octavo_activity WHERE action = 'publish' AND subject = ?
          AND subject_id IN (${ids.map(() => '?').join(', ')}) GROUP BY subject_id`,
        ...[story, ...ids],
      )
    ).map((row) => Number(row.acts))

  rule('administration-bulk.13', 'a stop leaves a job to the next start, which goes on behind what is done', async () => {
    const beside = await serveBeside(served, secrets)
    const { id, ids } = await begun(beside.origin, 'stopped')
    await beside.close()
    const left = await progress(id)
    expect(left.state).toBe('running')
    expect(left.done).toBeLessThan(60)
    expect(await published('stopped')).toBe(left.done)
    const next = await serveBeside(served, secrets)
    try {
      await expect.poll(async () => (await progress(id)).state, { timeout: 30_000 }).toBe('done')
    } finally {
      await next.close()
    }
    expect((await ok(ada.get(`/jobs/${id}`))).body.data).toMatchObject({ total: 60, done: 60, failed: 0 })
    expect(await acts(ids)).toEqual(ids.map(() => 1))
  })

  rule('administration-bulk.13', 'another process goes on where one was killed, and nothing is done twice', async () => {
    const child = start(served.folder, { ...served.sameDatabase, ...secrets })
    const { id, ids } = await begun(await child.origin, 'killed')
    child.signal('SIGKILL')
    await child.ended
    const left = await progress(id)
    expect([left.state, left.done < 60, left.done === (await published('killed'))]).toEqual(['running', true, true])
    expect(await ended(ada, id)).toMatchObject({ state: 'done', total: 60, done: 60, failed: 0 })
    expect(await acts(ids)).toEqual(ids.map(() => 1))
  })
})

/** Asks another process. */
const askingAt = (origin: string): Pick<Served, 'origin' | 'ask'> => ({
  origin,
  ask: async (path, { token, ...asked } = {}) => {
    const headers = { ...asked.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    const answer = await fetch(origin + path, { ...asked, headers })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, body: text === '' ? null : JSON.parse(text) }
  },
})
