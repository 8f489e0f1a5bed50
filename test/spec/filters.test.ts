// docs/spec/filters.md: junctions, nesting, forms of values and refusals. Operators on every type, texts and relations
// have separate files.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnPostgres } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveLibrary } from './library.js'
import { all, expected, readOnly, type Version, versions } from './magazine.js'

// The local time zone must not matter to times without an offset.
process.env.TZ = 'Asia/Kathmandu'

let magazine: Served
let strapi: Served
let library: Served
beforeAll(async () => {
  magazine = await readOnly('specification')
  strapi = await readOnly('strapi')
  library = await serveLibrary('specification')
})
afterAll(() => Promise.all([magazine, strapi, library].map((served) => served.close())))

const articles = versions('article')
const where = (holds: (article: Version) => boolean) => expected(articles.filter(holds))
const slugs = async (query: string) => all(await magazine.request(`/api/articles?${query}`))
const samples = async (query: string) => all(await library.request(`/api/samples?${query}`), 'name')

rule('filters.1', 'several attributes and several operators must all be met', async () => {
  const wanted = where(({ format, readingMinutes }) => format === 'report' && readingMinutes > 7 && readingMinutes <= 10)
  expect(await slugs('filters[format][$eq]=report&filters[readingMinutes][$gt]=7&filters[readingMinutes][$lte]=10')).toEqual(wanted)
  expect(wanted.length).toBeGreaterThan(1)
  expect(await slugs('filters[format][$eq]=report&filters[format][$ne]=report')).toEqual([])
})

rule('filters.2', 'a value alone means $eq, a list means $in', async () => {
  expect(await slugs('filters[format]=guide')).toEqual(where(({ format }) => format === 'guide'))
  const either = where(({ format }) => format === 'guide' || format === 'essay')
  for (const list of ['[0]=guide&L[1]=essay', '[]=guide&L[]=essay', '=guide&L=essay', '[$eq][0]=guide&L[$eq][1]=essay'])
    expect(await slugs(`L${list}`.replaceAll('L', 'filters[format]'))).toEqual(either)
})

rule('filters.5', '$in takes indexed, repeated and single values', async () => {
  const wanted = where(({ readingMinutes }) => [5, 12, 3].includes(readingMinutes))
  for (const list of ['[0]=5&L[1]=12&L[2]=3', '[]=5&L[]=12&L[]=3', '=5&L=12&L=3'])
    expect(await slugs(`L${list}`.replaceAll('L', 'filters[readingMinutes][$in]'))).toEqual(wanted)
  expect(await slugs('filters[readingMinutes][$in]=11')).toEqual(where(({ readingMinutes }) => readingMinutes === 11))
  expect(await slugs('filters[readingMinutes][$notIn]=11')).toEqual(where(({ readingMinutes }) => readingMinutes !== 11))
})

rule('filters.5', 'a comma separates nothing', async () => {
  expect(await slugs('filters[format][$in]=guide,essay')).toEqual([])
  expect(await slugs('filters[kicker][$in]=Kestrel%20Hill')).toEqual(['the-observatory-that-closed-its-dome'])
})

rule('filters.5', 'many values are possible', async () => {
  const list = articles.map(({ slug }, index) => `filters[slug][$in][${index}]=${slug}`).join('&')
  expect(await slugs(list)).toEqual(expected(articles))
  expect(await slugs(list.replaceAll('$in', '$notIn'))).toEqual([])
})

rule('filters.12', '$or joins filters, next to others that must hold as well', async () => {
  const query = 'filters[$or][0][format]=guide&filters[$or][1][readingMinutes][$lt]=6'
  expect(await slugs(query)).toEqual(where(({ format, readingMinutes }) => format === 'guide' || readingMinutes < 6))
  const featured = where(({ format, readingMinutes, featured }) => (format === 'guide' || readingMinutes < 6) && featured)
  expect(await slugs(`${query}&filters[featured]=true`)).toEqual(featured)
  expect(await slugs(`filters[featured][$eq]=true&${query}`)).toEqual(featured)
})

rule('filters.12', 'an alternative of several conditions needs all of them', async () => {
  const query = 'filters[$or][0][format]=guide&filters[$or][0][featured]=true&filters[$or][1][readingMinutes]=12'
  expect(await slugs(query)).toEqual(
    where(({ format, featured, readingMinutes }) => (format === 'guide' && featured) || readingMinutes === 12),
  )
})

rule('filters.12', '$and needs all of its filters', async () => {
  const query = 'filters[$and][0][readingMinutes][$gt]=6&filters[$and][1][readingMinutes][$lt]=9&filters[$and][2][format]=portrait'
  expect(await slugs(query)).toEqual(
    where(({ format, readingMinutes }) => readingMinutes > 6 && readingMinutes < 9 && format === 'portrait'),
  )
  expect(await slugs('filters[$and][0][format]=guide')).toEqual(where(({ format }) => format === 'guide'))
})

rule('filters.13', '$not is valid around attributes and below one', async () => {
  const wanted = where(({ format }) => format !== 'report')
  for (const query of [
    'filters[$not][format]=report',
    'filters[format][$not]=report',
    'filters[format][$not][$eq]=report',
    'filters[$not][0][format]=report',
  ])
    expect(await slugs(query)).toEqual(wanted)
  expect(await slugs('filters[$not][format]=report&filters[$not][featured]=true')).toEqual(
    where(({ format, featured }) => !(format === 'report' && featured)),
  )
  expect(await slugs('filters[readingMinutes][$not][$between][0]=5&filters[readingMinutes][$not][$between][1]=8')).toEqual(
    where(({ readingMinutes }) => readingMinutes < 5 || readingMinutes > 8),
  )
})

rule('filters.13', '$not twice is nothing, and it turns $or and $and around', async () => {
  expect(await slugs('filters[$not][$not][format]=report')).toEqual(where(({ format }) => format === 'report'))
  expect(await slugs('filters[$not][$or][0][format]=report&filters[$not][$or][1][featured]=true')).toEqual(
    where(({ format, featured }) => format !== 'report' && !featured),
  )
  expect(await slugs('filters[$not][$and][0][format]=report&filters[$not][$and][1][featured]=true')).toEqual(
    where(({ format, featured }) => format !== 'report' || !featured),
  )
})

rule('filters.14', 'junctions nest in each other', async () => {
  const inner = 'filters[$or][0][$and][0][$or]'
  const query = [
    `${inner}[0][format]=guide`,
    `${inner}[1][format]=essay`,
    'filters[$or][0][$and][1][$not][$or][0][readingMinutes]=3',
    'filters[$or][0][$and][1][$not][$or][1][featured]=false',
    'filters[$or][1][$not][$not][$and][0][format]=interview',
    'filters[$or][1][$not][$not][$and][1][readingMinutes][$gte]=6',
  ]
  const wanted = where(
    ({ format, readingMinutes, featured }) =>
      ((format === 'guide' || format === 'essay') && !(readingMinutes === 3 || !featured)) ||
      (format === 'interview' && readingMinutes >= 6),
  )
  expect(wanted.length).toBe(3)
  expect(await slugs(query.join('&'))).toEqual(wanted)
})

rule('filters.14', 'junctions are possible in relations', async () => {
  const query = 'filters[author][$or][0][name]=Maria%20Holt&filters[author][$or][1][$not][onStaff]=true'
  const freelance = ['@author:emil-sarovic', '@author:clara-wintermoor']
  expect(await slugs(query)).toEqual(where(({ author }) => author === '@author:maria-holt' || freelance.includes(author)))
})

rule('filters.3', 'ids and times are compared like attributes', async () => {
  const { id, documentId } = (await magazine.request('/api/articles?filters[slug]=card-by-card')).body.data[0]
  expect(await slugs(`filters[id]=${id}`)).toEqual(['card-by-card'])
  expect(await slugs(`filters[documentId][$in][0]=${documentId}`)).toEqual(['card-by-card'])
  expect(await slugs('filters[createdAt][$gte]=2026-08-17')).toEqual(where(({ createdAt }) => createdAt >= '2026-08-17'))
  expect(await slugs('filters[publishedAt][$lt]=2025-04-01&filters[updatedAt][$gt]=2025-03-20')).toEqual(
    where(({ publishedAt, updatedAt }) => publishedAt < '2025-04-01' && updatedAt > '2025-03-20'),
  )
})

rule('filters.15', 'numbers are read in any notation', async () => {
  for (const value of ['42', '42.0', '4.2e1', '0x2a', '%2042%20']) expect(await samples(`filters[whole]=${value}`)).toEqual(['first'])
  expect(await samples('filters[exact]=12.34')).toEqual(['first'])
  expect(await samples('filters[rough][$lt]=-1e300')).toEqual(['second'])
  expect(await samples('filters[whole]=42.5')).toEqual([])
})

rule('filters.15', 'a biginteger keeps all its digits', async () => {
  expect(await samples('filters[big]=9007199254740993')).toEqual(['third'])
  expect(await samples('filters[big]=9007199254740992')).toEqual([])
  expect(await samples('filters[big][$gt]=9223372036854775806')).toEqual(['first'])
  expect(await samples('filters[big][$lt]=-9223372036854775807')).toEqual(['second'])
  expect(await samples('filters[big][$in][0]=9007199254740993&filters[big][$in][1]=1')).toEqual(['third'])
})

rule('filters.15', 'booleans are true, false, or a short form of either', async () => {
  for (const value of ['true', 't', '1', 'T', 'TRUE']) expect(await samples(`filters[flag]=${value}`)).toEqual(['first'])
  for (const value of ['false', 'f', '0', '', 'FALSE']) expect(await samples(`filters[flag]=${value}`)).toEqual(['second', 'third'])
})

rule('filters.15', 'in the contract strapi, every word but those for false is true', async () => {
  const featured = async (value: string) => all(await strapi.request(`/api/articles?filters[featured]=${value}`)).length
  const [isTrue, isFalse] = [await featured('true'), await featured('false')]
  expect([isTrue, isFalse].map((count) => count > 0)).toEqual([true, true])
  expect(await Promise.all(['no', 'wahr', 'FALSE'].map(featured))).toEqual([isTrue, isTrue, isTrue])
})

rule('filters.15', 'dates, times and timestamps are parsed in their forms', async () => {
  for (const value of ['2024-02-29', '2024-02-29T23:00:00.000Z']) expect(await samples(`filters[day]=${value}`)).toEqual(['first'])
  for (const value of ['08:00:00', '08:00:00.000']) expect(await samples(`filters[at]=${value}`)).toEqual(['third'])
  const moments = [
    '2024-03-01T00:00:00.000Z',
    '2024-03-01',
    '2024-03-01T02:00:00%2B02:00',
    '2024-02-29T19:00:00-05:00',
    '2024-03-01T00:00:00',
    '2024-03-01T00:00:00.000',
    String(Date.UTC(2024, 2, 1)),
  ]
  for (const attribute of ['moment', 'stamp'])
    for (const value of moments) expect([value, await samples(`filters[${attribute}]=${value}`)]).toEqual([value, ['third']])
})

rule('filters.15', 'json is compared as text without spaces, or as PostgreSQL writes it', async () => {
  const encoded = (value: unknown) => encodeURIComponent(JSON.stringify(value))
  expect(await samples(`filters[data]=${encoded([])}`)).toEqual(['second'])
  expect(await samples(`filters[data][$ne]=${encoded([])}`)).toEqual(['first', 'third'])
  expect(await samples(`filters[data][$in][0]=${encoded({ list: [] })}`)).toEqual(['third'])
  expect(await samples(`filters[data][$contains]=${encodeURIComponent(isOnPostgres ? '"n": -1' : '"n":-1')}`)).toEqual(['first'])
  expect(await samples('filters[data][$null]=true')).toEqual(['nothing'])
})

const wrong: Readonly<Record<string, readonly string[]>> = {
  whole: ['abc', '', '1,5', 'NaN', 'Infinity', '1e999'],
  flag: ['no', 'yes', '2', 'truthy'],
  big: ['abc', ''],
  rough: ['abc', ''],
  exact: ['1.2.3', ''],
  day: ['yesterday', '', '2024', '29.02.2024', '2023-02-29', '2024-13-01'],
  at: ['noon', '', '12:30', '25:00:00', '12:60:00', '1:00:00'],
  moment: ['soon', '', '2024-02-30', 'T12:00'],
  stamp: ['soon', ''],
}
for (const [attribute, values] of Object.entries(wrong)) {
  rule('filters.16', `${attribute} refuses invalid values`, async () => {
    for (const value of values) {
      for (const form of [`=${value}`, `[$gt]=${value}`, `[$in][0]=${value}`, `[$not]=${value}`]) {
        const { status, body } = await library.request(`/api/samples?filters[${attribute}]${form}`)
        expect([form, status, body.error?.name]).toEqual([form, 400, 'ValidationError'])
      }
    }
  })
}

rule('filters.25', 'names that do not exist are refused', async () => {
  const cases: Readonly<Record<string, string>> = {
    '[nope]=1': 'Invalid key nope',
    '[title][$like]=1': 'Invalid key $like at title',
    '[title][$EQ]=1': 'Invalid key $EQ at title',
    '[$nor][0][title]=1': 'Invalid key $nor',
    '[author][nope]=1': 'Invalid key nope at author',
    '[author][articles][nope][$eq]=1': 'Invalid key nope at author.articles',
    '[$or][0][$not][nope]=1': 'Invalid key nope',
    '[published_at]=1': 'Invalid key published_at',
    '[title][x]=1': 'Invalid key x at title',
    '[title][0][$eq]=1': 'Invalid key $eq at title',
    '[author][0][name]=1': 'Invalid key name',
  }
  for (const [filter, message] of Object.entries(cases)) {
    const { status, body } = await magazine.request(`/api/articles?filters${filter}`)
    expect([filter, status, body.error?.message]).toEqual([filter, 400, message])
  }
})

rule('filters.25', 'names that may not be seen are refused', async () => {
  const cases: Readonly<Record<string, string>> = {
    'articles?filters[editorNote][$contains]=a': 'Invalid key editorNote',
    'articles?filters[createdBy][id]=1': 'Invalid key createdBy',
    'articles?filters[updatedBy]=1': 'Invalid key updatedBy',
    'articles?filters[pitch][title]=a': 'Invalid key pitch',
    'articles?filters[$not][$or][0][pitch][id]=1': 'Invalid key pitch',
    'authors?filters[articles][editorNote][$startsWith]=a': 'Invalid key editorNote at articles.editorNote',
    'authors?filters[pitches][$null]=true': 'Invalid key pitches',
    'authors?filters[events][streamPassword][$notNull]=true': 'Invalid key streamPassword at events.streamPassword',
    'events?filters[streamPassword]=x': 'Invalid key streamPassword',
    'letters?filters[account][id]=1': 'Invalid key account',
  }
  for (const [path, message] of Object.entries(cases)) {
    const { status, body } = await magazine.request(`/api/${path}`)
    expect([path, status, body.error?.message]).toEqual([path, 400, message])
  }
})

rule('filters.26', 'invalid filters are refused', async () => {
  const forms = [
    '=',
    '=title',
    '[0][title]=a',
    '[$or]=a',
    '[$or][title]=a',
    '[$and]=a',
    '[$and][0]=a',
    '[$not]=a',
    '[title][$or][0]=a',
    '[title][$and][0][$eq]=a',
    '[$eq]=a',
    '[]=a',
  ]
  for (const form of forms) {
    const { status, body } = await magazine.request(`/api/articles?filters${form}`)
    expect([form, status, body.error?.name]).toEqual([form, 400, 'ValidationError'])
  }
})

rule('filters.26', 'an empty value is not a filter', async () => {
  expect(await slugs('filters')).toEqual(expected(articles))
})

const oneValue =
  '$eq $ne $lt $lte $gt $gte $eqi $nei $contains $notContains $containsi $notContainsi $startsWith $startsWithi $endsWith $endsWithi'

rule('filters.27', 'S027 an object in place of a value is refused, and never drops its condition', async () => {
  const refused = async (query: string, served = magazine) => {
    const { status, body } = await served.request(`/api/articles?${query}`)
    expect([query, status, body.error?.name]).toEqual([query, 400, 'ValidationError'])
  }
  const objects = ['[a]=1', '[a][b]=1', '[$ne]=1', '[$eq]=1', '[0][a]=1', '[0]=x&filters[slug]OPERATOR[b]=1', '[100]=1']
  for (const operator of `${oneValue} $in $notIn $between $null $notNull`.split(' '))
    for (const object of objects)
      for (const served of [magazine, strapi])
        await refused(`filters[slug][${operator}]${object.replace('OPERATOR', `[${operator}]`)}`, served)
  await refused('filters[author][$eq][x]=1')
  await refused('filters[author][name][$in][x]=1')
  await refused('filters[$or][0][slug][$eq][x]=1')
  await refused('filters[$not][slug][$eq][x]=1')
  await refused('filters[slug][$not][$eq][x]=1')
  await refused('populate[author][filters][name][$eq][x]=1')
  await refused('locale[$eq][x]=1')
  await refused('locale[0][x]=en')
  expect(await slugs('filters[slug][$in][99]=nobody')).toEqual([])
})

rule('filters.28', 'a list for an operator that takes one value means any of them', async () => {
  const either = async (operator: string, first: string, second: string, attribute: string) => {
    const condition = `filters[${attribute}][${operator}]`
    const [one, other] = [await slugs(`${condition}=${first}`), await slugs(`${condition}=${second}`)]
    const whole = (await slugs('')).filter((slug) => one.includes(slug) || other.includes(slug))
    for (const list of [`${condition}[0]=${first}&${condition}[1]=${second}`, `${condition}=${second}&${condition}=${first}`])
      expect([list, await slugs(list)]).toEqual([list, whole])
    const excluded = (await slugs('')).filter((slug) => !whole.includes(slug))
    const not = `filters[$not][${attribute}][${operator}]`
    expect([not, await slugs(`${not}[0]=${first}&${not}[1]=${second}`)]).toEqual([not, excluded])
  }
  for (const operator of oneValue.split(' ')) await either(operator, 'a', 's', 'slug')
  for (const operator of ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte']) await either(operator, '5', '12', 'readingMinutes')
})

rule('filters.9', 'a parameter without = is null: no value for whole values, the text null for parts of them', async () => {
  for (const attribute of ['text', 'choice', 'whole', 'moment']) {
    const found = (operator: string, form: string) => samples(`filters[${attribute}][${operator}]${form}`)
    for (const form of ['', '[]', '[0]']) {
      for (const operator of ['$eq', '$eqi']) expect([operator, form, await found(operator, form)]).toEqual([operator, form, ['nothing']])
      for (const operator of ['$ne', '$nei', '$notContains', '$notContainsi'])
        expect([operator, form, await found(operator, form)]).toEqual([operator, form, ['first', 'second', 'third']])
    }
    for (const operator of ['$contains', '$containsi', '$startsWith', '$endsWithi'])
      expect([operator, await found(operator, '')]).toEqual([operator, []])
  }
})

rule('filters.28', 'nothing in the list means no value, a list for $null means true', async () => {
  const found = async (query: string) => (await magazine.request(`/api/articles?pagination[pageSize]=100&${query}`)).body.data.length
  const without = await found('filters[readingMinutes][$null]=true')
  const five = await found('filters[readingMinutes]=5')
  expect(await found('filters[readingMinutes][$eq][0]=5&filters[readingMinutes][$eq][1]')).toBe(without + five)
  expect(await found('filters[readingMinutes][$null][0]=false')).toBe(without)
})

rule('filters.28', 'a list inside a list is any of them for texts, and refused where values have a type', async () => {
  const texts = 'filters[slug][$startsWith]'
  expect(await slugs(`${texts}[0][0]=a&${texts}[0][1]=s`)).toEqual(await slugs(`${texts}[0]=a&${texts}[1]=s`))
  const typed = 'filters[readingMinutes][$lt]'
  expect((await magazine.request(`/api/articles?${typed}[0][0]=1&${typed}[0][1]=5`)).status).toBe(400)
})

rule('filters.29', 'a list inside a logical operator means all of its members', async () => {
  const between = where(({ readingMinutes }) => readingMinutes > 3 && readingMinutes < 10)
  const members = (place: string) => `filters${place}[0][readingMinutes][$gt]=3&filters${place}[1][readingMinutes][$lt]=10`
  for (const place of ['[$or][0]', '[$or][0][0]', '[$and][0]', '[$and]'])
    expect([place, await slugs(members(place))]).toEqual([place, between])
  expect(await slugs(`filters[$or][0][slug]=nobody&${members('[$or][1]')}`)).toEqual(between)
  const others = where(({ readingMinutes }) => !(readingMinutes > 3 && readingMinutes < 10))
  for (const place of ['[$not]', '[$not][0]', '[$not][$and]']) expect([place, await slugs(members(place))]).toEqual([place, others])
  expect(await slugs('filters[readingMinutes][$not][0][$gt]=3&filters[readingMinutes][$not][1][$lt]=10')).toEqual(others)
})
