// The requests that both services get, one after the other, by the kind of code that they are about; and what may differ, with the reason.

/**
 * @typedef {object} Question
 * @property {string} kind of code
 * @property {string} as public, a, b, token, or wrong for an unknown token
 * @property {string} method
 * @property {string} path with `{{name}}` for documentIds
 * @property {unknown} [body]
 * @property {string} [raw] a body that is not JSON, or not an object
 * @property {Record<string, string>} [headers]
 * @property {string} [saveAs] the name for the document in the response
 * @property {boolean} [untilFound] repeated for a while, until the list has a document
 * @property {string} [header] a response header to compare too
 * @property {{ at: readonly string[], status?: number, because: string }} [differs] positions of intended differences, and Octavo's status
 */

/** @typedef {Partial<Question>} More */

const get = (/** @type {string} */ kind, /** @type {string} */ as, /** @type {string} */ path, /** @type {More} */ more = {}) => ({
  ...{ kind, as, method: 'GET', path: `/api/${path}` },
  ...more,
})
const write =
  (/** @type {string} */ method) =>
  (
    /** @type {string} */ kind,
    /** @type {string} */ as,
    /** @type {string} */ path,
    /** @type {object} */ data,
    /** @type {More} */ more = {},
  ) => ({
    ...{ kind, as, method, path: `/api/${path}`, body: { data } },
    ...more,
  })
const [post, put] = [write('POST'), write('PUT')]
const remove = (/** @type {string} */ kind, /** @type {string} */ as, /** @type {string} */ path, /** @type {More} */ more = {}) => ({
  ...{ kind, as, method: 'DELETE', path: `/api/${path}` },
  ...more,
})
/** A custom route gets a body without `data`. */
const call = (/** @type {string} */ as, /** @type {string} */ path, /** @type {object} */ body, /** @type {More} */ more = {}) => ({
  ...{ kind: 'custom route', as, method: 'POST', path: `/api/${path}`, body },
  ...more,
})

/** Positions of intended differences. */
const meant = {
  header: {
    at: ['header'],
    because: 'docs/guide/from-strapi.md: a reverse proxy adds headers',
  },
  messages: {
    at: ['body.error.message', 'body.error.details.errors.', 'body.error.details.source'],
    because: 'docs/spec/routes.md, routes.5: the schema library writes the messages, and details name the part',
  },
  operation: {
    at: ['body.error.message', 'body.error.details.operation'],
    because: 'docs/guide/code.md: an error of a transaction names the write',
  },
  redirect: {
    at: ['type', 'body'],
    status: 302,
    because: 'docs/guide/code.md: a Response has the body that it is given, whereas Koa adds a sentence to redirects',
  },
  absentRoute: {
    at: ['status', 'type', 'body'],
    status: 403,
    because: 'docs/differences.md: all types have all routes; a policy or the missing permission refuses them with 403 instead of 405',
  },
}

const long = 'x'.repeat(61)

/** @type {readonly Question[]} */
export const questions = [
  // Cron tasks and bootstrap come first: their documents are in the lists below.
  get('cron', 'public', 'beats', { untilFound: true }),
  get('cron', 'token', 'beats?fields=name'),
  get('bootstrap', 'token', 'tags?sort=name&fields=name&pagination[pageSize]=7'),
  get('bootstrap', 'public', 'tags?filters[name][$in][0]=Mountains&filters[name][$in][1]=Rivers&sort=name'),

  get('route middleware', 'public', 'articles'),
  get('route middleware', 'a', 'articles'),
  get('route middleware', 'token', 'articles'),
  get('route middleware', 'public', 'articles/{{kilns}}'),
  get('route middleware', 'public', 'articles/{{secret}}'),
  get('route middleware', 'a', 'articles/{{secret}}'),
  get('route middleware', 'public', 'articles?populate=writer&sort=words:desc'),
  get('route middleware', 'public', 'articles?populate[tags][populate]=articles'),
  get('route middleware', 'public', 'articles?filters[tags][name]=Clay&sort=title:desc'),
  get('route middleware', 'public', 'articles?filters[audience]=members'),
  get('route middleware', 'b', 'articles?filters[writer][name][$startsWith]=Z&fields=title'),
  get('route middleware', 'public', 'articles?pagination[page]=2&pagination[pageSize]=3'),
  get('route middleware', 'token', 'articles?status=draft&pagination[pageSize]=20'),
  get('route middleware', 'public', 'articles?sort=nothing'),
  get('route middleware', 'public', 'articles?filters[remark]=x'),

  get('controller', 'public', 'tags?sort=name'),
  get('controller', 'public', 'tags?populate=articles&sort=color,name'),
  get('controller', 'a', 'tags/{{clay}}'),
  get('controller', 'public', 'articles/{{glaze}}?fields=title,words'),
  get('controller', 'public', 'articles?fields=title&pagination[start]=1&pagination[limit]=2'),
  get('controller', 'a', 'notes'),
  get('controller', 'b', 'notes?sort=text'),
  get('controller', 'token', 'notes?sort=text:desc'),
  get('controller', 'a', 'notes?filters[text][$contains]=Of'),
  get('controller', 'public', 'notes'),
  get('controller', 'a', 'orders?populate=product'),
  get('controller', 'a', 'orders/{{orderB}}'),
  get('controller', 'a', 'orders/{{orderA}}?populate=product'),
  put('controller', 'a', 'orders/{{orderB}}', { state: 'shipped' }),

  get('controller', 'a', 'letters'),
  post('controller', 'a', 'letters', { text: 'New from A' }, { saveAs: 'newLetter' }),
  post('controller', 'a', 'letters', { text: 'Forged', owner: 2 }),
  get('controller', 'a', 'letters?sort=text:desc'),
  get('controller', 'a', 'letters?status=draft&sort=text:desc'),
  get('controller', 'b', 'letters'),
  get('controller', 'b', 'letters?populate=owner'),
  get('controller', 'b', 'letters?filters[owner][username]=user-b'),
  get('policy', 'b', 'letters/{{newLetter}}'),
  remove('policy', 'b', 'letters/{{newLetter}}'),
  get('policy', 'a', 'letters/{{newLetter}}?populate=*'),
  remove('policy', 'a', 'letters/{{newLetter}}'),
  get('default populate', 'public', 'home'),
  get('default populate', 'a', 'home'),

  get('service', 'public', 'writers'),
  get('service', 'public', 'writers?sort=name&pagination[withCount]=false'),
  get('document middleware', 'public', 'writers?filters[name][$contains]=o'),
  get('document middleware', 'public', 'writers/{{old}}'),
  post('document middleware', 'a', 'notes', { text: 'New of A', ownerId: 2 }, { saveAs: 'newNote' }),
  get('document middleware', 'a', 'notes?sort=text'),
  get('document middleware', 'b', 'notes?sort=text'),
  post('document middleware', 'a', 'notes', { ownerId: 2 }),
  post('document middleware', 'b', 'orders', { amount: 1, product: '{{vase}}' }, { saveAs: 'newOrder' }),
  put('document middleware', 'b', 'orders/{{newOrder}}?populate=product', { state: 'paid' }),
  get('document middleware', 'a', 'audits?filters[what]=paid'),

  get('policy', 'public', 'articles?_q=kiln'),
  get('policy', 'a', 'articles?_q=kiln'),
  get('policy', 'b', 'notes/{{noteA}}'),
  get('policy', 'a', 'notes/{{noteA}}'),
  put('policy', 'b', 'notes/{{noteA}}', { text: 'taken' }),
  put('policy', 'a', 'notes/{{newNote}}', { text: 'Changed' }),
  remove('policy', 'b', 'notes/{{newNote}}'),
  remove('policy', 'a', 'notes/{{newNote}}'),
  get('policy', 'a', 'notes/{{newNote}}'),
  post('policy', 'a', 'articles', { title: 'Mine', featured: true }),
  put('policy', 'a', 'articles/{{bowls}}', { featured: true }),
  put('policy', 'token', 'articles/{{bowls}}', { featured: true }),

  post('lifecycle', 'a', 'articles', { title: 'A New: Title!', text: ' one two  three ', tags: ['{{fire}}'] }, { saveAs: 'newArticle' }),
  get('lifecycle', 'a', 'articles/{{newArticle}}'),
  get('lifecycle', 'a', 'articles/{{newArticle}}?status=draft'),
  put('lifecycle', 'a', 'articles/{{newArticle}}', { title: 'Renamed' }),
  put('lifecycle', 'a', 'articles/{{newArticle}}?status=draft', { text: 'one two' }),
  get('lifecycle', 'a', 'articles/{{newArticle}}'),
  post('lifecycle', 'a', 'articles?status=draft', { title: 'A draft' }, { saveAs: 'newDraft' }),
  get('lifecycle', 'a', 'audits?filters[what]=created&sort=subject'),
  post('lifecycle', 'a', 'articles', { title: long }),
  post('lifecycle', 'a', 'articles', { text: 'without a title' }),
  post('lifecycle', 'a', 'articles', { title: 4711 }),
  remove('lifecycle', 'a', 'articles/{{newDraft}}'),
  remove('lifecycle', 'a', 'articles/{{newArticle}}'),
  remove('lifecycle', 'a', 'articles/{{dams}}'),
  get('lifecycle', 'a', 'articles/{{dams}}?fields=title'),
  remove('lifecycle', 'a', 'articles/nothing'),
  get('lifecycle', 'a', 'audits?filters[what]=deleted&sort=subject'),

  post('global middleware', 'a', 'notes', { text: 'Win the lottery' }),
  put('global middleware', 'token', 'articles/{{ash}}', { title: 'Lottery of ash' }),
  get('global middleware', 'public', 'tags/{{fire}}', { header: 'x-served-by', differs: meant.header }),

  get('custom route', 'public', 'articles/featured'),
  get('custom route', 'public', 'articles/best', { header: 'location', differs: meant.redirect }),
  get('custom route', 'wrong', 'articles/best', { header: 'x-best', differs: meant.redirect }),
  get('custom route', 'wrong', 'articles/featured'),
  call('public', 'articles/featured', {}),
  call('a', 'orders/{{orderA}}/checkout', {}, { raw: '{' }),
  get('custom route', 'public', 'articles/export'),
  get('custom route', 'b', 'articles/export'),
  get('custom route', 'public', 'articles/statistics?minimum=200'),
  get('custom route', 'public', 'articles/statistics'),
  get('custom route', 'public', 'articles/statistics?minimum=100000'),
  get('custom route', 'public', 'articles/statistics?minimum=-1', { differs: meant.messages }),
  get('custom route', 'public', 'articles/statistics?minimum=many', { differs: meant.messages }),
  call('public', 'orders/{{orderA}}/checkout', { number: 'P1' }),
  call('b', 'orders/{{orderA}}/checkout', { number: 'P1' }),
  call('a', 'orders/{{orderA}}/checkout', {}),
  call('a', 'orders/{{orderA}}/checkout', { number: 'P', gift: 'yes' }),
  call('a', 'orders/{{orderA}}/checkout', { number: 'P1', gift: true }),
  call('a', 'orders/{{orderA}}/checkout', { number: 'P2' }),
  call('b', 'orders/{{orderB}}/checkout', { number: 'P3' }),
  call('b', 'orders/{{orderB2}}/checkout', { number: 'P1' }, { differs: meant.operation }),
  get('custom route', 'b', 'orders/{{orderB2}}?populate=product'),
  call('token', 'orders/nothing/checkout', { number: 'P4' }),
  call('public', 'hooks/payments', { order: '{{orderB2}}', number: 'P5' }, { headers: { 'x-signature': '00' } }),
  call('public', 'hooks/payments', { order: '{{orderB2}}', number: 'P5' }, { headers: { 'x-signature': 'right' } }),
  get('custom route', 'token', 'payments?populate=order&sort=number'),
  get('document middleware', 'a', 'audits?filters[what]=paid&sort=id'),

  get('route options', 'public', 'products?sort=name'),
  get('route options', 'b', 'products/{{pot}}'),
  remove('route options', 'token', 'tags/{{water}}', { differs: meant.absentRoute }),
  remove('route options', 'a', 'tags/{{water}}', { differs: meant.absentRoute }),
  post('route options', 'token', 'beats', { name: 'second' }, { differs: meant.absentRoute }),
  get('route options', 'public', 'audits'),
]
