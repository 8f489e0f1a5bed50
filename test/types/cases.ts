// Snippets that compile or do not, for the types of the golden project. `▸` marks the position where the compiler must find the error.

/** One snippet. Without a mark it must compile. */
export interface Case {
  readonly name: string
  readonly code: string
}

/** The beginning of every snippet. */
export const preamble = `
import { type ContentTypes, createClient, type NameOf, type Result, typed, type Uid } from 'octavo/client'
import { type AfterCall, type BeforeCall, defineConfig, defineHook, type DocumentService, type Transact } from 'octavo'
import type { Article, ArticleType, Types } from './octavo.js'
declare const client: ReturnType<typeof createClient>
declare const documents: DocumentService
declare const transaction: Transact
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(is: Same<A, B>): void
const articles = client.collection('articles')
const id = 'abcdefghijklmnopqrstuvwx'
`

const names: readonly Case[] = [
  { name: 'a collection type by its plural name', code: `client.collection('products')` },
  { name: 'a collection type that does not exist', code: `client.collection(▸'artcles')` },
  { name: 'a single type is no collection type', code: `client.collection(▸'homepage')` },
  { name: 'a single type by its singular name', code: `client.single('homepage')` },
  { name: 'types of plugins are not collections', code: `client.collection(▸'files')` },
  { name: 'types without drafts are not published', code: `client.collection('categories').▸publish(id)` },
  { name: 'types with drafts are', code: `client.collection('articles').publish(id, { populate: ['author'] })` },
  { name: 'a uid that exists', code: `documents('api::article.article')` },
  { name: 'a uid that does not exist', code: `documents(▸'api::artcle.article')` },
  {
    name: 'a uid that is only known when the script runs',
    code: `declare const uid: string; documents(uid).findMany({ filters: { any: 1 } })`,
  },
  { name: 'a shape of one’s own', code: `documents<{ own: number }>('api::article.article').findMany().then(([one]) => one!.own)` },
  {
    name: 'the uids of the project',
    code: `const uid: Uid = 'api::tag.tag'; const ▸wrong: Uid = 'api::tag.tga'; console.log(uid, wrong)`,
  },
]

const results: readonly Case[] = [
  {
    name: 'a published version: what is required is there',
    code: `const { data } = await articles.findOne(id); same<typeof data.title, string>(true)`,
  },
  {
    name: 'what is not required may be null',
    code: `const { data } = await articles.findOne(id); same<typeof data.summary, string | null>(true)`,
  },
  {
    name: 'a draft: everything may be null',
    code: `const { data } = await articles.findOne(id, { status: 'draft' }); same<typeof data.title, string | null>(true); same<typeof data.publishedAt, null>(true); same<typeof data.documentId, string>(true)`,
  },
  {
    name: 'a status that is not known: the draft must be expected',
    code: `declare const status: 'draft' | 'published'; const { data } = await articles.findOne(id, { status }); same<typeof data.title, string | null>(true); same<typeof data.publishedAt, string | null>(true)`,
  },
  {
    name: 'types without drafts are complete in any status',
    code: `const { data } = await client.collection('categories').findOne(id, { status: 'draft' }); same<typeof data.name, string>(true)`,
  },
  {
    name: 'enumerations are unions',
    code: `const { data } = await articles.findOne(id); same<typeof data.kind, 'news' | 'review' | 'essay' | 'how-to' | null>(true)`,
  },
  {
    name: 'big integers are text, decimals are numbers, json is unknown',
    code: `const { data } = await articles.findOne(id); same<typeof data.views, string | null>(true); same<typeof data.rating, number | null>(true); same<typeof data.metadata, unknown>(true)`,
  },
  {
    name: 'blocks have a structure',
    code: `const { data } = await articles.findOne(id); for (const block of data.content ?? []) if (block.type === 'heading') same<typeof block.level, 1 | 2 | 3 | 4 | 5 | 6>(true)`,
  },
  { name: 'private attributes are not there', code: `const { data } = await articles.findOne(id); data.▸internalNote` },
  { name: 'passwords are not there', code: `const { data } = await articles.findOne(id); data.▸secretCode` },
  { name: 'relations are not there without populate', code: `const { data } = await articles.findOne(id); data.▸author` },
  { name: 'types without locales have no locale', code: `const { data } = await client.collection('authors').findOne(id); data.▸locale` },
  {
    name: 'a list has pages',
    code: `const { meta } = await articles.find({ pagination: { page: 2 } }); same<typeof meta.pagination.pageCount, number>(true)`,
  },
  {
    name: 'a list counted in offsets has none',
    code: `const { meta } = await articles.find({ pagination: { start: 2, limit: 3 } }); same<typeof meta.pagination.start, number>(true); meta.pagination.▸pageCount`,
  },
  {
    name: 'a list that is not counted has no total',
    code: `const { meta } = await articles.find({ pagination: { withCount: false } }); meta.pagination.▸total`,
  },
  {
    name: 'fields select',
    code: `const { data } = await articles.findOne(id, { fields: ['title', 'rank'] }); same<typeof data, { id: number; documentId: string; title: string; rank: number | null }>(true)`,
  },
  {
    name: 'fields as a comma list',
    code: `const { data } = await articles.findOne(id, { fields: 'title, rank' }); same<keyof typeof data, 'id' | 'documentId' | 'title' | 'rank'>(true)`,
  },
  {
    name: 'fields that are only known when it runs are optional',
    code: `declare const fields: ('title' | 'rank')[]; const { data } = await articles.findOne(id, { fields }); same<typeof data.title, string | undefined>(true)`,
  },
  { name: 'what is not selected is not there', code: `const { data } = await articles.findOne(id, { fields: ['title'] }); data.▸slug` },
  {
    name: 'iteration yields documents',
    code: `for await (const tag of client.collection('tags').all({ fields: ['name'] })) same<typeof tag, { id: number; documentId: string; name: string }>(true)`,
  },
  {
    name: 'a result has a name',
    code: `type Story = Result<'api::article.article', { populate: ['author.avatar'] }>; declare const story: Story; same<NonNullable<NonNullable<Story['author']>['avatar']>['url'], string>(true)`,
  },
  {
    name: 'a result without parameters is the interface',
    code: `same<Result<ArticleType>, Article>(true); same<Result<'api::article.article'>, Article>(true)`,
  },
  {
    name: 'a query is reused',
    code: `const query = { fields: ['title'], populate: { author: true } } as const; const { data } = await articles.find(query); same<(typeof data)[number], Result<'api::article.article', typeof query>>(true)`,
  },
]

const populates: readonly Case[] = [
  {
    name: 'populate=*: one level of everything',
    code: `const { data } = await articles.findOne(id, { populate: '*' }); same<NonNullable<typeof data.author>['name'], string>(true); data.author?.▸avatar`,
  },
  {
    name: 'a relation to one may be null, a relation to many is a list',
    code: `const { data } = await articles.findOne(id, { populate: ['author', 'tags'] }); same<null extends typeof data.author ? true : false, true>(true); same<(typeof data.tags)[number]['name'], string>(true)`,
  },
  {
    name: 'dot paths populate every level',
    code: `const { data } = await articles.findOne(id, { populate: 'author.articles.tags,cover' }); data.author?.articles[0]?.tags[0]?.name; data.cover?.formats?.thumbnail?.url`,
  },
  {
    name: 'a later plain name replaces what was populated below it',
    code: `const { data } = await articles.findOne(id, { populate: ['author.avatar', 'author'] }); data.author?.▸avatar`,
  },
  {
    name: 'levels select and populate',
    code: `const { data } = await articles.findOne(id, { populate: { author: { fields: ['name'], populate: { avatar: { fields: ['url'] } } } } }); same<NonNullable<typeof data.author>, { id: number; documentId: string; name: string; avatar: { id: number; documentId: string; url: string } | null }>(true)`,
  },
  {
    name: 'false leaves out',
    code: `const { data } = await articles.findOne(id, { populate: { author: false, tags: true } }); data.tags; data.▸author`,
  },
  {
    name: 'a switch that is only known when it runs is optional',
    code: `declare const shown: boolean; const { data } = await articles.findOne(id, { populate: { tags: shown } }); same<undefined extends typeof data.tags ? true : false, true>(true)`,
  },
  {
    name: 'count in place of documents',
    code: `const { data } = await articles.findOne(id, { populate: { tags: { count: true } } }); same<typeof data.tags, { count: number }>(true)`,
  },
  {
    name: 'components have an id and their attributes',
    code: `const { data } = await articles.findOne(id, { populate: { sections: { populate: '*' } } }); same<(typeof data.sections)[number]['id'], number>(true); same<(typeof data.sections)[number]['links'] extends unknown[] ? true : false, true>(true)`,
  },
  {
    name: 'entries of a dynamic zone are told apart by __component',
    code: `const { data } = await articles.findOne(id, { populate: ['blocks'] }); for (const block of data.blocks) if (block.__component === 'blocks.quote') block.text; else if (block.__component === 'blocks.cta') block.▸text`,
  },
  {
    name: 'on chooses the entries and what each shows',
    code: `const { data } = await articles.findOne(id, { populate: { blocks: { on: { 'blocks.image': { populate: ['picture'] } } } } }); same<(typeof data.blocks)[number]['__component'], 'blocks.image'>(true); data.blocks[0]?.picture?.url`,
  },
  {
    name: 'a relation to any type is told apart by __type',
    code: `const { data } = await client.collection('comments').findOne(id, { populate: ['subject'] }); if (data.subject?.__type === 'api::article.article') same<typeof data.subject.title, string | null>(true)`,
  },
  {
    name: 'components that are required are there in published versions',
    code: `const { data } = await client.collection('pledges').findOne(id, { populate: ['single'] }); same<null extends typeof data.single ? true : false, false>(true)`,
  },
  {
    name: 'and may be null in drafts, as their attributes',
    code: `const { data } = await client.collection('pledges').findOne(id, { populate: ['single'], status: 'draft' }); same<null extends typeof data.single ? true : false, true>(true)`,
  },
  {
    name: 'localizations are documents of the same type',
    code: `const { data } = await articles.findOne(id, { populate: ['localizations'] }); same<(typeof data.localizations)[number]['locale'], string>(true)`,
  },
  { name: 'a typo in a name', code: `articles.find({ ▸populate: 'autor' })` },
  { name: 'a typo in a list of names', code: `articles.find({ populate: ['author', ▸'tgas'] })` },
  { name: 'a typo at the end of a path', code: `articles.find({ populate: [▸'author.avtar'] })` },
  { name: 'a typo in a key', code: `articles.find({ populate: { author: true, ▸tgas: true } })` },
  { name: 'a typo in a key of a level below', code: `articles.find({ populate: { author: { populate: { ▸avtar: true } } } })` },
  { name: 'a typo in the fields of a level', code: `articles.find({ populate: { author: { fields: ['name', ▸'emial'] } } })` },
  { name: 'a typo in the filters of a level', code: `articles.find({ populate: { tags: { filters: { name: { ▸$contain: 'a' } } } } })` },
  { name: 'a typo in the sort of a level', code: `articles.find({ populate: { tags: { sort: [▸'nmae'] } } })` },
  { name: 'pagination inside a populate', code: `articles.find({ populate: { tags: { ▸limit: 5 } } })` },
  { name: 'a component that the zone does not have', code: `articles.find({ populate: { blocks: { on: { ▸'blocks.qoute': true } } } })` },
  { name: 'a scalar is not populated', code: `articles.find({ populate: [▸'title'] })` },
]

const conditions: readonly Case[] = [
  {
    name: 'operators of every kind',
    code: `articles.find({ filters: { title: { $containsi: 'a' }, rank: { $between: [1, 5] }, featured: true, kind: ['news', 'essay'], views: { $gt: '9007199254740993' }, starts: { $gte: new Date() }, day: { $lt: '2025-01-01' }, metadata: { $notNull: true } } })`,
  },
  {
    name: 'filters through relations and components, with junctions',
    code: `articles.find({ filters: { $or: [{ author: { name: 'A' } }, { seo: { metaTitle: { $null: true } } }], $not: { tags: { name: { $in: ['x'] } } }, category: { parent: { name: { $startsWith: 'B' } } } } })`,
  },
  {
    name: 'a related document by its ids',
    code: `articles.find({ filters: { author: { documentId: id }, category: 5, tags: { $null: true } } })`,
  },
  { name: 'a typo in a filter', code: `articles.find({ filters: { ▸titel: 'x' } })` },
  { name: 'a typo in an operator', code: `articles.find({ filters: { title: { ▸$contain: 'x' } } })` },
  { name: 'a typo below a relation', code: `articles.find({ filters: { author: { ▸nmae: 'x' } } })` },
  { name: 'a typo inside $or', code: `articles.find({ filters: { $or: [{ title: 'x' }, { ▸titel: 'y' }] } })` },
  { name: 'a value that the enumeration does not have', code: `articles.find({ filters: { ▸kind: 'nwes' } })` },
  { name: 'a text for a number', code: `articles.find({ filters: { ▸rank: { $gt: 'five' } } })` },
  { name: 'a documentId is no row id', code: `articles.find({ filters: { ▸author: id } })` },
  { name: 'dynamic zones are not filtered', code: `articles.find({ filters: { ▸blocks: { text: 'x' } } })` },
  { name: 'a typo in fields', code: `articles.find({ fields: ['title', ▸'slgu'] })` },
  { name: 'a typo in a comma list of fields', code: `articles.find({ ▸fields: 'title,slgu' })` },
  {
    name: 'sort keys as texts, lists and objects',
    code: `articles.find({ sort: 'title' }); articles.find({ sort: ['rank:desc', 'author.name', 'seo.og.ogTitle:asc'] }); articles.find({ sort: { author: { name: 'desc' } } }); articles.find({ sort: 'title:asc,rank:desc' })`,
  },
  { name: 'a typo in a sort key', code: `articles.find({ ▸sort: 'titel:asc' })` },
  { name: 'a typo in a list of sort keys', code: `articles.find({ sort: ['title', ▸'author.nmae:desc'] })` },
  { name: 'a typo in a sort object', code: `articles.find({ sort: { author: { ▸nmae: 'asc' } } })` },
  { name: 'an order that does not exist', code: `articles.find({ ▸sort: 'title:down' })` },
  { name: 'a status that does not exist', code: `articles.find({ ▸status: 'drafts' })` },
  { name: 'a parameter that does not exist', code: `articles.find({ ▸filter: {} })` },
  { name: 'pages and offsets do not mix', code: `articles.find({ pagination: { page: 1, ▸limit: 5 } })` },
  { name: 'a typo in the pagination', code: `articles.find({ pagination: { page: 1, ▸pagesize: 5 } })` },
]

const writes: readonly Case[] = [
  {
    name: 'a new document',
    code: `const { data } = await articles.create({ title: 'x', kind: 'news', views: 5n, starts: new Date(), author: id, tags: [id], cover: 5, seo: { metaTitle: 'x' }, blocks: [{ __component: 'blocks.quote', text: 'x' }] }); same<typeof data.title, string>(true)`,
  },
  { name: 'what is required must be given', code: `articles.create(▸{ kind: 'news' })` },
  {
    name: 'but not for a draft',
    code: `const { data } = await articles.create({ kind: 'news', title: null }, { status: 'draft' }); same<typeof data.title, string | null>(true)`,
  },
  { name: 'an update names what changes', code: `articles.update(id, { kind: 'essay' })` },
  { name: 'what is required is not removed', code: `articles.update(id, { ▸title: null })` },
  { name: 'a typo in the data', code: `articles.update(id, { ▸titel: 'x' })` },
  { name: 'a value that the enumeration does not have, in data', code: `articles.update(id, { ▸kind: 'nwes' })` },
  {
    name: 'relations connect at a position, and disconnect',
    code: `articles.update(id, { tags: { connect: [{ documentId: id, position: { before: id } }, id], disconnect: [{ id: 5 }] }, author: null, related: { set: [] } })`,
  },
  {
    name: 'a position says one thing',
    code: `articles.update(id, { ▸tags: { connect: [{ documentId: id, position: { before: id, end: true } }] } })`,
  },
  { name: 'set does not stand beside connect', code: `articles.update(id, { ▸tags: { set: [id], connect: [id] } })` },
  { name: 'components change by their id', code: `articles.update(id, { seo: { id: 5, noIndex: true } })` },
  { name: 'a new component is complete', code: `articles.update(id, { ▸seo: { noIndex: true } })` },
  {
    name: 'a component that the zone does not have, in data',
    code: `articles.update(id, { blocks: [{ ▸__component: 'blocks.qoute', text: 'x' }] })`,
  },
  { name: 'private attributes and passwords are written', code: `articles.update(id, { internalNote: 'x', secretCode: 'y' })` },
  { name: 'what the service writes is not', code: `articles.update(id, { ▸createdAt: '2025-01-01' })` },
  {
    name: 'relations to many types name the type',
    code: `client.collection('comments').create({ body: 'x', subjects: { connect: [{ documentId: id, __type: 'api::article.article' }] } })`,
  },
  {
    name: 'a type that does not exist',
    code: `client.collection('comments').create({ body: 'x', subjects: [{ documentId: id, ▸__type: 'api::artcle.article' }] })`,
  },
  {
    name: 'users and files are rows',
    code: `same<Awaited<ReturnType<typeof client.users.me>>['username'], string>(true); client.files.findOne(5).then((file) => file.url); client.files.find({ filters: { mime: { $startsWith: 'image/' } } })`,
  },
]

const scripts: readonly Case[] = [
  {
    name: 'scripts read drafts',
    code: `const [one] = await documents('api::article.article').findMany({ fields: ['title'] }); same<NonNullable<typeof one>['title'], string | null>(true)`,
  },
  {
    name: 'or what they ask for',
    code: `const one = await documents('api::article.article').findFirst({ status: 'published', populate: ['author'] }); same<NonNullable<typeof one>['title'], string>(true); one?.author?.name`,
  },
  { name: 'a typo in a parameter', code: `documents('api::article.article').findMany({ ▸limt: 5 })` },
  { name: 'a typo in a filter of a script', code: `documents('api::article.article').count({ filters: { ▸titel: 'x' } })` },
  { name: 'a draft need not be complete', code: `documents('api::article.article').create({ data: { kind: 'news' } })` },
  { name: 'what is published must be', code: `documents('api::article.article').create({ status: 'published', ▸data: { kind: 'news' } })` },
  {
    name: 'several documents at once',
    code: `const made = await documents('api::tag.tag').createMany({ data: [{ name: 'a' }, { name: 'b' }], fields: ['name'] }); same<(typeof made)[number]['name'], string | null>(true); documents('api::tag.tag').updateMany({ filters: { name: { $startsWith: 'a' } }, data: { name: 'c' } }); documents('api::tag.tag').deleteMany({ documentIds: [id] })`,
  },
  {
    name: 'a typo in the filters of several',
    code: `documents('api::tag.tag').updateMany({ filters: { ▸nmae: 'a' }, data: { name: 'c' } })`,
  },
  { name: 'a typo in one of several', code: `documents('api::tag.tag').createMany({ data: [{ name: 'a' }, { ▸nmae: 'b' }] })` },
  { name: 'a document is named', code: `documents('api::article.article').findOne(▸{})` },
  { name: 'a single type needs no name', code: `documents('api::homepage.homepage').findOne({})` },
  {
    name: 'users are read but not written',
    code: `documents('plugin::users-permissions.user').findMany({ populate: ['role'] }); documents('plugin::users-permissions.user').create({ ▸data: { username: 'x' } })`,
  },
  {
    name: 'types of another project are passed by hand',
    code: `const other = createClient<Pick<Types, 'api::tag.tag'>>({ url: 'x' }); other.collection('tags'); other.collection(▸'articles')`,
  },
]

/** Snippets about transactions. */
export const transactions: readonly Case[] = [
  {
    name: 'writes of a transaction resolve to what the methods of documents() do',
    code: `const done = await transaction((write) => { const author = write('api::author.author').create({ data: { name: 'Ada' }, fields: ['name'] }); const article = write('api::article.article').create({ data: { title: 'x', author: author.documentId }, status: 'published', populate: { author: { fields: ['name'] } } }); return { author, list: [article, 5] as const } }); same<typeof done.author, { id: number; documentId: string; name: string }>(true); same<(typeof done.list)[0]['title'], string>(true); done.list[0].author?.name; same<(typeof done.list)[1], 5>(true)`,
  },
  {
    name: 'an update in a transaction finds its document',
    code: `const done = await transaction((write) => write('api::article.article').update({ documentId: id, filters: { rank: { $gt: 0 } }, locale: 'de', data: { title: null }, fields: ['title'] })); same<typeof done, { id: number; documentId: string; title: string | null }>(true)`,
  },
  {
    name: 'the other actions of a transaction give the versions that they affect',
    code: `const [gone, shown] = await transaction((write) => [write('api::tag.tag').delete({ documentId: id, locale: '*' }), write('api::article.article').publish({ documentId: id, populate: ['tags'] })]); same<typeof gone.documentId, string>(true); shown.entries[0]?.tags[0]?.name; same<(typeof shown.entries)[number]['title'], string>(true)`,
  },
  {
    name: 'what is not a write stays what it is',
    code: `const done = await transaction(() => ({ index: 5, when: new Date() })); same<typeof done.index, 5>(true); done.when.getTime()`,
  },
  {
    name: 'a single type in a transaction needs no name',
    code: `await transaction((write) => write('api::homepage.homepage').update({ data: { tagline: 'x' } }))`,
  },
  {
    name: 'a type of a transaction that is only known when it runs',
    code: `declare const uid: string; const done = await transaction((write) => write(uid).create({ data: { any: 1 } })); same<typeof done.documentId, string>(true)`,
  },
  {
    name: 'a shape of one’s own in a transaction',
    code: `const done = await transaction((write) => write<{ own: number }>('api::article.article').create({ data: {} })); same<typeof done, { own: number }>(true)`,
  },
  { name: 'a transaction names types that exist', code: `transaction((write) => write(▸'api::artcle.article').create({ data: {} }))` },
  {
    name: 'a typo in the data of a transaction',
    code: `transaction((write) => write('api::article.article').create({ data: { ▸titel: 'x' } }))`,
  },
  {
    name: 'a typo in the data of a write among others',
    code: `transaction((write) => { const tag = write('api::tag.tag').create({ data: { name: 'a' } }); write('api::article.article').update({ documentId: id, data: { title: 'x', ▸tgas: [tag.documentId] } }); return tag })`,
  },
  {
    name: 'a value that the enumeration does not have, in a transaction',
    code: `transaction((write) => write('api::article.article').update({ documentId: id, data: { ▸kind: 'nwes' } }))`,
  },
  {
    name: 'what a transaction publishes is complete',
    code: `transaction((write) => write('api::article.article').create({ status: 'published', ▸data: { kind: 'news' } }))`,
  },
  { name: 'a document of a transaction is named', code: `transaction((write) => write('api::article.article').delete(▸{}))` },
  {
    name: 'a typo in the condition of a write',
    code: `transaction((write) => write('api::article.article').publish({ documentId: id, filters: { ▸titel: 'x' } }))`,
  },
  {
    name: 'a typo in what a transaction shows',
    code: `transaction((write) => write('api::article.article').create({ data: { title: 'x' }, populate: { ▸autor: true } }))`,
  },
  {
    name: 'a transaction resolves to no more than was selected',
    code: `const done = await transaction((write) => write('api::tag.tag').create({ data: { name: 'a' }, fields: ['name'] })); done.▸createdAt`,
  },
  {
    name: 'users are not written in transactions',
    code: `transaction((write) => write('plugin::users-permissions.user').create({ ▸data: { username: 'x' } }))`,
  },
]

/** Snippets about hooks. */
export const hooks: readonly Case[] = [
  {
    name: 'hooks see the types that they name',
    code: `defineHook({ types: ['api::article.article'], after: async ({ entries, documents, transaction }) => { same<(typeof entries)[number]['title'], string | null>(true); await documents('api::tag.tag').count(); await transaction((write) => write('api::tag.tag').create({ data: { name: 'a' } })) } })`,
  },
  { name: 'a hook names types that exist', code: `defineHook({ types: [▸'api::artcle.article'], after: () => {} })` },
  {
    name: 'a hook names actions that exist',
    code: `defineHook({ types: ['api::article.article'], actions: [▸'publsh'], after: () => {} })`,
  },
  {
    name: 'data of a before-hook is not validated yet: values are unknown until they are looked at',
    code: `defineHook({ types: ['api::article.article'], actions: ['create', 'update'], before: ({ data }) => { same<typeof data.title, unknown>(true); if (typeof data.title === 'string') data.title = data.title.trim(); data.tags ??= []; data.author = 5; delete data.slug; const all: Record<string, unknown> = data; all.any } })`,
  },
  {
    name: 'so it cannot be taken for what it should be',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], before: ({ data }) => { const ▸title: string = data.title; return title } })`,
  },
  {
    name: 'a typo in the data of a before-hook',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], before: ({ data }) => { data.▸titel = 'x' } })`,
  },
  {
    name: 'a typo where the data of a before-hook is read',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], before: ({ data }) => typeof data.▸titel === 'string' })`,
  },
  {
    name: 'a wrong value for the data of a before-hook',
    code: `defineHook({ types: ['api::article.article'], actions: ['update'], before: ({ data }) => { ▸data.kind = 'nwes' } })`,
  },
  {
    name: 'types without drafts keep what is required in hooks',
    code: `defineHook({ types: ['api::category.category'], actions: ['update'], before: ({ data }) => { ▸data.name = null } })`,
  },
  {
    name: 'a before-hook may replace the data',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], before: (call) => { call.data = { title: 'x' }; call.data = { ...call.data, kind: 'news' } } })`,
  },
  {
    name: 'a typo in data that replaces other data',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], before: (call) => { call.data = { ▸titel: 'x' } } })`,
  },
  {
    name: 'the action decides whether there is data, and a document',
    code: `defineHook({ types: ['api::article.article'], actions: ['publish'], before: ({ data, documentId }) => { same<typeof data, null>(true); same<typeof documentId, string>(true) } }); defineHook({ types: ['api::article.article'], actions: ['create'], before: ({ documentId }) => { same<typeof documentId, null>(true) } }); defineHook({ types: ['api::homepage.homepage'], actions: ['update'], before: ({ documentId }) => { same<typeof documentId, string | null>(true) } })`,
  },
  {
    name: 'a hook for all actions may have no data',
    code: `defineHook({ types: ['api::article.article'], before: ({ data }) => { ▸data.title = 'x' } })`,
  },
  {
    name: 'and tells the actions apart',
    code: `defineHook({ types: ['api::article.article'], before: ({ action, data }) => { if (action === 'create' || action === 'update') data.title = 'x' } })`,
  },
  {
    name: 'a hook for several types tells them apart by uid',
    code: `defineHook({ types: ['api::article.article', 'api::tag.tag'], actions: ['create'], before: ({ uid, data }) => { if (uid === 'api::tag.tag') data.name = 'x'; else data.title = 'x' }, after: ({ uid, entries }) => { if (uid === 'api::tag.tag') for (const { name } of entries) same<typeof name, string | null>(true) } })`,
  },
  {
    name: 'a hook for several types knows no attribute that one of them lacks',
    code: `defineHook({ types: ['api::article.article', 'api::tag.tag'], actions: ['create'], before: ({ data }) => data.▸title })`,
  },
  {
    name: 'entries of an after-hook are what its action leaves',
    code: `defineHook({ types: ['api::article.article'], actions: ['publish'], after: ({ entries, data }) => { same<(typeof entries)[number]['title'], string>(true); same<typeof data, null>(true) } }); defineHook({ types: ['api::article.article'], actions: ['discardDraft'], after: ({ entries }) => { same<(typeof entries)[number]['publishedAt'], null>(true) } })`,
  },
  {
    name: 'data of an after-hook is not changed',
    code: `defineHook({ types: ['api::article.article'], actions: ['create'], after: ({ data }) => { data.▸title = 'x' } })`,
  },
  {
    name: 'hooks for all types, and functions that take any call',
    code: `const before = ({ data }: BeforeCall) => { if (data !== null) data.any = 1 }; const after = (call: AfterCall) => call.entries; defineConfig({ hooks: [defineHook({ actions: ['create'], before: ({ uid, data }) => { same<typeof uid extends string ? true : false, true>(true); data.any = 1 } }), defineHook({ types: ['api::article.article'], before, after }), { types: ['any'], before, after }] })`,
  },
]

/** Snippets with a wrong name of a content-type, and what must not be taken for one. */
export const wrongNames: readonly Case[] = [
  {
    name: 'the singular name of a collection type is the only error, whatever is done with the result',
    code: `const { data } = await client.collection(▸'article').find({ fields: ['title'], populate: { author: true } }); for (const { title, author } of data) console.log(title, author.name)`,
  },
  {
    name: 'a wrong name with callbacks behind it',
    code: `client.collection(▸'artcles').find({ filters: { title: 'x' } }).then(({ data }) => data.map((one) => one.title)); const { data } = await client.collection('tags').find(); same<(typeof data)[number]['name'], string>(true)`,
  },
  {
    name: 'the plural name of a single type',
    code: `const { data } = await client.single(▸'homepages').find({ populate: ['hero'] }); data.tagline`,
  },
  {
    name: 'with the client of Strapi',
    code: `declare const plain: { collection(name: string): { find(query?: object): Promise<{ data: { id: number; title?: string }[] }> }; single(name: string): unknown }; const { data } = await typed(plain).collection(▸'article').find({ fields: ['title'] }); data[0]?.title`,
  },
  {
    name: 'in a project with one collection type',
    code: `const small = createClient<Pick<Types, 'api::tag.tag'>>({ url: 'x' }); const { data } = await small.collection(▸'tag').find({ fields: ['name'] }); data.map(({ name }) => name)`,
  },
  {
    name: 'in a project without single types',
    code: `const small = createClient<Pick<Types, 'api::tag.tag'>>({ url: 'x' }); const { data } = await small.single(▸'homepage').find({ populate: ['hero'] }); data.tagline`,
  },
  {
    name: 'a function of one’s own may pass a name on',
    code: `const collectionOf = <const Name extends NameOf<ContentTypes, 'collectionType'>>(name: Name) => client.collection(name); const { data } = await collectionOf('tags').find({ fields: ['name'] }); same<(typeof data)[number]['name'], string>(true)`,
  },
]

/** Code that compiles in a project without generated types. */
export const looseCode = `
import { createClient } from 'octavo/client'
import { type AfterCall, type BeforeCall, defineConfig, defineHook, type DocumentService, type HookOf, type Transact } from 'octavo'
declare const documents: DocumentService
declare const transaction: Transact
interface Own { readonly own: number }
const client = createClient({ url: 'x' })
client.collection('any').find({ filters: { any: 1 } }).then(({ data }) => data.map((one) => one.any.thing))
client.single('any').update({ any: 1 })
documents('any').create({ data: { any: 1 }, populate: ['any'] }).then((one) => one.any)
documents('any').createMany({ data: [{ any: 1 }] })
documents('any').updateMany({ filters: { any: 1 }, data: { any: 1 } })
documents<Own>('any').findFirst().then((one) => one?.own)
const done = await transaction((write) => {
  const made = write('any').create({ data: { any: 1 }, status: 'published' })
  const own = write<Own>('any').update({ documentId: made.documentId, filters: { any: 1 }, data: { any: 1 } })
  return { made, own, gone: [write('any').delete({ documentId: 'x' })] }
})
export const results: readonly unknown[] = [done.made.any, done.own.own, done.gone[0].entries[0]?.any]
const hook: HookOf<'any'> = { types: ['any'], before: ({ data }) => data?.any }
const before = (call: BeforeCall) => { if (call.data !== null) call.data = { ...call.data, any: 1 } }
const after = ({ entries, data }: AfterCall) => [entries[0]?.any, data?.any]
export default defineConfig({
  hooks: [
    defineHook({ types: ['any'], actions: ['create', 'update'], before: ({ data }) => { if (data?.any === undefined) data.any = 1; delete data.other } }),
    defineHook({ types: ['any'], before: ({ data, documentId }) => { if (data !== null) data.any = documentId }, after: ({ entries }) => entries[0]?.any }),
    defineHook({ types: ['any', 'other'], before, after }),
    defineHook({ before, after }),
    defineHook(hook),
    { types: ['any'], before: ({ data }) => { if (data !== null) data.any = 1 }, after },
  ],
})
`

/** Snippets about queries, data and results. */
export const general: readonly Case[] = [...names, ...results, ...populates, ...conditions, ...writes, ...scripts]
