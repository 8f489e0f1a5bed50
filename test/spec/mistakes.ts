// Frequent errors in requests to the example magazine, each with the hint that corrects it at once.
import type { Served, TestResponse } from '../support/serve.js'

/** Ids of the example, which differ from one database to the next. */
export interface Ids {
  /** Of a published article, its version's row id and its slug. */
  readonly article: string
  readonly row: number
  readonly slug: string
  /** Of an article that is a draft only. */
  readonly draft: string
  /** Of an author with a name. */
  readonly author: string
  readonly authorName: string
}

export interface Mistake {
  readonly name: string
  /** The rule that it belongs to. */
  readonly group: 'hints.4' | 'hints.5' | 'hints.6' | 'hints.7' | 'hints.8'
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A full-access token, unless it names another. */
  readonly token?: 'full' | 'desk' | 'reader'
  /** JSON, or a text that is sent as it is. */
  readonly body?: unknown
  readonly form?: Readonly<Record<string, string>>
  readonly status: number
  /** All of these are in the hint. */
  readonly hint: readonly string[]
  /** Only with this contract; in both otherwise. */
  readonly contract?: 'specification' | 'strapi'
}

const json = { 'content-type': 'application/json' }
const blocks = [{ type: 'paragraph', children: [{ type: 'text', text: 'x' }] }]
const summary = 'Words enough for a summary that the schema takes for one.'
const whole = { title: 'A mistake', slug: 'a-mistake', summary, body: blocks }

type Row = Omit<Mistake, 'group'>

const refused = (path: string, ...hint: readonly string[]): Row => ({ name: path, path, status: 400, hint })

/** Names that another level has, or none. */
const insideOfPopulate: readonly Row[] = [
  refused('/api/articles?populate[author][fields]=title', 'author has no "title"', 'populate[author][populate][articles][fields][0]=title'),
  refused('/api/articles?populate[author][fields]=titel', 'author has no "titel". It has name, slug'),
  refused('/api/articles?populate[author][fields]=portrait', 'populate[author][populate]=portrait'),
  refused('/api/articles?populate[author][sort]=-name', 'write populate[author][sort]=name:desc'),
  refused('/api/articles?populate[author][filters][name_contains]=x', 'write populate[author][filters][name][$contains]=…'),
  refused('/api/articles?populate[author][filters][articles][titel]=x', 'article has no "titel"', 'Did you mean "title"?'),
  refused('/api/articles?populate[author][populate][portrait][fields]=nam', 'file has no "nam"', 'Did you mean "name"?'),
  refused('/api/articles?populate[author][portrai]=true', 'populate[author][populate][0]=portrait'),
  refused('/api/articles?populate=author.portrai', 'Did you mean populate=author.portrait?'),
  refused('/api/articles?populate[extras][on][block.quote][fields]=txt', 'block.quote has no "txt"', 'Did you mean "text"?'),
  refused('/api/articles?populate[extras][on][block.quot]=true', 'Did you mean "block.quote"?'),
  refused('/api/articles?populate[extras][populate]=person', 'populate[extras][on][block.text]'),
]

const names: readonly Row[] = [
  {
    name: 'star beside a name',
    path: '/api/articles?populate=*&populate=author',
    status: 400,
    hint: ['"*" stands alone', 'populate[0]=author'],
  },
  { name: 'operator as a suffix', path: '/api/articles?filters[title_contains]=x', status: 400, hint: ['filters[title][$contains]=…'] },
  { name: 'order behind a comma', path: '/api/articles?sort=title,asc', status: 400, hint: ['write sort=title:asc'] },
  { name: 'order behind a space', path: '/api/articles?sort=title%20desc', status: 400, hint: ['write sort=title:desc'] },
  {
    name: '$or without a list',
    path: '/api/articles?filters[$or][title]=x&filters[$or][slug]=y',
    status: 400,
    hint: ['filters[$or][0][title]=…&filters[$or][1][slug]=…'],
  },
  {
    name: 'page without its object',
    path: '/api/articles?page=2&pageSize=3',
    status: 400,
    hint: ['pagination[page]=2&pagination[pageSize]=3'],
  },
  {
    name: 'a name in another case',
    path: '/api/articles?filters[tags][name]=wATER',
    status: 200,
    hint: ['No tag has the name "wATER"', '"Water"', '$eqi ignores case'],
  },
  { name: 'a name with a typo', path: '/api/articles?filters[tags][name]=Wather', status: 200, hint: ['Did you mean "Water"?'] },
  {
    name: 'a text operator on a relation',
    path: '/api/articles?filters[tags][$contains]=water',
    status: 200,
    hint: ['filters[tags][name][$contains]=water'],
  },
  {
    name: 'a range as a text',
    path: '/api/articles?filters[readingMinutes][$between]=5,10',
    status: 400,
    hint: ['filters[readingMinutes][$between][0]=5&filters[readingMinutes][$between][1]=10'],
  },
  { name: 'typo in fields', path: '/api/articles?fields=titel', status: 400, hint: ['article has no "titel"', 'Did you mean "title"?'] },
  { name: 'typo in filters', path: '/api/articles?filters[autor][name]=x', status: 400, hint: ['Did you mean "author"?'] },
  { name: 'typo in sort', path: '/api/articles?sort=reported_on', status: 400, hint: ['Did you mean "reportedOn"?'] },
  { name: 'typo in populate', path: '/api/articles?populate=authors', status: 400, hint: ['Did you mean "author"?'] },
  { name: 'name that nothing resembles', path: '/api/articles?sort=xyzzy', status: 400, hint: ['It has title, slug'] },
  {
    name: 'typo behind a relation',
    path: '/api/articles?filters[author][nme]=x',
    status: 400,
    hint: ['author has no "nme"', 'Did you mean "name"?'],
  },
  { name: 'typo inside of a populate', path: '/api/articles?populate[author][fields]=nam', status: 400, hint: ['Did you mean "name"?'] },
  {
    name: 'attribute of a related type',
    path: '/api/articles?filters[portrait]=x',
    status: 400,
    hint: ['"author" has it: write filters[author][portrait]'],
  },
  {
    name: 'operator with a typo',
    path: '/api/articles?filters[title][$contain]=x',
    status: 400,
    hint: ['no operator "$contain"', 'filters[title][$contains]?', '$startsWithi'],
  },
  {
    name: 'operator without $',
    path: '/api/articles?filters[title][contains]=x',
    status: 400,
    hint: ['operators start with "$"', 'filters[title][$contains]?'],
  },
  { name: 'operator of SQL', path: '/api/articles?filters[title][$like]=x', status: 400, hint: ['[$contains]?'] },
  { name: 'descending as -title', path: '/api/articles?sort=-title', status: 400, hint: ['sort=title:desc'] },
  { name: 'private attribute', path: '/api/articles?filters[editorNote]=x', status: 400, hint: ['"editorNote" exists', '"private": true'] },
  {
    name: 'private attribute in fields',
    path: '/api/articles?fields=editorNote',
    status: 400,
    hint: ['"editorNote" exists', '"private": true'],
  },
  { name: 'populate of a scalar', path: '/api/articles?populate=title', status: 400, hint: ['"title" is a string', 'fields=title'] },
  {
    name: 'fields of a relation',
    path: '/api/articles?fields=author',
    status: 400,
    hint: ['"author" is a relation to author', 'populate=author'],
  },
  { name: 'populate=deep', path: '/api/articles?populate=deep', status: 400, hint: ['plugin', 'populate=*'] },
  { name: 'populate=deep,3', path: '/api/articles?populate=deep,3', status: 400, hint: ['plugin', 'populate=*'] },
  { name: 'populate=true', path: '/api/articles?populate=true', status: 400, hint: ['populate=*'] },
  { name: 'star below a relation', path: '/api/articles?populate[author]=*', status: 400, hint: ['populate[author][populate]=*'] },
  {
    name: 'star below a zone',
    path: '/api/articles?populate[extras]=*',
    status: 400,
    hint: ['populate[extras][populate]=*', 'populate[extras][on][block.text]'],
  },
  {
    name: 'component without its category',
    path: '/api/articles?populate[extras][on][quote]=true',
    status: 400,
    hint: ['Did you mean "block.quote"?'],
  },
  {
    name: 'attribute in place of a level',
    path: '/api/articles?populate[author][portrait]=true',
    status: 400,
    hint: ['populate[author][populate][portrait]=true'],
  },
  {
    name: 'scalar in place of a level',
    path: '/api/articles?populate[author][name]=true',
    status: 400,
    hint: ['populate[author][fields][0]=name'],
  },
  {
    name: 'pagination inside of populate',
    path: '/api/articles?populate[tags][pagination][pageSize]=2',
    status: 400,
    hint: ['"pagination" does not exist inside of populate', '/tags?filters[articles][documentId]'],
  },
  {
    name: 'limit inside of populate',
    path: '/api/articles?populate[tags][limit]=2',
    status: 400,
    hint: ['"limit" does not exist inside of populate'],
  },
  { name: 'locale inside of populate', path: '/api/articles?populate[tags][locale]=de', status: 400, hint: ['locale=…'] },
  { name: 'filter on a zone', path: '/api/articles?filters[extras][text]=x', status: 400, hint: ['"extras" is a dynamic zone'] },
  {
    name: 'filter on a relation without permission',
    path: '/api/articles?filters[pitch][title]=x',
    status: 400,
    hint: ['"pitch" exists', 'octavo roles grant public api::pitch.pitch.find'],
  },
  { name: 'sort by a relation', path: '/api/articles?sort=author', status: 400, hint: ['sort=author.name'] },
  ...insideOfPopulate,
  { name: 'a parameter in the filters', path: '/api/articles?filters[status]=draft', status: 400, hint: ['Write status=…'] },
  { name: 'populate=none', path: '/api/articles?populate=none', status: 400, hint: ['leave it out'] },
  { name: 'a star as a key', path: '/api/articles?populate[*]=true', status: 400, hint: ['write populate=*'] },
  { name: 'the creator', path: '/api/articles?populate=createdBy', status: 400, hint: ['"populateCreatorFields": true'] },
  { name: 'fields as an object', path: '/api/articles?fields[title]=true', status: 400, hint: ['write fields=title'] },
  { name: 'fields in a list with commas', path: '/api/articles?fields[0]=title,slug', status: 400, hint: ['fields=title,slug'] },
]

const parameters: readonly Row[] = [
  {
    name: 'populate without permission',
    path: '/api/articles?populate=pitch',
    status: 200,
    hint: ['Left out of populate: pitch', 'octavo roles grant public api::pitch.pitch.find'],
  },
  { name: 'populate=* without permission', path: '/api/articles?populate=*', status: 200, hint: ['Left out of populate: pitch'] },
  {
    name: 'populate without permission, further in',
    path: '/api/tags?populate[articles][populate][0]=pitch',
    status: 200,
    hint: ['Left out of populate: articles.pitch'],
  },
  { name: 'filter in the singular', path: '/api/articles?filter[title]=x', status: 200, hint: ['Ignored: filter (did you mean filters?)'] },
  { name: 'attribute as a parameter', path: '/api/articles?title=x', status: 200, hint: ['filters[title][$eq]=x'] },
  { name: '_limit', path: '/api/articles?_limit=5', status: 200, hint: ['pagination[pageSize]'] },
  { name: 'limit', path: '/api/articles?limit=5', status: 200, hint: ['pagination[pageSize]'] },
  { name: 'publicationState', path: '/api/articles?publicationState=preview', status: 200, hint: ['status=draft'] },
  { name: 'pLevel', path: '/api/articles?pLevel=3', status: 200, hint: ['populate'] },
  {
    name: '_sort and populates',
    path: '/api/articles?_sort=title&populates=author',
    status: 200,
    hint: ['write sort=title', 'populate=author'],
  },
  { name: 'a parameter with a typo', path: '/api/articles?paginaton[page]=2', status: 200, hint: ['did you mean pagination?'] },
  { name: 'pagination with a typo', path: '/api/articles?pagination[pagesize]=2', status: 200, hint: ['did you mean pageSize?'] },
  { name: 'a token in the query', path: '/api/articles?access_token=x', status: 200, hint: ['Authorization: Bearer'] },
  {
    name: 'a page that is too large',
    path: '/api/articles?pagination[pageSize]=1000',
    status: 200,
    hint: ['cut to 100', 'api.rest.maxLimit'],
  },
  { name: 'a page of -1', path: '/api/articles?pagination[pageSize]=-1', status: 200, hint: ['raised to 1'] },
  { name: 'a page that is no number', path: '/api/articles?pagination[limit]=abc', status: 200, hint: ['not a number'] },
  { name: 'page zero', path: '/api/articles?pagination[page]=0', status: 200, hint: ['pagination[page]=0 is raised to 1'] },
  { name: 'a status with a typo', path: '/api/articles?status=drafts', status: 200, contract: 'strapi', hint: ['taken for draft'] },
  {
    name: 'an unknown locale',
    path: '/api/articles?locale=xx',
    status: 200,
    hint: ['no locale "xx"', 'en (default)', 'octavo locales add xx'],
  },
  { name: 'all locales', path: '/api/articles?locale=all', status: 200, hint: ['locale=*'] },
  { name: 'publicationState of version 3', path: '/api/articles?_publicationState=live', status: 200, hint: ['status=published'] },
  refused('/api/articles?pagination[page]=two', 'pagination[page] is a whole number, not "two"'),
  refused(
    '/api/articles?filters[readingMinutes][$between]=5',
    'filters[readingMinutes][$between][0]=5&filters[readingMinutes][$between][1]=…',
  ),
  refused('/api/articles?filters[$not]=x', 'write filters[$not]'),
  refused('/api/articles?filters=title', 'write filters[title][$eq]=…'),
  { name: 'a locale in capitals', path: '/api/articles?locale=DE', status: 200, hint: ['Did you mean "de"?'] },
  { name: 'a locale with its country', path: '/api/articles?locale=en-US', status: 200, hint: ['Did you mean "en"?'] },
  { name: 'a locale of a type without locales', path: '/api/setting?locale=de', status: 200, hint: ['setting is not localized'] },
]

const values = ({ author }: Ids): readonly Row[] => [
  {
    name: 'a relation compared with a documentId',
    path: `/api/articles?filters[author]=${author}`,
    status: 200,
    hint: [`filters[author][documentId][$eq]=${author}`],
  },
  {
    name: 'a relation compared with a name',
    path: '/api/articles?filters[author][$eq]=Maria',
    status: 200,
    hint: ['row ids', 'filters[author][name][$eq]=Maria'],
  },
  { name: 'a row id in place of a documentId', path: '/api/articles?filters[documentId]=2', status: 200, hint: ['filters[id]=2'] },
  {
    name: 'an enumeration with a typo',
    path: '/api/articles?filters[format]=gude',
    status: 200,
    hint: ['Did you mean "guide"?', 'report, essay'],
  },
  {
    name: 'a flag in words',
    path: '/api/articles?filters[featured]=no',
    status: 200,
    contract: 'strapi',
    hint: ['counts as true', 'true or false'],
  },
  {
    name: 'a flag in words where booleans are strict',
    path: '/api/articles?filters[featured]=no',
    status: 400,
    contract: 'specification',
    hint: ['filters[featured]=no', 'true or false'],
  },
  { name: '$null in words', path: '/api/articles?filters[author][$null]=nein', status: 200, hint: ['counts as true'] },
  {
    name: 'a list with commas',
    path: '/api/articles?filters[format][$in]=guide,report',
    status: 200,
    hint: ['filters[format][$in][0]=guide&filters[format][$in][1]=report'],
  },
  {
    name: 'a negated list with commas',
    path: '/api/articles?filters[format][$ne]=guide,report',
    status: 200,
    hint: ['filters[format][$notIn][0]=guide&filters[format][$notIn][1]=report'],
  },
  {
    name: 'a negated wildcard',
    path: '/api/articles?filters[title][$notContains]=%25light%25',
    status: 200,
    hint: ['$notContains with "light"'],
  },
  { name: 'the word null', path: '/api/articles?filters[kicker]=null', status: 200, hint: ['filters[kicker][$null]=true'] },
  {
    name: 'the word undefined',
    path: '/api/articles?filters[slug][$eq]=undefined',
    status: 200,
    hint: ['variable without a value for slug'],
  },
  { name: 'a wildcard', path: '/api/articles?filters[title][$contains]=%25light%25', status: 200, hint: ['"light"'] },
  {
    name: 'a date in words',
    path: '/api/articles?filters[reportedOn][$gte]=yesterday',
    status: 400,
    hint: ['filters[reportedOn][$gte]', 'type date', '2026-11-24'],
  },
  {
    name: 'a date in words, in $or',
    path: '/api/articles?filters[$or][0][reportedOn]=soon',
    status: 400,
    hint: ['filters[$or][0][reportedOn]'],
  },
  {
    name: 'a text in place of a number',
    path: '/api/articles?filters[readingMinutes]=abc',
    status: 400,
    hint: ['readingMinutes is of type integer'],
  },
]

const paths = ({ article, row, slug, draft }: Ids): readonly Row[] => [
  { name: 'GET by row id', path: `/api/articles/${row}`, status: 404, hint: [`"${row}" is a row id`, article] },
  { name: 'GET by slug', path: `/api/articles/${slug}`, status: 404, hint: ['is the slug', article] },
  { name: 'GET of a draft', path: `/api/articles/${draft}`, status: 404, hint: ['status=draft'] },
  {
    name: 'GET in a locale that the document has not',
    path: `/api/articles/${article}?locale=fr`,
    status: 404,
    hint: ['exists in en and de', 'locale=en'],
  },
  {
    name: 'GET with a filter that the document does not fulfil',
    path: `/api/articles/${article}?filters[title]=x`,
    status: 404,
    hint: ['exists, but does not fulfil'],
  },
  {
    name: 'GET of a documentId that is none',
    path: '/api/articles/abcdefghijklmnopqrstuvwx',
    status: 404,
    hint: ['No article has the documentId', '/api/articles?fields=title'],
  },
  {
    name: 'PUT by row id',
    method: 'PUT',
    path: `/api/articles/${row}?status=draft`,
    token: 'full',
    headers: json,
    body: { data: { kicker: 'x' } },
    status: 404,
    hint: ['is a row id', article],
  },
  {
    name: 'DELETE by row id',
    method: 'DELETE',
    path: `/api/articles/${row}`,
    token: 'full',
    status: 204,
    hint: ['Nothing was deleted', article],
  },
  {
    name: 'DELETE of nothing',
    method: 'DELETE',
    path: '/api/articles/nonsense',
    token: 'full',
    status: 204,
    hint: ['Nothing was deleted', 'No article has the documentId'],
  },
  { name: 'the singular of a collection type', path: '/api/article', status: 404, hint: ['/api/articles'] },
  { name: 'the plural of a single type', path: '/api/homepages', status: 404, hint: ['single type', '/api/homepage'] },
  { name: 'a single type with an id', path: '/api/homepage/1', status: 404, hint: ['has no ids', '/api/homepage'] },
  { name: 'a path without /api', path: '/articles?populate=*', status: 404, hint: ['/api/articles'] },
  { name: 'a type with a typo', path: '/api/artciles', status: 404, hint: ['Did you mean /api/articles?'] },
  { name: 'a type that is not there', path: '/api/products', status: 404, hint: ['no content-type "products"', 'articles'] },
  { name: 'a component', path: '/api/seo', status: 404, hint: ['is a component'] },
  { name: '/api alone', path: '/api', status: 404, hint: ['Name a content-type'] },
  { name: 'a count', path: '/api/articles/count', status: 404, hint: ['meta.pagination.total'] },
  { name: 'a path below a document', path: `/api/articles/${article}/author`, status: 404, hint: ['populate'] },
  { name: 'metrics', path: '/metrics', status: 404, hint: ['management.port'] },
  { name: 'documentation', path: '/documentation', status: 404, hint: ['/docs'] },
  { name: 'a provider', path: '/api/auth/google', status: 404, hint: ['/api/connect/<provider>', 'auth.providers'] },
  {
    name: 'an action without actions',
    method: 'POST',
    path: `/api/articles/${article}/publish`,
    headers: json,
    body: {},
    status: 405,
    hint: [`POST /api/articles/${article}/actions/publish`],
  },
  ...['v1/articles', 'api/articles'].map((path) => ({
    name: path,
    path: `/api/${path}`,
    status: 404,
    hint: ['below /api: /api/articles'],
  })),
  ...['/api/docs', '/openapi.json', '/api/openapi'].map((path) => ({ name: path, path, status: 404, hint: ['/api/openapi.json'] })),
  { name: 'sign-in by GET', path: '/api/auth/local', status: 404, hint: ['POST /api/auth/local'] },
  { name: 'a renewal without sessions', path: '/api/auth/refresh', status: 404, hint: ['auth.jwtManagement'] },
  { name: 'a path of accounts by GET', path: '/api/auth/forgot-password', status: 404, hint: ['takes POST'] },
  {
    name: 'PUT of the own user',
    method: 'PUT',
    path: '/api/users/me',
    headers: json,
    body: {},
    status: 405,
    hint: ['PUT /api/users/<id>'],
  },
  ...[
    ['nope', 'No article has the documentId'],
    [String(row), `POST /api/articles/${article}/actions/publish`],
  ].map(([id, hint = '']) => ({
    ...{
      name: `an action on ${id}`,
      method: 'POST',
      path: `/api/articles/${id}/actions/publish`,
      token: 'full' as const,
      status: 404,
      hint: [hint],
    },
  })),
  { name: 'a route of Strapi’s panel', path: '/admin/users/me', status: 404, hint: ['/admin/api'] },
  { name: 'GraphQL', method: 'POST', path: '/graphql', headers: json, body: {}, status: 405, hint: ['no GraphQL'] },
  { name: 'sign-in at another path', method: 'POST', path: '/api/login', headers: json, body: {}, status: 405, hint: ['/api/auth/local'] },
  { name: 'POST on a wrong path', method: 'POST', path: '/api/article', headers: json, body: {}, status: 405, hint: ['/api/articles'] },
  {
    name: 'POST on a document',
    method: 'POST',
    path: `/api/articles/${article}`,
    headers: json,
    body: {},
    status: 405,
    hint: [`PUT /api/articles/${article}`],
  },
  {
    name: 'PUT on a list',
    method: 'PUT',
    path: '/api/articles',
    headers: json,
    body: {},
    status: 405,
    hint: ['PUT /api/articles/<documentId>'],
  },
  {
    name: 'PATCH',
    method: 'PATCH',
    path: `/api/articles/${article}`,
    headers: json,
    body: {},
    status: 405,
    hint: [`PUT /api/articles/${article}`],
  },
  {
    name: 'POST on a single type',
    method: 'POST',
    path: '/api/homepage',
    headers: json,
    body: {},
    status: 405,
    hint: ['PUT /api/homepage'],
  },
  {
    name: 'an unknown action',
    method: 'POST',
    path: `/api/articles/${article}/actions/publsh`,
    token: 'full',
    status: 404,
    hint: ['Did you mean "publish"?'],
  },
  {
    name: 'GET of an action',
    path: `/api/articles/${article}/actions/publish`,
    status: 404,
    hint: [`POST /api/articles/${article}/actions/publish`],
  },
  {
    name: 'an action without a document',
    method: 'POST',
    path: '/api/articles/actions/publish',
    token: 'full',
    status: 404,
    hint: ['/api/articles/<documentId>/actions/publish'],
  },
  { name: 'a file that is not there', path: '/uploads/nothing.png', status: 404, hint: ['no such file', 'url'] },
  { name: 'a user that is not there', path: '/api/users/999', token: 'full', status: 204, hint: ['no user with the id "999"'] },
]

const callers: readonly Row[] = [
  {
    name: 'an API token for the own user',
    path: '/api/users/me',
    token: 'full',
    status: 401,
    hint: ['This is an API token', '/api/auth/local'],
  },
  { name: 'nobody for the own user', path: '/api/users/me', status: 403, hint: ['The request is anonymous', 'Bearer <jwt>'] },
  {
    name: 'a forgotten permission',
    path: '/api/pitches',
    status: 403,
    hint: ['The role "public" lacks api::pitch.pitch.find', 'npx octavo roles grant public api::pitch.pitch.find /'],
  },
  {
    name: 'a forgotten permission for one document',
    path: '/api/pitches/x',
    status: 403,
    hint: ['octavo roles grant public api::pitch.pitch.findOne'],
  },
  {
    name: 'a forgotten permission to write',
    method: 'POST',
    path: '/api/tags',
    headers: json,
    body: { data: { name: 'x' } },
    status: 403,
    hint: ['octavo roles grant public api::tag.tag.create'],
  },
  {
    name: 'a forgotten permission of a custom token',
    path: '/api/pitches',
    token: 'desk',
    status: 403,
    hint: ['"desk" is a custom one', 'octavo tokens create', 'api::tag.tag.find,api::pitch.pitch.find'],
  },
  {
    name: 'a write with a read-only token',
    method: 'POST',
    path: '/api/tags',
    token: 'reader',
    headers: json,
    body: { data: { name: 'x' } },
    status: 403,
    hint: ['"reader" is read-only', '--type full-access'],
  },
  {
    name: 'a token without Bearer',
    path: '/api/pitches',
    headers: { authorization: 'full' },
    status: 403,
    hint: ['no "Bearer"', 'Authorization: Bearer <token>'],
  },
  {
    name: 'a variable without a value in place of the token',
    path: '/api/pitches',
    headers: { authorization: 'Bearer ' },
    status: 403,
    hint: ['no token after "Bearer"'],
  },
  {
    name: 'a token without Bearer, where the public may read',
    path: '/api/tags',
    headers: { authorization: 'full' },
    status: 200,
    hint: ['no "Bearer"', 'counts as public'],
  },
  { name: 'Basic', path: '/api/pitches', headers: { authorization: 'Basic eDp5' }, status: 403, hint: ['"Basic" is not read', 'Bearer'] },
  { name: 'x-api-key', path: '/api/pitches', headers: { 'x-api-key': 'full' }, status: 403, hint: ['x-api-key is not read', 'Bearer'] },
  {
    name: 'nobody signs out',
    method: 'POST',
    path: '/api/auth/change-password',
    headers: json,
    body: {},
    status: 403,
    hint: ['The request is anonymous'],
  },
  ...['undefined', '$TOKEN'].map((token) => ({
    ...{
      name: `the text ${token} for a token`,
      path: '/api/tags',
      headers: { authorization: `Bearer ${token}` },
      status: 401,
      hint: [token, 'variable'],
    },
  })),
  { name: 'a token in quotes', path: '/api/tags', headers: { authorization: 'Bearer "abc"' }, status: 401, hint: ['quotes'] },
  {
    name: 'a wrong token',
    path: '/api/tags',
    headers: { authorization: 'Bearer nothing' },
    status: 401,
    hint: ['API_TOKEN_SALT', 'octavo tokens list'],
  },
  {
    name: 'a wrong JWT',
    path: '/api/tags',
    headers: { authorization: 'Bearer a.b.c' },
    status: 401,
    hint: ['JWT_SECRET', '/api/auth/local'],
  },
  {
    name: 'a page of another origin',
    path: '/api/tags',
    headers: { origin: 'https://elsewhere.example' },
    status: 200,
    hint: ['cors.origins', 'https://elsewhere.example'],
  },
  {
    name: 'a preflight for a header that is not listed',
    method: 'OPTIONS',
    path: '/api/tags',
    headers: { origin: 'https://reader.example', 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-mine' },
    status: 204,
    hint: ['cors.headers', 'x-mine'],
  },
]

const post = (name: string, body: unknown, hint: Row['hint'], more: Partial<Row> = {}): Row => ({
  ...{ name, method: 'POST', path: '/api/articles?status=draft', token: 'full', headers: json, body, status: 400, hint },
  ...more,
})

const bodies = ({ article, author, authorName }: Ids): readonly Row[] => [
  post('a body without data', { title: 'x' }, ['Wrap the attributes (title) in "data"']),
  post('no Content-Type', '{"data":{}}', ['no Content-Type', 'application/json'], { headers: { 'content-type': '' } }),
  post('text/plain', '{"data":{}}', ['"text/plain"', 'application/json'], { headers: { 'content-type': 'text/plain' } }),
  post('a form', 'data=x', ['read as a form', 'application/json'], { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  post('an empty body', '', ['The body is empty', '{ "data": { … } }']),
  post('data as a text', { data: JSON.stringify(whole) }, ['data is a text', 'JSON.stringify({ data: { … } })']),
  post('data as a list', { data: [whole] }, ['data is a list', 'a request for each']),
  post('the whole body as a list', [{ data: whole }], ['The body is a list']),
  post('JSON twice encoded', JSON.stringify(JSON.stringify({ data: whole })), ['encoded once']),
  post('an unknown key', { data: { ...whole, kickr: 'x' } }, ['article has no "kickr"', 'Did you mean "kicker"?']),
  post('an unknown key in a component', { data: { ...whole, seo: { metaTitel: 'x' } } }, ['shared.seo has no "metaTitel"', 'Did you mean']),
  post('an unknown key in a zone', { data: { ...whole, extras: [{ __component: 'block.quote', txt: 'x' }] } }, [
    'block.quote has no "txt"',
  ]),
  post('the documentId in a new document', { data: { ...whole, documentId: article } }, [`PUT /api/articles/<documentId>`]),
  post('status in the body', { data: { ...whole, status: 'draft' } }, ['status is a parameter of the query']),
  post('attributes as in version 4', { data: { attributes: whole } }, ['without "attributes"']),
  post('createdAt', { data: { ...whole, createdAt: '2026-01-01' } }, ['written by the service alone']),
  post('required and absent', { data: {} }, ['Required: title (a string), slug (a uid) and summary (a text)', '?status=draft'], {
    path: '/api/articles',
  }),
  post('a wrong date beside other errors', { data: { ...whole, format: 'gude', reportedOn: 'yesterday' } }, [
    'format is an enumeration',
    'Did you mean "guide"?',
    'reportedOn is of type date',
  ]),
  post('a wrong choice', { data: { ...whole, format: 'guid' } }, ['Did you mean "guide"?', 'report, essay, interview, guide and portrait']),
  post('a relation by name', { data: { ...whole, author: authorName } }, ['author:', 'is the name of an author', author]),
  post('a relation by an id that is none', { data: { ...whole, tags: ['nothing'] } }, [
    'tags: no tag has the documentId "nothing"',
    '/api/tags?fields=name',
  ]),
  post('a relation by a row id that is none', { data: { ...whole, tags: [99_999] } }, ['tags: no tag has the row id "99999"']),
  post('a file by its name', { data: { ...whole, cover: 'kiln.jpg' } }, ['cover:', 'is the name of a file', 'Write its id: ']),
  post('a file by a name that none has', { data: { ...whole, cover: 'no such picture' } }, ['cover: there is no file', 'POST /api/upload']),
  post('an entry of a zone without its component', { data: { ...whole, extras: [{ text: 'x' }] } }, [
    '"__component"',
    'block.text, block.quote',
  ]),
  post('an entry of a zone with a wrong component', { data: { ...whole, extras: [{ __component: 'quote' }] } }, [
    'Did you mean "block.quote"?',
    'block.text, block.quote, block.image, block.gallery, block.fact-box, block.timeline and block.call-to-action',
  ]),
  post('a zone as an object', { data: { ...whole, extras: { __component: 'block.quote' } } }, ['extras is a dynamic zone: a list']),
  post('blocks as a text', { data: { ...whole, body: 'Hello' } }, ['body is of type blocks', '"paragraph"'], { contract: 'specification' }),
  post(
    'blocks as a text, which is lost',
    { data: { ...whole, slug: 'lost', body: 'Hello' } },
    ['The text of body was lost', '"paragraph"'],
    { contract: 'strapi', status: 201 },
  ),
  post(
    'publishedAt in the body',
    { data: { ...whole, slug: 'published-at', publishedAt: null } },
    ['Ignored in the body: publishedAt', 'status=draft'],
    { status: 201 },
  ),
  post('locale in the body', { data: { ...whole, slug: 'locale-in-body', locale: 'de' } }, ['?locale=de'], { status: 201 }),
  post('an unknown locale', { data: whole }, ['no locale "xx"', 'en (default)'], {
    path: '/api/articles?status=draft&locale=xx',
    contract: 'specification',
  }),
  post('email in place of identifier', { email: 'a@b.example', password: 'x' }, ['"identifier"', '"email"'], {
    path: '/api/auth/local',
    token: undefined,
  }),
  post('sign-in with data around it', { data: { identifier: 'x', password: 'y' } }, ['no data around them'], {
    path: '/api/auth/local',
    token: undefined,
  }),
  post('sign-in without Content-Type', '{}', ['Content-Type'], {
    path: '/api/auth/local',
    token: undefined,
    headers: { 'content-type': 'text/plain' },
  }),
  {
    name: 'an upload in the field file',
    method: 'POST',
    path: '/api/upload',
    token: 'full',
    form: { file: 'kiln.jpg' },
    status: 400,
    hint: ['in the field "file"', '"files"'],
  },
  post('a document inside of another', { data: { ...whole, author: { name: 'Maria' } } }, [
    'author takes a documentId',
    'documents are not created inside others',
    'POST /api/authors',
  ]),
  post('a document inside of connect', { data: { ...whole, tags: { connect: [{ name: 'Water' }] } } }, ['tags takes a documentId']),
  post('a word for a row id', { data: { ...whole, tags: { connect: [{ id: 'x' }] } } }, ['{ "documentId": "x" }']),
  post('a word that relations do not have', { data: { ...whole, tags: { add: ['x'] } } }, ['no "add"', 'connect']),
  post('a file by its url', { data: { ...whole, gallery: [{ url: 'x' }] } }, ['gallery takes the id of an uploaded file']),
  post('a node that blocks do not have', { data: { ...whole, body: [{ type: 'p' }] } }, [
    'body.0 is not in the form of blocks',
    '"paragraph"',
  ]),
  post('another name for data', { article: {} }, ['Wrap the attributes in "data"']),
  post('a user with data around it', { data: { username: 'x' } }, ['no data around them'], { path: '/api/users' }),
  post('a user without a role', { username: 'x', email: 'x@example.org', password: 'a secret 12' }, ['role is the id of a role'], {
    path: '/api/users',
  }),
  post('a provider that is not enabled', '', ['auth.providers'], {
    method: 'GET',
    path: '/api/connect/google',
    body: undefined,
    headers: {},
  }),
  post('a form without its boundary', 'x', ['has no boundary'], {
    path: '/api/upload',
    headers: { 'content-type': 'multipart/form-data' },
  }),
  post('an upload as JSON', { files: 'x' }, ['multipart/form-data', 'curl -F files=@'], { path: '/api/upload' }),
]

const inGroup = (group: Mistake['group'], rows: readonly Row[]): readonly Mistake[] => rows.map((row) => ({ group, ...row }))

/** All erroneous requests, for one database and contract. */
export const mistakes = (ids: Ids, contract: 'specification' | 'strapi'): readonly Mistake[] =>
  [
    ...inGroup('hints.4', names),
    ...inGroup('hints.5', [...parameters, ...values(ids)]),
    ...inGroup('hints.6', paths(ids)),
    ...inGroup('hints.7', callers),
    ...inGroup('hints.8', bodies(ids)),
  ].filter((mistake) => mistake.contract === undefined || mistake.contract === contract)

/** The ids of a served example. */
export async function idsOf(served: Pick<Served, 'request'>): Promise<Ids> {
  const [published] = (await served.request('/api/articles?fields=slug&sort=id&pagination[limit]=1')).body.data
  const [draft] = (await served.request('/api/articles?status=draft&publicationFilter=never-published')).body.data
  const [author] = (await served.request('/api/authors?sort=id&pagination[limit]=1')).body.data
  const { documentId: article, id: row, slug } = published
  return { article, row, slug, draft: draft.documentId, author: author.documentId, authorName: author.name }
}

/** Sends an erroneous request. */
export function send(
  served: Pick<Served, 'request'>,
  { method = 'GET', path, headers = {}, token, body, form }: Mistake,
): Promise<TestResponse> {
  const sent = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
  const all = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  // Without an explicit type, fetch declares a string as text.
  const bytes = headers['content-type'] === '' && sent !== undefined ? new TextEncoder().encode(sent) : sent
  const files = new FormData()
  for (const [name, file] of Object.entries(form ?? {})) files.append(name, new Blob(['not a picture']), file)
  return served.request(path, { method, headers: all, token, body: (form === undefined ? bytes : files) as never })
}

/** The hint of a response. */
export const hintOf = ({ headers, body }: TestResponse): string | undefined => {
  const hint = body?.error?.details?.hint ?? headers.get('octavo-hint') ?? undefined
  return hint === undefined ? undefined : readable(hint)
}

/** Headers hold no other characters than ASCII. */
const readable = (hint: string): string => hint.replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
