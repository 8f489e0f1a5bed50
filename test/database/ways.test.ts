// Decision 014: a list whose filter leads through relations is read by the cheapest of several plans, and each of them returns the
// same list. Twelve thousand documents, with links so unevenly spread that every plan is used.
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSink } from '../../src/database/response/write.js'
import { defineFunctions } from '../../src/database/sqlite/connection.js'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { prepareRead } from '../../src/database/sqlite/execute.js'
import { createIndexes } from '../../src/database/sqlite/indexes.js'
import { fullAccess } from '../../src/foundation/grants.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { describeIndexes } from '../../src/model/tables/own-indexes.js'
import { compileRead } from '../../src/query/compile/compile.js'
import { contracts } from '../../src/query/contract.js'
import { parseParameters } from '../../src/query/request.js'
import { readRequest } from '../../src/query/rest/read.js'
import { access, contentType, reading } from '../spec/library.js'
import { type Served, serveProject } from '../support/serve.js'

const documents = 12_000
const groups = ['most', 'some', 'few', 'last', 'none'] as const
const labels = ['even', 'tenth', 'rare', 'end'] as const

interface Item {
  readonly id: number
  readonly number: number
  readonly rank: number
  readonly locale: string
  readonly group: (typeof groups)[number] | null
  readonly labels: readonly string[]
}

/** The published rows, which come second of each document. */
const items: readonly Item[] = Array.from({ length: documents }, (_, index): Item => {
  const number = index + 1
  const group =
    number > documents - 900 ? 'last' : number % 400 === 7 ? 'few' : number % 8 === 3 ? 'some' : number % 50 === 1 ? null : 'most'
  const has: Record<(typeof labels)[number], boolean> = {
    even: number % 2 === 0,
    tenth: number % 10 === 3,
    rare: number % 1500 === 7,
    end: number > documents - 700,
  }
  return {
    id: 2 * number,
    number,
    rank: (number * 7919) % 1000,
    locale: number % 5 === 0 ? 'fr' : 'en',
    group,
    labels: labels.filter((label) => has[label]),
  }
})

function write<Result>({ database }: Served, work: (database: Database.Database) => Result): Result {
  const opened = new Database(database)
  try {
    return work(opened)
  } finally {
    opened.close()
  }
}

function fill(database: Database.Database): void {
  const prepare = (table: string, columns: string) =>
    database.prepare(`insert into ${table} (${columns}) values (${columns.replaceAll(/[^,]+/g, '?')})`)
  const item = prepare('items', 'id,document_id,title,rank,locale,created_at,updated_at,published_at')
  const group = prepare('items_group_lnk', 'item_id,group_id,item_ord')
  const label = prepare('items_labels_lnk', 'item_id,label_id,label_ord,item_ord')
  for (const [index, name] of groups.entries()) prepare('groups', 'id,document_id,name,published_at').run(index + 1, `g${name}`, name, 1)
  for (const [index, name] of labels.entries()) {
    const write = prepare('labels', 'id,document_id,name,published_at')
    write.run(2 * index + 1, `l${name}`, name, null)
    write.run(2 * index + 2, `l${name}`, name, 1)
  }
  const note = prepare('notes', 'id,document_id,title,updated_at,published_at')
  const noteGroup = prepare('notes_group_lnk', 'note_id,group_id')
  for (let number = 1; number <= 3000; number++) {
    for (const version of [1, 2]) {
      const id = 2 * number - 2 + version
      note.run(id, `n${number}`, `Note ${number}`, number, version === 1 ? null : number)
      noteGroup.run(id, 1)
    }
  }
  for (const one of items) {
    for (const version of [1, 2]) {
      const id = one.id - 2 + version
      item.run(id, `i${one.number}`, `Item ${one.number}`, one.rank, one.locale, one.number, one.number, version === 1 ? null : one.number)
      if (one.group !== null) group.run(id, groups.indexOf(one.group) + 1, one.number)
      for (const name of one.labels) label.run(id, 2 * labels.indexOf(name as 'even') + version, 1, one.number)
    }
  }
}

type Test = (item: Item) => boolean
const inGroup = (...names: readonly string[]): readonly [string, Test] => [
  `filters[group][name][$in]=${names.join('&filters[group][name][$in]=')}`,
  ({ group }) => group !== null && names.includes(group),
]
const labelled = (name: string): readonly [string, Test] => [`filters[labels][name]=${name}`, (item) => item.labels.includes(name)]
const both = ([left, holds]: readonly [string, Test], [right, holdsToo]: readonly [string, Test]): readonly [string, Test] => [
  `${left}&${right}`,
  (item) => holds(item) && holdsToo(item),
]
/** The groups that have rare items, in one locale: relations are followed in the locale of the request. */
const groupsOfRare = new Set(items.filter(({ labels }) => labels.includes('rare')).map(({ group, locale }) => `${locale} ${group}`))

const filters: readonly (readonly [string, Test])[] = [
  ...groups.map((name) => inGroup(name)),
  ...labels.map(labelled),
  inGroup('some', 'few'),
  ...groups.flatMap((group) => labels.map((label) => both(inGroup(group), labelled(label)))),
  ['filters[group][name]=most&filters[rank][$lt]=20', ({ group, rank }) => group === 'most' && rank < 20],
  ['filters[$or][0][group][name]=some&filters[$or][1][labels][name]=end', (item) => item.group === 'some' || item.labels.includes('end')],
  [
    'filters[$or][0][group][name]=some&filters[$or][1][rank]=5&filters[labels][name]=even',
    (item) => (item.group === 'some' || item.rank === 5) && item.labels.includes('even'),
  ],
  [
    'filters[$not][group][name]=most&filters[labels][name]=even',
    (item) => item.group !== 'most' && item.group !== null && item.labels.includes('even'),
  ],
  [
    'filters[group][items][labels][name]=rare&filters[labels][name]=even',
    (item) => groupsOfRare.has(`${item.locale} ${item.group}`) && item.labels.includes('even'),
  ],
]
const byId = (a: Item, b: Item) => a.id - b.id
const sorts: readonly (readonly [string, (a: Item, b: Item) => number])[] = [
  ['', byId],
  ['&sort=rank:desc', (a, b) => b.rank - a.rank || byId(a, b)],
  ['&sort[0]=rank&sort[1]=publishedAt:desc', (a, b) => a.rank - b.rank || b.number - a.number],
  ['&sort=publishedAt:desc', (a, b) => b.number - a.number],
  [
    '&sort=group.name',
    (a, b) => Number(a.group !== null) - Number(b.group !== null) || (a.group ?? '').localeCompare(b.group ?? '') || byId(a, b),
  ],
]
const pages = [
  [1, 25],
  [2, 10],
  [30, 25],
  [1, 1],
] as const

let served: Served
let database: Database.Database
let model: Model
const statements: string[] = []
beforeAll(async () => {
  const relation = (kind: string, target: string, more: object = {}) => ({
    type: 'relation',
    relation: kind,
    target: `api::${target}.${target}`,
    ...more,
  })
  served = await serveProject({
    ...contentType(
      'item',
      {
        title: { type: 'string' },
        rank: { type: 'integer' },
        group: relation('manyToOne', 'group', { inversedBy: 'items' }),
        labels: relation('manyToMany', 'label', { inversedBy: 'items' }),
      },
      { draftAndPublish: true, localized: true },
    ),
    ...contentType('note', { title: { type: 'string' }, group: relation('oneToOne', 'group') }, { draftAndPublish: true }),
    ...contentType('group', { name: { type: 'string' }, items: relation('oneToMany', 'item', { mappedBy: 'group' }) }),
    ...contentType(
      'label',
      { name: { type: 'string' }, items: relation('manyToMany', 'item', { mappedBy: 'labels' }) },
      { draftAndPublish: true },
    ),
    ...access(reading('item', 'group', 'label'), [{ code: 'en', default: true }, { code: 'fr' }]),
  })
  model = await loadModel({ folder: served.folder })
  write(served, (opened) => {
    opened.transaction(() => fill(opened))()
    createIndexes(opened, describeIndexes(model), () => {})
  })
  database = new Database(served.database, { readonly: true, verbose: (sql) => statements.push(String(sql)) })
  defineFunctions(database)
})
afterAll(async () => {
  database.close()
  await served.close()
})

const numbersOf = (answer: { readonly data: readonly { readonly title: string }[] }) =>
  answer.data.map(({ title }) => Number(title.slice(5)))

describe.each(sorts)('the same page on every way%s', (sort, compare) => {
  test.each(filters)('%s', async (filter, holds) => {
    for (const locale of ['en', 'fr']) {
      const wanted = items.filter((item) => item.locale === locale && holds(item)).sort(compare)
      for (const [page, pageSize] of pages) {
        const path = `/api/items?${filter}${sort}&locale=${locale}&pagination[page]=${page}&pagination[pageSize]=${pageSize}`
        const expected = wanted.slice((page - 1) * pageSize, page * pageSize).map(({ number }) => number)
        const alone = await served.request(`${path}&pagination[withCount]=false`)
        expect(numbersOf(alone.body), path).toEqual(expected)
        // The second time the total is known.
        for (const _ of [1, 2]) {
          const { body } = await served.request(path)
          expect(numbersOf(body), path).toEqual(expected)
          expect(body.meta.pagination.total).toBe(wanted.length)
        }
      }
    }
  })
})

/** Runs a list on a separate connection, and returns its statements. */
function statementsOf(query: string, uid: 'item' | 'note' | 'group' = 'item'): readonly string[] {
  const context = {
    model,
    contract: contracts.strapi,
    defaultLocale: 'en',
    pages: { defaultLimit: 25, maxLimit: 100, withCount: true },
    limits: { filterRelations: 10, queryComplexity: 1000 },
    strictParams: false,
  }
  const type = model.types.get(`api::${uid}.${uid}`)!
  const request = readRequest(context, fullAccess, { type, mode: 'many' }, parseParameters(query))
  const plan = compileRead(request, sqliteDialect, contracts.strapi, 'data')
  statements.length = 0
  prepareRead({ database, signer: null }, plan)(request.values, createSink(1e6))
  return [...statements]
}

/** The kind of statement that found the page. */
function wayOf(query: string, type?: 'item' | 'note'): 'along the order' | 'from the group' | 'from the labels' | 'from both' {
  const page = statementsOf(query, type).findLast((sql) => /^select "t0"/.test(sql))!
  if (page.includes('(select * from')) return 'along the order'
  const starts = ['group', 'labels'].filter((name) => new RegExp(`in \\(select "t\\d+_l"."\\w+_id" from "\\w+_${name}_lnk"`).test(page))
  return starts.length === 2 ? 'from both' : starts[0] === 'group' ? 'from the group' : 'from the labels'
}

/** True if the costs of a list's plans were compared. */
const isWeighed = (query: string, type?: 'item' | 'group') =>
  statementsOf(query, type).some((sql) => sql.startsWith('select (select count(*)'))

describe('the way', () => {
  const frequent = 'filters[group][name]=most&filters[labels][name]=even'
  const alone = '&pagination[withCount]=false'
  const change = (...changes: readonly string[]) => write(served, (opened) => opened.exec(changes.join(';')))

  test('starts with the condition that has fewer links, in any order', () => {
    for (const total of ['', alone]) {
      expect(wayOf(`filters[group][name]=most&filters[labels][name]=rare${total}`)).toBe('from the labels')
      expect(wayOf(`filters[labels][name]=rare&filters[group][name]=most${total}`)).toBe('from the labels')
      expect(wayOf(`filters[labels][name]=even&filters[group][name]=few${total}`)).toBe('from the group')
      expect(wayOf(`filters[group][name]=few${total}`)).toBe('from the group')
    }
  })

  test('follows the order where the first rows fill the page', () => {
    for (const sort of ['', '&sort=rank', '&sort=publishedAt:desc', '&sort=title'])
      expect(wayOf(`${frequent}${alone}${sort}`)).toBe('along the order')
    expect(wayOf(`filters[group][name]=most${alone}`)).toBe('along the order')
    expect(wayOf(`filters[$or][0][group][name]=most&filters[$or][1][labels][name]=even${alone}`)).toBe('along the order')
  })

  test('follows the order of types without locales, which have indexes of published rows and of drafts', () => {
    for (const sort of ['', '&sort=title', '&sort=updatedAt:desc', '&status=draft', '&status=draft&sort=updatedAt:desc'])
      expect(wayOf(`filters[group][name]=most${alone}${sort}`, 'note')).toBe('along the order')
    expect(wayOf(`filters[group][name]=most${alone}&status=draft&sort=title`, 'note')).toBe('from the group')
  })

  test('does not follow an order without an index, or with a distant page', () => {
    for (const sort of ['group.name', 'rank:desc', 'publishedAt:asc'])
      expect(wayOf(`${frequent}${alone}&sort=${sort}`)).not.toBe('along the order')
    expect(wayOf(`${frequent}${alone}&sort[0]=rank&sort[1]=title`)).not.toBe('along the order')
    expect(wayOf(`${frequent}${alone}&locale=*&sort=publishedAt:desc`)).not.toBe('along the order')
    expect(wayOf(`filters[group][name]=last${alone}&pagination[pageSize]=100`)).toBe('from the group')
    expect(wayOf(`${frequent}${alone}&pagination[start]=11990&pagination[limit]=10`)).not.toBe('along the order')
  })

  test('does not follow an order with an unknown number of skipped rows', () => {
    for (const choice of [
      'publicationFilter=modified',
      'hasPublishedVersion=false',
      'publicationFilter=never-published&status=draft',
      'locale[$eq]=en',
    ])
      expect(wayOf(`${frequent}${alone}&${choice}`)).not.toBe('along the order')
  })

  test('is not weighed where testing a row may take long, or where the filter names the rows themselves', () => {
    expect(isWeighed(`${frequent}${alone}`)).toBe(true)
    expect(isWeighed(`${frequent}&filters[rank][$gt]=5`)).toBe(true)
    expect(isWeighed(`filters[items][labels][name]=even&filters[items][rank]=5${alone}`, 'group')).toBe(false)
    expect(isWeighed(`filters[items][title]=x&filters[$and][0][items][rank]=5${alone}`, 'group')).toBe(false)
    for (const more of [
      'filters[rank]=5',
      'filters[title][$contains]=1',
      '_q=1',
      'filters[labels][items][rank]=5',
      'filters[group][name][$startsWith]=m',
    ])
      expect(isWeighed(`${frequent.replace('[group]', '[$and][0][group]')}&${more}`)).toBe(false)
    const many = Array.from({ length: 31 }, (_, index) => `filters[group][id][$in][${index}]=${index}`).join('&')
    expect(isWeighed(`${many}&filters[labels][name]=even`)).toBe(false)
  })

  test('tests a row from its side on: a value that many targets have is not looked up for each row', () => {
    const tested = [...statementsOf(`${frequent}${alone}`), ...statementsOf('filters[labels][name]=rare&filters[group][name]=most')]
    const exists = tested
      .filter((sql) => !sql.startsWith('explain'))
      .flatMap((sql) => sql.match(/exists \(select 1 from "\w+" as "\w+" (cross )?join/g) ?? [])
    expect(exists.length).toBeGreaterThan(2)
    expect(exists.filter((text) => !text.endsWith('cross join'))).toEqual([])
  })

  test('tests rows only where they list few: the statistics say how many', () => {
    const key = "where tbl = 'items_labels_lnk' and idx in ('items_labels_lnk_fk', 'items_labels_lnk_uq')"
    const known = write(
      served,
      (opened) => opened.prepare(`select idx, stat from sqlite_stat1 ${key}`).all() as { idx: string; stat: string }[],
    )
    expect(known).toHaveLength(2)
    change(`update sqlite_stat1 set stat = '20000 100 1' ${key}`)
    expect(wayOf(`${frequent}${alone}`)).toBe('from both')
    expect(wayOf('filters[labels][name]=even&filters[group][name]=few')).toBe('from both')
    expect(wayOf(`filters[group][name]=most${alone}`)).toBe('along the order')
    change(...known.map(({ idx, stat }) => `update sqlite_stat1 set stat = '${stat}' where idx = '${idx}'`))
    expect(wayOf(`${frequent}${alone}`)).toBe('along the order')
  })

  test('leaves conditions on the other side of a relation to SQLite, which may begin at the value', () => {
    const inverse = statementsOf('filters[items][title][$null]=true', 'group').filter((sql) => sql.includes('exists ('))
    expect(inverse.length).toBeGreaterThan(0)
    expect(inverse.filter((sql) => /exists \([^)]* cross join/.test(sql))).toEqual([])
  })

  test('does not follow an index that a project made for all locales', () => {
    change('drop index octavo_items_latest_published_at', 'create index items_newest on items (published_at desc)')
    expect(wayOf(`${frequent}${alone}&sort=publishedAt:desc`)).not.toBe('along the order')
    change('drop index items_newest')
    write(served, (opened) => createIndexes(opened, describeIndexes(model), () => {}))
    expect(wayOf(`${frequent}${alone}&sort=publishedAt:desc`)).toBe('along the order')
  })

  test('follows an order as long as its index is there', () => {
    const sql = write(
      served,
      (opened) => opened.prepare("select sql from sqlite_schema where name = 'octavo_items_published'").pluck().get() as string,
    )
    change('drop index octavo_items_published')
    expect(wayOf(`${frequent}${alone}`)).not.toBe('along the order')
    change(sql)
    expect(wayOf(`${frequent}${alone}`)).toBe('along the order')
  })

  test('is left to SQLite where testing a row would read a whole table', () => {
    change(...['fk', 'ifk', 'uq'].map((suffix) => `drop index items_labels_lnk_${suffix}`), 'drop index octavo_items_labels_lnk_by_target')
    expect(wayOf('filters[labels][name]=even&filters[group][name]=few')).toBe('from both')
    expect(wayOf(`${frequent}${alone}`)).toBe('from both')
  })
})
