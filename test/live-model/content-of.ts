// The content of a random model as the API returns it, and random content for it.
import type { TestResponse } from '../support/serve.js'
import { type Chances, pluralOf, type RandomChange, type RandomModel, sidesOf } from './random-model.js'
import { firstWritten } from './readers-and-writers.js'

export type Send = (method: string, path: string, body?: object) => Promise<TestResponse>

type Values = Readonly<Record<string, unknown>>
/** Documents by `type status`, without those of concurrent writers. */
export type Content = Readonly<Record<string, readonly Values[]>>

const left = new Set(['id', 'createdAt', 'updatedAt', 'publishedAt', 'localizations'])

/** A value as it is compared: a related document by its id, a component without that of its row. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('documentId' in value) return value.documentId
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'id'))
}

/** Reads all documents that only the changes of the model and `fill` write. */
export async function contentOf(send: Send, model: RandomModel): Promise<Content> {
  const content: Record<string, readonly Values[]> = {}
  for (const [name, { localized }] of Object.entries(model.types)) {
    for (const status of ['published', 'draft']) {
      const own = `filters[number][$lt]=${firstWritten}&sort[0]=number${localized ? '&sort[1]=locale&locale=*' : ''}`
      const answer = await send('GET', `/api/${pluralOf(name)}?populate=*&${own}&status=${status}&pagination[pageSize]=100`)
      if (answer.status !== 200) throw new Error(answer.text)
      content[`${name} ${status}`] = answer.body.data.map((row: Values) =>
        Object.fromEntries(
          Object.entries(row)
            .filter(([key]) => !left.has(key))
            .map(([key, value]) => [key, key === 'documentId' ? value : plain(value)]),
        ),
      )
    }
  }
  return content
}

const inDefaultLocale = (rows: readonly Values[]) => rows.filter(({ locale = 'en' }) => locale === 'en')

/** Content that a change should preserve: published documents in the default locale, their attributes by the later names. */
export function expectedAfter(before: Content, former: RandomModel, { model, renames, touched }: RandomChange): Content {
  const expected: Record<string, readonly Values[]> = {}
  for (const name of Object.keys(model.types)) {
    const renamed = renames.find(({ kind, to }) => kind === 'type' && to === `api::${name}.${name}`)
    const earlier = renamed === undefined ? name : renamed.from!.slice(renamed.from!.indexOf('.') + 1)
    if (!Object.hasOwn(former.types, earlier)) continue
    const later = Object.keys(model.types[name]!.attributes).concat(sidesOf(model, name).map((side) => side.name))
    const kept = ['documentId', 'number', ...later.filter((attribute) => !touched.includes(`${name}.${attribute}`))]
    const formerName = (attribute: string) =>
      renames.find(({ kind, schema, to }) => kind === 'attribute' && schema === `api::${earlier}.${earlier}` && to === attribute)?.from ??
      attribute
    expected[`${name} published`] = inDefaultLocale(before[`${earlier} published`]!).map((row) =>
      Object.fromEntries(kept.map((attribute) => [attribute, row[formerName(attribute)]])),
    )
  }
  return expected
}

/** The same of what there is. */
export function foundAfter(after: Content, expected: Content): Content {
  const found = Object.entries(expected).map(([name, rows]) => {
    const keys = Object.keys(rows[0] ?? {})
    const own = inDefaultLocale(after[name]!)
    return [name, own.map((row) => Object.fromEntries(keys.map((key) => [key, row[key]])))] as const
  })
  return Object.fromEntries(found)
}

const texts = [
  'one',
  'two',
  '12',
  '-3.5',
  'true',
  '2026-01-02',
  '2026-01-02T03:04:05.000Z',
  '10:20:30.000',
  'a longer text: äöü',
  '{"a":[1]}',
]
const parts = [{ text: 'first' }, { text: '7' }]

/** Random values by the types of attributes. */
const valuesOf: Readonly<Record<string, (by: Chances) => unknown>> = {
  ...Object.fromEntries(['string', 'text', 'richtext'].map((type) => [type, ({ pick }: Chances) => pick(texts)])),
  email: ({ pick }) => pick(['a@example.com', 'b@example.com']),
  enumeration: ({ pick }) => pick(['one', 'two']),
  integer: ({ below }) => below(2_000) - 1_000,
  biginteger: ({ pick }) => pick(['9007199254740993', '5', '-12']),
  float: ({ below }) => below(100) / 4,
  decimal: ({ below }) => below(1_000) / 4,
  boolean: ({ is }) => is(0.5),
  date: ({ pick }) => pick(['2026-01-02', '1999-12-31']),
  time: ({ pick }) => pick(['10:20:30.000', '00:00:00.000']),
  datetime: ({ pick }) => pick(['2026-01-02T03:04:05.000Z', '2001-01-01T00:00:00.000Z']),
  json: ({ pick }) => pick([[1, 'two'], { a: null }, 'text', 12, true]),
  dynamiczone: ({ some }) => some(['note', 'mark']).map((name) => ({ __component: `part.${name}`, text: name })),
}

/** Writes random values into a random document, now and then as a draft, in another locale, or into a new one. */
export async function fill(send: Send, model: RandomModel, content: Content, by: Chances, number: number): Promise<TestResponse> {
  const name = by.pick(Object.keys(model.types))
  const { attributes, drafts, localized } = model.types[name]!
  const query = [...(drafts && by.is(0.4) ? ['status=draft'] : []), ...(localized && by.is(0.3) ? ['locale=de'] : [])].join('&')
  const idsIn = (rows: readonly Values[]) => [...new Set(rows.map(({ documentId }) => documentId as string))]
  const data: Record<string, unknown> = {}
  for (const [attribute, { type, repeatable }] of Object.entries(attributes)) {
    // Published values have to be valid, also if they are older than their type.
    if (type !== 'enumeration' && type !== 'email' && by.is(0.3)) continue
    if (type === 'component') data[attribute] = repeatable === true ? by.some(parts) : by.pick(parts)
    else data[attribute] = by.is(0.15) && type !== 'dynamiczone' ? null : (valuesOf[String(type)]?.(by) ?? null)
  }
  for (const { name: attribute, kind, target, link } of sidesOf(model, name)) {
    if (by.is(0.3) || link.isFixed || query.includes('locale')) continue
    const ids = by.some(idsIn(inDefaultLocale(content[`${target} published`]!)))
    data[attribute] = kind.endsWith('Many') ? ids : (ids[0] ?? null)
  }
  const existing = idsIn([...content[`${name} published`]!, ...content[`${name} draft`]!])
  const isNew = existing.length === 0 || (existing.length < 8 && by.is(0.3))
  const path = `/api/${pluralOf(name)}${isNew ? '' : `/${by.pick(existing)}`}?${query}`
  return send(isNew ? 'POST' : 'PUT', path, { data: isNew ? { ...data, number } : data })
}
