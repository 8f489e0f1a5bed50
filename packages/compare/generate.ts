// Requests made from the content model: lists, pages, orders, documents, drafts and locales of all types that a caller may read.
import { isRecord } from './difference.js'
import type { KnownModel, KnownType } from './known-model.js'
import { type ComparedRequest, get } from './request.js'

/** Asks Strapi for something as a caller; null if the response is not 200 with JSON. */
export type Look = (path: string, caller: string) => Promise<unknown>

/** Orders by at most that many attributes of a type, and at most that many locales. */
const [mostOrders, mostLocales] = [3, 10]

const sortable = new Set([
  'string',
  'uid',
  'email',
  'enumeration',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'date',
  'datetime',
  'time',
  'boolean',
])

/** Yields requests for each caller and type. What a caller may not read is asked for once. */
export async function* generateRequests(
  model: KnownModel,
  prefix: string,
  callers: readonly string[],
  look: Look,
): AsyncGenerator<ComparedRequest> {
  for (const caller of callers) {
    for (const path of ['i18n/locales', 'users/me', 'users', 'upload/files']) yield get(`${prefix}/${path}`, caller)
    const file = firstFile(await look(`${prefix}/upload/files`, caller))
    if (file !== null) yield get(file, caller)
    const locales = localesOf(await look(`${prefix}/i18n/locales`, caller))
    for (const type of model.types.values()) {
      const path = `${prefix}/${type.segment}`
      yield get(path, caller)
      const body = await look(path, caller)
      const draft = type.hasDrafts ? await look(`${path}?status=draft`, caller) : null
      if (type.hasDrafts) yield get(`${path}?status=draft`, caller)
      if (body === null && draft === null) continue
      for (const query of [...queriesOf(type), ...languagesOf(type, [...locales, ...localesIn(body)])])
        yield get(`${path}?${query}`, caller)
      if (!type.isSingle) yield* documentsOf(path, type, [body, draft], caller)
    }
  }
}

function queriesOf({ attributes, isSingle, hasDrafts }: KnownType): readonly string[] {
  const draft = hasDrafts ? ['status=draft&populate=*'] : []
  if (isSingle) return ['populate=*', ...draft]
  const orders = Object.entries(attributes)
    .filter(([, { type, private: isPrivate }]) => sortable.has(type) && isPrivate !== true)
    .slice(0, mostOrders)
    .map(([name], index) => `sort=${encodeURIComponent(name)}:${index % 2 === 0 ? 'asc' : 'desc'}`)
  return [
    'populate=*',
    ...draft,
    'pagination[page]=2&pagination[pageSize]=3&sort=id',
    'pagination[start]=1&pagination[limit]=2&sort=id:desc',
    ...orders,
    'sort=updatedAt:desc',
  ]
}

const languagesOf = ({ isLocalized }: KnownType, locales: readonly string[]): readonly string[] =>
  isLocalized
    ? ['locale=*&sort=id', ...[...new Set(locales)].slice(0, mostLocales).map((code) => `locale=${encodeURIComponent(code)}`)]
    : []

function* documentsOf(path: string, { hasDrafts }: KnownType, bodies: readonly unknown[], caller: string): Generator<ComparedRequest> {
  const [published, draft] = bodies.map(firstDocument)
  const id = published ?? draft
  if (id === null || id === undefined) return
  const document = `${path}/${encodeURIComponent(id)}`
  yield get(document, caller)
  yield get(`${document}?populate=*`, caller)
  if (hasDrafts) yield get(`${document}?status=draft`, caller)
}

const firstDocument = (body: unknown): string | null => {
  const [first] = entriesOf(body)
  return typeof first?.documentId === 'string' ? first.documentId : null
}

const localesIn = (body: unknown): readonly string[] =>
  entriesOf(body).flatMap(({ locale }) => (typeof locale === 'string' ? [locale] : []))

const localesOf = (body: unknown): readonly string[] =>
  Array.isArray(body) ? body.flatMap((entry: unknown) => (isRecord(entry) && typeof entry.code === 'string' ? [entry.code] : [])) : []

/** The address of the first file that the services themselves serve. */
function firstFile(body: unknown): string | null {
  const urls = Array.isArray(body) ? body.flatMap((entry: unknown) => (isRecord(entry) ? [entry.url] : [])) : []
  return (urls.find((url) => typeof url === 'string' && url.startsWith('/uploads/')) as string | undefined) ?? null
}

function entriesOf(body: unknown): readonly Readonly<Record<string, unknown>>[] {
  const data = isRecord(body) ? body.data : null
  return Array.isArray(data) ? data.filter(isRecord) : isRecord(data) ? [data] : []
}
