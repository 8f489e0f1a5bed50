// The reads whose plans are recorded: one or two of every kind that has a distinct SQL form.
import type { Find } from '../../../src/content/documents/read/find.js'
import type { ContractName } from '../../../src/query/contract.js'

export interface Recorded {
  readonly name: string
  readonly uid: string
  readonly query: string
  /** The specification's unless it says otherwise. */
  readonly contract?: ContractName
  /** Options of the route, if it is not a list of documents. */
  readonly wanted?: Partial<Pick<Find, 'mode' | 'envelope' | 'paged' | 'identity' | 'format' | 'appliesFilters'>>
  /** Actions of the caller. Default: all. */
  readonly actions?: readonly string[]
  /** Reading drafts needs a separate action. */
  readonly draftGrant?: boolean
}

const article = 'api::article.article'
const author = 'api::author.author'
const category = 'api::category.category'
const comment = 'api::comment.comment'
const homepage = 'api::homepage.homepage'
const product = 'api::product.product'
const tag = 'api::tag.tag'
const user = 'plugin::users-permissions.user'
const file = 'plugin::upload.file'
const inStrapi = { contract: 'strapi' } as const
const one = { wanted: { mode: 'first', identity: { attribute: 'documentId', value: 'abcdefghijklmnopqrstuvwx' } } } as const

/** By the file that they are recorded in. */
export const groups: Readonly<Record<string, readonly Recorded[]>> = {
  lists: [
    { name: 'a list, nothing asked', uid: tag, query: '' },
    { name: 'a list without Draft & Publish, without a total', uid: author, query: 'pagination[withCount]=false&fields=name' },
    { name: 'a page by its number', uid: tag, query: 'pagination[page]=3&pagination[pageSize]=10&fields=name' },
    { name: 'a page by its start', uid: tag, query: 'pagination[start]=20&pagination[limit]=10&fields=name' },
    { name: 'one document', uid: tag, query: 'fields=name', ...one },
    { name: 'one localized document in a locale', uid: article, query: 'fields=title&locale=fr', ...one },
    { name: 'a single type', uid: homepage, query: 'fields=title', wanted: { mode: 'first' } },
    { name: 'every attribute type, in the specification', uid: article, query: 'pagination[withCount]=false' },
    { name: 'every attribute type, in Strapi', uid: article, query: 'pagination[withCount]=false', ...inStrapi },
    { name: 'the nested form', uid: article, query: 'fields=title&populate[author][fields]=name', wanted: { format: 'nested' } },
    {
      name: 'users, a bare list',
      uid: user,
      query: 'filters[email][$contains]=@&sort=username',
      wanted: { paged: false, envelope: 'bare' },
    },
    { name: 'the number of users', uid: user, query: 'filters[confirmed]=true', wanted: { paged: false, envelope: 'count' } },
    {
      name: 'one file by its id',
      uid: file,
      query: 'fields=name',
      wanted: { mode: 'first', envelope: 'bare', appliesFilters: false, identity: { attribute: 'id', value: 1 } },
    },
  ],
  filters: [
    {
      name: 'operators that compare',
      uid: author,
      query:
        'fields=name&filters[awards][$gte]=2&filters[born][$lt]=1950-01-01&filters[active][$ne]=true&filters[height][$between][0]=1&filters[height][$between][1]=2&pagination[withCount]=false',
    },
    {
      name: 'lists of values, and none',
      uid: author,
      query:
        'fields=name&filters[name][$in][0]=Ada&filters[name][$in][1]=Bo&filters[email][$notIn][0]=x&filters[bio][$notNull]=true&pagination[withCount]=false',
    },
    {
      name: 'texts, in the specification',
      uid: author,
      query:
        'fields=name&filters[$or][0][name][$contains]=a&filters[$or][1][name][$containsi]=a&filters[$or][2][name][$eqi]=ada&pagination[withCount]=false',
    },
    {
      name: 'texts, in Strapi',
      uid: author,
      query:
        'fields=name&filters[$or][0][name][$startsWith]=a&filters[$or][1][name][$notContainsi]=a&filters[$or][2][name][$eqi]=ada&pagination[withCount]=false',
      ...inStrapi,
    },
    {
      name: 'and, or, not',
      uid: tag,
      query:
        'fields=name&filters[$not][$or][0][name]=a&filters[$not][$or][1][weight][$gt]=3&filters[$and][0][color][$null]=true&pagination[withCount]=false',
    },
    { name: 'through a relation to one', uid: article, query: 'fields=title&filters[author][name]=Ada' },
    {
      name: 'through a relation to one, in Strapi',
      uid: article,
      query: 'fields=title&filters[author][name]=Ada&pagination[withCount]=false',
      ...inStrapi,
    },
    {
      name: 'through two relations to many: several paths to the page',
      uid: article,
      query: 'fields=title&filters[tags][name]=red&filters[author][name]=Ada&sort=title',
    },
    {
      name: 'through the inverse side',
      uid: tag,
      query: 'fields=name&filters[articles][title][$startsWith]=A&pagination[withCount]=false',
    },
    {
      name: 'through relations of relations',
      uid: author,
      query: 'fields=name&filters[articles][category][parent][name]=News&pagination[withCount]=false',
    },
    {
      name: 'through a relation that must not lead anywhere',
      uid: article,
      query: 'fields=title&filters[author][id][$null]=true&pagination[withCount]=false',
    },
    {
      name: 'through a component in a component',
      uid: article,
      query: 'fields=title&filters[seo][og][ogTitle]=x&pagination[withCount]=false',
    },
    {
      name: 'through media, in Strapi',
      uid: article,
      query: 'fields=title&filters[cover][ext]=.png&pagination[withCount]=false',
      ...inStrapi,
    },
    {
      name: 'through the inverse side of a polymorphic relation',
      uid: article,
      query: 'fields=title&filters[comments][stars]=5&pagination[withCount]=false',
    },
    { name: 'a search', uid: tag, query: 'fields=name&_q=red&pagination[withCount]=false' },
    { name: 'a search, in Strapi', uid: tag, query: 'fields=name&_q=red&pagination[withCount]=false', ...inStrapi },
  ],
  sort: [
    { name: 'by attributes', uid: article, query: 'fields=title&sort[0]=rank:desc&sort[1]=title&pagination[withCount]=false' },
    { name: 'through a relation to one', uid: article, query: 'fields=title&sort=author.name:desc' },
    { name: 'through a relation to many', uid: article, query: 'fields=title&sort=tags.name&pagination[withCount]=false' },
    { name: 'through a component', uid: author, query: 'fields=name&sort=address.city&pagination[withCount]=false' },
  ],
  populate: [
    {
      name: 'relations of every kind',
      uid: article,
      query: 'fields=title&populate[author][fields]=name&populate[tags][fields]=name&populate[category][fields]=name',
    },
    {
      name: 'relations of every kind, in Strapi',
      uid: article,
      query: 'fields=title&populate[author][fields]=name&populate[tags][fields]=name&populate[category][fields]=name',
      ...inStrapi,
    },
    {
      name: 'with filters, sort and a level below',
      uid: author,
      query:
        'fields=name&populate[articles][fields]=title&populate[articles][filters][rank][$gt]=3&populate[articles][sort]=title:desc' +
        '&populate[articles][populate][tags][fields]=name',
    },
    { name: 'a number of targets', uid: tag, query: 'fields=name&populate[articles][count]=true' },
    {
      name: 'media for one file and for several',
      uid: article,
      query: 'fields=title&populate[cover][fields]=url&populate[gallery][fields]=url',
    },
    { name: 'components, and one in a component', uid: article, query: 'fields=title&populate[seo][populate]=*&populate[sections]=true' },
    { name: 'a dynamic zone', uid: homepage, query: 'fields=title&populate[blocks][populate]=*', wanted: { mode: 'first' } },
    {
      name: 'a dynamic zone, by component',
      uid: homepage,
      query: 'fields=title&populate[blocks][on][blocks.quote][fields]=id&populate[blocks][on][blocks.image]=true',
      wanted: { mode: 'first' },
    },
    { name: 'a polymorphic relation', uid: comment, query: 'fields=body&populate[subject][on][api::article.article][fields]=title' },
    { name: 'a polymorphic relation to many', uid: comment, query: 'fields=body&populate[subjects][on][api::tag.tag][fields]=name' },
    { name: 'the inverse side of a polymorphic relation', uid: product, query: 'fields=name&populate[comments][fields]=body' },
    { name: 'the other locales', uid: article, query: 'fields=title&populate[localizations][fields]=locale' },
    {
      name: 'without the grant to see what is populated',
      uid: article,
      query: 'fields=title&populate[author]=true&populate[category][fields]=name',
      actions: [`${article}.find`, `${category}.find`],
    },
  ],
  versions: [
    { name: 'drafts', uid: article, query: 'fields=title&status=draft&populate[tags][fields]=name&filters[tags][name]=red' },
    { name: 'every locale', uid: article, query: 'fields=title&locale=*&populate[category][fields]=name' },
    { name: 'a locale by a condition', uid: article, query: 'fields=title&locale[$eq]=fr', ...inStrapi },
    { name: 'modified documents', uid: tag, query: 'fields=name&publicationFilter=modified' },
    { name: 'documents that were never published', uid: tag, query: 'fields=name&status=draft&publicationFilter=never-published' },
    { name: 'documents that have a published version', uid: article, query: 'fields=title&status=draft&hasPublishedVersion=true' },
    {
      name: 'without the grant to see drafts behind relations, in Strapi',
      uid: author,
      query: 'fields=name&populate[articles][fields]=title&filters[articles][title]=x',
      actions: [`${author}.find`, `${article}.find`],
      draftGrant: true,
      ...inStrapi,
    },
  ],
}
