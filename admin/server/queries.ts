// Reads of the API as queries of the page's cache. The key of a query is its path, the parameters of the path, and the query.
import { QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiFailure, type Body, type Data, type MethodOf, type Path, type RequestOptions, request } from './client.js'
import { Offline } from './connection.js'

/** The paths that can be read. */
type ReadPath = { [P in Path]: 'GET' extends MethodOf<P> ? P : never }[Path]
type GetOptions<P extends ReadPath> = Pick<RequestOptions<P, 'GET' & MethodOf<P>>, 'path' | 'query'>

/** A read as a query: its data is the body of the response. */
export const readQuery = <P extends ReadPath>(path: P, { path: params, query }: GetOptions<P> = {}) =>
  queryOptions({
    queryKey: [path, (params ?? {}) as Readonly<Record<string, unknown>>, (query ?? {}) as Readonly<Record<string, unknown>>] as const,
    queryFn: ({ signal }): Promise<Body<P, 'GET' & MethodOf<P>>> =>
      request('GET' as 'GET' & MethodOf<P>, path, { path: params, query, signal } as RequestOptions<P, 'GET' & MethodOf<P>>),
  })

/** All that the shell needs: me, types, locales, rights, settings, versions. */
export const startQuery = () => ({ ...readQuery('/start'), staleTime: 60_000 })

/** A type with its components, layouts, and what one may do with it. */
export const typeQuery = (type: string) => ({ ...readQuery('/types/{type}', { path: { type } }), staleTime: 60_000 })

type ListQuery = GetOptions<'/content/{type}'>['query']
/** A page of documents. */
export const listQuery = (type: string, query: ListQuery = {}) => readQuery('/content/{type}', { path: { type }, query })

/** The number of documents of a list. */
export const totalQuery = (type: string, query: GetOptions<'/content/{type}/total'>['query'] = {}) =>
  readQuery('/content/{type}/total', { path: { type }, query })

/** A document in a locale; null: the default one. */
export const documentQuery = (type: string, document: string, locale: string | null) =>
  readQuery('/content/{type}/{document}', { path: { type, document }, query: locale === null ? {} : { locale } })

/** The lists and numbers of the home screen. */
export const homeQuery = () => readQuery('/home', { query: { offset: new Date().getTimezoneOffset() } })

/** Scheduled actions on all documents. */
export const scheduleQuery = () => readQuery('/schedule')

/** Types, documents and files by a text. */
export const findQuery = (text: string) => readQuery('/find', { query: { q: text, limit: 10 } })

const maxDelayMs = 15_000

/** Reads are repeated while the service cannot be reached; what the service refuses is not. */
const mayRepeat = (count: number, error: Error): boolean => error instanceof Offline || (count < 2 && !(error instanceof ApiFailure))

/** The cache of the page. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        retry: mayRepeat,
        retryDelay: (count) => Math.min(maxDelayMs, 500 * 2 ** count),
        staleTime: 10_000,
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  })

/** True if a role may create or publish documents in a language; a document may allow less. */
export const mayIn = (
  { actions, locales }: Pick<Data<'/types/{type}', 'GET'>, 'actions' | 'locales'>,
  action: 'create' | 'publish',
  locale: string | null,
): boolean => actions.includes(action) && (locale === null || locales[action]?.includes(locale) !== false)
