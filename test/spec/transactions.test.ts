// Transactions and bulk writes of scripts and hooks: all or nothing, in order, and with every rule of a single write.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type Grants, grantsOf } from '../../src/foundation/grants.js'
import type { Data, Document } from '../../src/foundation/public/documents.js'
import type { AfterCall, BeforeCall } from '../../src/foundation/public/hooks.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { patience } from '../support/until.js'

const [article, author, tag, city, category] = [
  'api::article.article',
  'api::author.author',
  'api::tag.tag',
  'api::city.city',
  'api::category.category',
] as const

let served: Served
let before: (call: BeforeCall) => unknown = () => {}
let after: (call: AfterCall) => unknown = () => {}
beforeAll(async () => {
  served = await serveGolden({
    code: {
      hooks: [{ before: (call) => before(call), after: (call) => after(call) }],
      // Events are recorded for a listener.
      listeners: [function nobody() {}],
    },
  })
})
afterAll(() => served.close())
beforeEach(() => {
  before = () => {}
  after = () => {}
})

const events = async (): Promise<readonly string[]> => {
  const recorded = await served.service.events.after(last, 1_000)
  last = recorded.at(-1)?.sequence ?? last
  return recorded.map((event) => `${event.event} ${'model' in event ? event.model : ''}`)
}
let last = 0
const named = (name: string) => ({ filters: { name } })
const failure = (work: Promise<unknown>): Promise<{ name: string; status: number; message: string; details: Record<string, unknown> }> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error) => error,
  )

rule('transactions.1', 'writes to several types are done in order, all or none', async () => {
  const { documents, transaction } = served.service
  await events()
  const written = await transaction((write) => {
    const ann = write(author).create({ data: { name: 'Ann of transactions' } })
    const changed = write(author).update({ documentId: ann.documentId, data: { bio: 'Changed at once' } })
    return { ann, list: [changed, write(city).create({ data: { name: 'Ulm' }, fields: ['name'] })], note: 'mine', none: null }
  })
  expect(written.note).toBe('mine')
  expect(written.none).toBeNull()
  expect(written.ann).toMatchObject({ name: 'Ann of transactions', bio: null })
  const [changed, ulm] = written.list
  expect(changed).toMatchObject({ documentId: written.ann.documentId, bio: 'Changed at once' })
  expect(Object.keys(ulm as Document).sort()).toEqual(['documentId', 'id', 'name'])
  expect(await events()).toEqual(['entry.create author', 'entry.update author', 'entry.create city'])

  const counts = () => Promise.all([author, city, tag].map((uid) => documents(uid).count()))
  const former = await counts()
  after = () => {
    throw new Error('no after-hook may be called')
  }
  const since = served.log.length
  const error = await failure(
    transaction((write) => {
      write(author).create({ data: { name: 'Bob' } })
      write(city).delete({ documentId: (ulm as Document).documentId })
      write(tag).create({ data: {}, status: 'published' })
    }),
  )
  expect([error.name, error.status]).toEqual(['ValidationError', 400])
  expect(await counts()).toEqual(former)
  expect(await events()).toEqual([])
  expect(served.log.slice(since).join('')).not.toContain('no after-hook')
  expect(await transaction(() => 'nothing to do')).toBe('nothing to do')
})

rule('transactions.2', 'a create has its documentId at once, for relations and for writes to it', async () => {
  const { documents, transaction } = served.service
  const { story, published } = await transaction((write) => {
    const writer = write(author).create({ data: { name: 'Named in advance' } })
    const [one, two] = ['First tag', 'Second tag'].map((name) => write(tag).create({ data: { name }, status: 'published' }))
    const data = { title: 'Of one piece', author: writer.documentId, tags: [one!.documentId, { documentId: two!.documentId }] }
    const made = write(article).create({ data, populate: ['author', 'tags'] })
    return { story: made, published: write(article).publish({ documentId: made.documentId, populate: ['author', 'tags'] }) }
  })
  const whole = { author: { name: 'Named in advance' }, tags: [{ name: 'First tag' }, { name: 'Second tag' }] }
  expect(story).toMatchObject(whole)
  expect(published).toMatchObject({ documentId: story.documentId, entries: [whole] })
  expect(await documents(article).findOne({ documentId: story.documentId, status: 'published', populate: '*' })).toMatchObject(whole)
  const answer = await served.request(`/api/articles/${story.documentId}`)
  expect([200, 403]).toContain(answer.status)
})

rule('transactions.3', 'hooks run before and after the transaction, never in it', async () => {
  const { documents, transaction } = served.service
  const calls: string[] = []
  before = async ({ data, uid, documents: own }) => {
    const name = String(data?.name)
    calls.push(`before ${name}`)
    expect(await own(uid).count({ filters: { name: { $startsWith: 'Hooked' } } })).toBe(0)
    if (name === 'Hooked 1') data!.name = 'Hooked and changed'
  }
  after = async ({ uid, entries, documents: own }) => {
    calls.push(`after ${entries[0]!.name}`)
    expect(await own(uid).count({ filters: { name: { $startsWith: 'Hooked' } } })).toBe(2)
  }
  const [one] = await transaction((write) => [0, 1].map((n) => write(city).create({ data: { name: `Hooked ${n}` } })))
  expect(one).toMatchObject({ name: 'Hooked 0' })
  expect(calls).toEqual(['before Hooked 0', 'before Hooked 1', 'after Hooked 0', 'after Hooked and changed'])
  // A transaction of a hook is a separate one.
  before = async (call) => {
    if (call.data?.name !== 'From a request') return
    const [first] = await call.transaction((write) => [write(city).create({ data: { name: 'By a hook' } })])
    expect(first!.name).toBe('By a hook')
  }
  after = () => {}
  await documents(city).create({ data: { name: 'From a request' } })
  expect(await documents(city).count(named('By a hook'))).toBe(1)
  before = () => {
    throw Object.assign(new Error('Not this one'), { name: 'ForbiddenError', details: { reason: 'a rule' } })
  }
  const refused = await failure(transaction((write) => [write(city).create({ data: { name: 'Refused' } })]))
  expect(refused).toMatchObject({ name: 'ForbiddenError', status: 403, details: { reason: 'a rule', operation: 0 } })
  expect(refused.message).toBe('Operation 0 (create api::city.city): Not this one')
})

rule('transactions.4', 'errors name the write', async () => {
  const { transaction } = served.service
  const invalid = (third: Data) =>
    failure(
      transaction((write) => {
        write(city).create({ data: { name: 'Right' } })
        write(author).create({ data: { name: 'Right' } })
        write(author).create({ data: third })
      }),
    )
  const missing = await invalid({})
  expect(missing.message).toMatch(/^Operation 2 \(create api::author\.author\): name must be defined/)
  expect(missing.details).toMatchObject({ operation: 2, errors: [{ path: ['name'] }] })
  expect((await invalid({ name: 'x', nothing: 1 })).message).toBe('Operation 2 (create api::author.author): Invalid key nothing')
  expect((await invalid({ name: 'x', mentor: 'abcdefghijklmnopqrstuvwx' })).details.operation).toBe(2)
  await expect(transaction((write) => write('api::nothing.nothing').create({ data: {} }))).rejects.toThrow('There is no type')
  await expect(transaction((write) => write(city).create({ dat: {} } as never))).rejects.toThrow('has no parameter dat')
  await expect(transaction((write) => write(city).update({ data: {} }))).rejects.toThrow('needs a documentId')
  await expect(transaction((write) => write('plugin::upload.file').create({ data: {} }))).rejects.toThrow('cannot be written')
})

rule('transactions.5', 'a missing document fails a transaction, except for a delete', async () => {
  const { documents, transaction } = served.service
  const documentId = 'abcdefghijklmnopqrstuvwx'
  for (const action of ['update', 'publish', 'unpublish', 'discardDraft'] as const) {
    const error = await failure(
      transaction((write) => {
        write(city).create({ data: { name: 'Lost with it' } })
        if (action === 'update') write(tag).update({ documentId, data: {} })
        else write(tag)[action]({ documentId })
      }),
    )
    expect([error.name, error.status, error.details.operation]).toEqual(['NotFoundError', 404, 1])
  }
  const { gone, kept } = await transaction((write) => ({
    gone: write(tag).delete({ documentId }),
    kept: write(city).create({ data: { name: 'Kept' } }),
  }))
  expect(gone).toEqual({ documentId, entries: [] })
  expect(kept.name).toBe('Kept')
  expect(await documents(city).count(named('Lost with it'))).toBe(0)
})

rule('transactions.6', 'permissions hold for each write', async () => {
  const { documents, transaction } = served.service
  const grants = grantsOf('creates cities', new Set([`${city}.create`, `${city}.find`, `${author}.create`]))
  const error = await failure(
    transaction(
      (write) => {
        write(city).create({ data: { name: 'Not allowed' } })
        write(tag).create({ data: { name: 'Not allowed' } })
      },
      { grants },
    ),
  )
  expect(error).toMatchObject({ name: 'ForbiddenError', status: 403, details: { operation: 1 } })
  expect(await documents(city).count(named('Not allowed'))).toBe(0)
  const [made] = await transaction((write) => [write(city).create({ data: { name: 'Allowed' } })], { grants })
  expect(made!.name).toBe('Allowed')
  const scoped = { ...grants, key: 'scoped', scopes: new Map([[city, { name: { $startsWith: 'In ' } }]]) }
  const outside = await failure(
    transaction((write) => ['In it', 'Out'].map((name) => write(city).create({ data: { name } })), { grants: scoped }),
  )
  expect(outside).toMatchObject({ name: 'ForbiddenError', details: { operation: 1 } })
  expect(await documents(city).count(named('In it'))).toBe(0)
  expect(await documents(city, { grants: scoped }).createMany({ data: [{ name: 'In it' }, { name: 'In there' }] })).toHaveLength(2)
})

rule('transactions.7', 'unique values, generated ids, drafts and locales are those of single writes', async () => {
  const { documents, transaction } = served.service
  const twice = await failure(
    transaction((write) => [1, 2].map(() => write(tag).create({ data: { name: 'The same twice' }, status: 'published' }))),
  )
  expect(twice).toMatchObject({ name: 'ValidationError', details: { operation: 1, errors: [{ path: ['name'] }] } })
  expect(await documents(tag).count(named('The same twice'))).toBe(0)
  // In one transaction the value of a document that is deleted is free again.
  const { documentId } = await documents(tag).create({ data: { name: 'Free again' }, status: 'published' })
  const { again } = await transaction((write) => {
    write(tag).delete({ documentId })
    return { again: write(tag).create({ data: { name: 'Free again' }, status: 'published' }) }
  })
  expect(again.documentId).not.toBe(documentId)

  const { english, german } = await transaction((write) => {
    const made = write(category).create({ data: { name: 'Rivers', position: 7 } })
    return { english: made, german: write(category).update({ documentId: made.documentId, locale: 'de', data: { name: 'Flüsse' } }) }
  })
  expect([english.locale, german.locale, german.documentId, german.position]).toEqual(['en', 'de', english.documentId, 7])

  // A draft that is published and written again in one transaction is modified afterwards, and not before.
  const { story } = await transaction((write) => {
    const made = write(article).create({ data: { title: 'Published once' }, status: 'published' })
    write(article).update({ documentId: made.documentId, data: { title: 'Written again' } })
    return { story: made }
  })
  const versions = (status: 'draft' | 'published') => documents(article).findOne({ documentId: story.documentId, status })
  expect([(await versions('draft'))?.title, (await versions('published'))?.title]).toEqual(['Written again', 'Published once'])
  await transaction((write) => {
    write(article).discardDraft({ documentId: story.documentId })
    write(article).update({ documentId: story.documentId, data: { rank: 3 } })
    write(article).publish({ documentId: story.documentId })
  })
  expect(await versions('published')).toMatchObject({ title: 'Published once', rank: 3 })
  // A single write afterwards compares the draft again.
  await documents(article).update({ documentId: story.documentId, data: { rank: 4 }, status: 'published' })
  expect(await versions('published')).toMatchObject({ title: 'Published once', rank: 4 })
  const doctor = await served.sql('select count(*) as number from articles where document_id = ?', story.documentId)
  expect(doctor[0]!.number).toBe(2)
})

rule('transactions.7', 'components of documents that are created and published together stay apart', async () => {
  const { documents, transaction } = served.service
  const sections = (name: string) => [{ heading: `${name} 1` }, { heading: `${name} 2` }]
  const shape = await documents(article).findFirst({ populate: ['sections'], filters: { sections: { heading: { $notNull: true } } } })
  expect(shape, 'the golden project has sections').not.toBeNull()
  const made = await transaction((write) =>
    ['A', 'B', 'C'].map((name, index) =>
      write(article).create({
        data: { title: `Article ${name}`, sections: sections(name) },
        populate: ['sections'],
        ...(index === 1 ? { status: 'published' } : {}),
      }),
    ),
  )
  for (const [index, name] of ['A', 'B', 'C'].entries()) {
    const stored = await documents(article).findOne({ documentId: made[index]!.documentId, populate: ['sections'] })
    expect((stored!.sections as { heading: string }[]).map(({ heading }) => heading)).toEqual([`${name} 1`, `${name} 2`])
  }
})

rule('transactions.8', 'bulk writes are all or nothing', async () => {
  const { documents } = served.service
  const cities = documents(city)
  const made = await cities.createMany({ data: [1, 2, 3].map((n) => ({ name: `Bulk ${n}`, population: n })), fields: ['name'] })
  expect(made.map(({ name }) => name)).toEqual(['Bulk 1', 'Bulk 2', 'Bulk 3'])
  expect(made[0]).not.toHaveProperty('population')
  const bulk = { name: { $startsWith: 'Bulk' } }
  const error = await failure(cities.createMany({ data: [{ name: 'Bulk 4' }, {}] }))
  expect(error.details).toMatchObject({ operation: 1 })
  expect(await cities.count({ filters: bulk })).toBe(3)

  const ids = made.map(({ documentId }) => documentId)
  const lost = await failure(cities.updateMany({ documentIds: [...ids, 'abcdefghijklmnopqrstuvwx'], data: { area: 1 } }))
  expect(lost).toMatchObject({ name: 'NotFoundError', details: { operation: 3 } })
  expect(await cities.count({ filters: { ...bulk, area: 1 } })).toBe(0)
  const changed = await cities.updateMany({ filters: { ...bulk, population: { $gt: 1 } }, data: { area: 5 } })
  expect(changed.map(({ name, area }) => [name, area])).toEqual([
    ['Bulk 2', 5],
    ['Bulk 3', 5],
  ])
  // A document that no longer matches when the transaction runs is left unchanged.
  before = async ({ action, data }) => {
    if (action === 'update' && data?.area === 6) await served.sql(`update cities set population = 0 where name = 'Bulk 3'`)
  }
  expect(await cities.updateMany({ filters: { ...bulk, population: { $gt: 1 } }, data: { area: 6 } })).toHaveLength(1)
  before = () => {}
  const gone = await cities.deleteMany({ filters: { ...bulk, area: 6 } })
  expect(gone).toMatchObject([{ documentId: ids[1], entries: [{ name: 'Bulk 2' }] }])
  expect(await cities.deleteMany({ documentIds: ids })).toHaveLength(2)
  expect(await cities.count({ filters: bulk })).toBe(0)
  for (const parameters of [{}, { documentIds: [], filters: {} }])
    await expect(cities.deleteMany(parameters as never)).rejects.toThrow('needs either documentIds or filters')
  await expect(cities.createMany({ data: {} } as never)).rejects.toThrow('needs a list')
  await expect(cities.updateMany({ filters: {}, dat: {} } as never)).rejects.toThrow('has no parameter dat')
})

rule(
  'transactions.7',
  'the events of bulk writes are recorded: one for each document, in order, and none of writes that fail',
  async () => {
    const { documents, events: log } = served.service
    const recorded = async () => {
      const found = await log.after(last, 1_000)
      last = found.at(-1)?.sequence ?? last
      return found.map((event) => [event.event, 'entry' in event && [event.entry.title ?? event.entry.name, event.entry.documentId]])
    }
    await recorded()
    const cities = await documents(city).createMany({ data: [{ name: 'Told 1' }, { name: 'Told 2' }] })
    const [one, two] = cities.map(({ documentId }) => documentId)
    await failure(documents(city).createMany({ data: [{ name: 'Untold' }, {}] }))
    await documents(city).updateMany({ documentIds: [two!, one!], data: { area: 2 } })
    await documents(city).deleteMany({ filters: { name: { $startsWith: 'Told' } } })
    const [made] = await documents(article).createMany({ data: [{ title: 'Told at once' }], status: 'published' })
    await documents(article).deleteMany({ documentIds: [made!.documentId] })
    const [entryOne, entryTwo, entryMade] = [
      ['Told 1', one],
      ['Told 2', two],
      ['Told at once', made!.documentId],
    ]
    expect(await recorded()).toEqual([
      ['entry.create', entryOne],
      ['entry.create', entryTwo],
      ['entry.update', entryTwo],
      ['entry.update', entryOne],
      ['entry.delete', entryOne],
      ['entry.delete', entryTwo],
      ['entry.create', entryMade],
      ['entry.publish', entryMade],
      ['entry.delete', entryMade],
      ['entry.delete', entryMade],
    ])
  },
)

rule('transactions.9', 'more writes than a transaction may have are 400; asynchronous functions are refused', async () => {
  const { documents, transaction } = served.service
  const many = Array.from({ length: 10_001 }, (_, n) => ({ name: `Too many ${n}` }))
  const works: readonly (() => Promise<unknown>)[] = [
    () => documents(city).createMany({ data: many }),
    () => transaction((write) => many.map((data) => write(city).create({ data }))),
    () => documents(city).updateMany({ filters: {}, data: {} }),
  ]
  const digits = `(select 0 as d ${Array.from({ length: 9 }, (_, digit) => `union all select ${digit + 1} `).join('')})`
  await served.sql(`insert into cities (document_id, name, published_at) select 'crowd' || a.d || b.d || c.d || d.d || e.d, 'Crowd', current_timestamp
    from ${digits} a, ${digits} b, ${digits} c, ${digits} d, ${digits} e where e.d < 2`)
  for (const work of works) {
    const error = await failure(work())
    expect([error.status, error.message]).toEqual([400, 'A transaction has at most 10000 writes'])
  }
  await served.sql("delete from cities where name = 'Crowd'")
  expect(await documents(city).count({ filters: { name: { $startsWith: 'Too many' } } })).toBe(0)
  expect(await documents(city).createMany({ data: many.slice(0, 100) })).toHaveLength(100)
  await documents(city).deleteMany({ filters: { name: { $startsWith: 'Too many' } } })

  await expect(
    transaction(async (write) => {
      write(city).create({ data: { name: 'Asynchronous' } })
      await Promise.resolve()
      write(city).create({ data: { name: 'Asynchronous' } })
    }),
  ).rejects.toThrow('not asynchronous')
  let late: (() => unknown) | null = null
  await transaction((write) => {
    late = () => write(city).create({ data: { name: 'Late' } })
  })
  expect(late).toThrow('after the function')
  expect(await documents(city).count({ filters: { name: { $in: ['Asynchronous', 'Late'] } } })).toBe(0)
})

rule('transactions.10', 'a transaction with a key is executed once', async () => {
  const { documents, transaction } = served.service
  let [asked, seen] = [0, 0]
  before = () => void asked++
  after = () => void seen++
  const order = (name: string, options: { readonly idempotencyKey?: string; readonly grants?: Grants } = { idempotencyKey: 'order 1' }) =>
    transaction((write) => {
      const writer = write(author).create({ data: { name } })
      return { writer, story: write(article).create({ data: { title: `Of ${name}`, author: writer.documentId } }) }
    }, options)
  const first = await order('Once')
  await events()
  const second = await order('Once')
  expect(second).toEqual(first)
  expect([asked, seen, await events()]).toEqual([2, 2, []])
  expect(await documents(author).count(named('Once'))).toBe(1)
  expect(await failure(order('Another'))).toMatchObject({ status: 422 })
  const other = { ...grantsOf('others', new Set([`${author}.create`, `${article}.create`, `${author}.find`])) }
  expect(await failure(order('Once', { idempotencyKey: 'order 1', grants: other }))).toMatchObject({ status: 409 })
  // A transaction that fails leaves its key to the next try.
  before = () => {
    throw Object.assign(new Error('Not yet'), { name: 'ForbiddenError' })
  }
  expect(await failure(order('Later', { idempotencyKey: 'order 2' }))).toMatchObject({ status: 403 })
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let isUnderWay = false
  before = () => {
    isUnderWay = true
    return held
  }
  const later = order('Later', { idempotencyKey: 'order 2' })
  await expect.poll(() => isUnderWay, patience).toBe(true)
  expect(await failure(order('Later', { idempotencyKey: 'order 2' }))).toMatchObject({ status: 409 })
  goOn()
  expect((await later).writer.name).toBe('Later')
  expect(await documents(author).count(named('Later'))).toBe(1)
  for (const idempotencyKey of ['', 'x'.repeat(256), 5 as never]) await expect(order('No', { idempotencyKey })).rejects.toThrow(TypeError)
})

rule('transactions.11', 'a write with filters needs its document to match them', async () => {
  const { documents, transaction } = served.service
  const { documentId } = await documents(city).create({ data: { name: 'Stock', population: 5 } })
  const take = (amount: number, seen: number) =>
    transaction((write) => {
      write(author).create({ data: { name: `Took ${amount}` } })
      return [write(city).update({ documentId, filters: { population: seen }, data: { population: seen - amount } })]
    })
  expect((await take(2, 5))[0]).toMatchObject({ population: '3' })
  const late = await failure(take(1, 5))
  expect(late).toMatchObject({ name: 'ConflictError', status: 409, details: { operation: 1 } })
  expect(await documents(author).count(named('Took 1'))).toBe(0)
  // Of many that have seen the same, one succeeds.
  const race = await Promise.allSettled([1, 2, 3].map(() => take(1, 3)))
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const action of ['delete', 'publish', 'unpublish', 'discardDraft'] as const) {
    const draft = await documents(tag).create({ data: { name: `With filters: ${action}` } })
    const where = { documentId: draft.documentId, filters: { name: 'another' } }
    expect(await failure(transaction((write) => [write(tag)[action](where)]))).toMatchObject({ status: 409 })
  }
  const lost = 'abcdefghijklmnopqrstuvwx'
  expect(await failure(transaction((write) => [write(city).delete({ documentId: lost, filters: {} })]))).toMatchObject({ status: 409 })
  await expect(transaction((write) => [write(city).create({ data: {}, filters: {} } as never)])).rejects.toThrow('has no parameter filters')
  expect(await failure(take(1, 'x' as never))).toMatchObject({ status: 400 })
})
