// The addresses of the page below its path, and the state of a list in them.
import { type QueryData, readQuery, writeQuery } from './server/query-string.js'

export { pagePath } from './server/page-path.js'

/** Uids stay legible: `api::article.article`. */
const part = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':')

/** The document of an address that makes a new one. */
export const newDocument = 'new'

/** Every address; parameters are escaped. */
export const addresses = {
  home: () => '/',
  signIn: () => '/sign-in',
  first: () => '/first',
  forgot: () => '/forgot',
  reset: (code: string) => `/reset/${part(code)}`,
  invitation: (code: string) => `/invitation/${part(code)}`,
  list: (type: string, state: Partial<ListState> = {}) => withSearch(`/content/${part(type)}`, writeListState(state)),
  /** The editor; `locale` null: the default one. */
  document: (type: string, document: string, locale: string | null = null, more: Readonly<Record<string, unknown>> = {}) =>
    withSearch(`/content/${part(type)}/${part(document)}`, writeQuery({ locale, ...more })),
  create: (type: string, locale: string | null = null, more: Readonly<Record<string, unknown>> = {}) =>
    withSearch(`/content/${part(type)}/${newDocument}`, writeQuery({ locale, ...more })),
  compare: (type: string, document: string, sides: { readonly left?: string; readonly right?: string; readonly locale?: string } = {}) =>
    withSearch(`/content/${part(type)}/${part(document)}/compare`, writeQuery(sides)),
} as const

const withSearch = (path: string, search: string): string => (search === '' ? path : `${path}?${search}`)

/** The addresses as patterns of the router. */
export const patterns = {
  first: '/first',
  forgot: '/forgot',
  reset: '/reset/:code',
  invitation: '/invitation/:code',
  home: '/',
  list: '/content/:type',
  document: '/content/:type/:document',
  compare: '/content/:type/:document/compare',
} as const

/** The state of a list. Null: the list's own default. */
export interface ListState {
  readonly q: string
  /** As in the API: `{ title: { $containsi: 'tea' } }`. */
  readonly filters: QueryData | null
  readonly sort: string | null
  readonly columns: readonly string[] | null
  /** `comfortable` or `compact`. */
  readonly density: string | null
  readonly locale: string | null
  /** The id of a view. */
  readonly view: string | null
  /** A tab by state: `draft`, `changed`, `published`. */
  readonly state: string | null
  readonly after: string | null
  readonly before: string | null
}

const emptyList: ListState = {
  q: '',
  filters: null,
  sort: null,
  columns: null,
  density: null,
  locale: null,
  view: null,
  state: null,
  after: null,
  before: null,
}

/** The search part of a list's address. */
export function writeListState({ q, columns, ...state }: Partial<ListState>): string {
  return writeQuery({ ...(q === '' ? {} : { q }), ...state, columns: columns?.join(',') })
}

/** The state of a list from the search part of its address; unknown parameters are ignored. */
export function readListState(search: string): ListState {
  const { q, filters, columns, ...given } = readQuery(search)
  const texts = Object.fromEntries(
    (['sort', 'density', 'locale', 'view', 'state', 'after', 'before'] as const).map((name) => [name, textOrNull(given[name])]),
  )
  return {
    ...emptyList,
    ...texts,
    q: textOrNull(q) ?? '',
    filters: typeof filters === 'object' ? filters : null,
    columns: textOrNull(columns)?.split(',').filter(Boolean) ?? null,
  }
}

const textOrNull = (value: QueryData | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)
