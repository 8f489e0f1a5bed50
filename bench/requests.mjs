// The seven reads that every server answers: anonymous requests on the golden database, from a flat list to everything
// populated. Their addresses are fixed, so that figures of different days and machines can be compared.

const page = 'pagination[pageSize]=25'

/** An article with every relation, component and zone filled. */
const article = 'gs092liserx3lbaaglvq3g8a'

/**
 * @typedef {object} BenchRequest
 * @property {string} name how tables and options call it
 * @property {string} path path and query, brackets written as they are
 */

/** @type {readonly BenchRequest[]} */
export const requests = [
  { name: 'flat list', path: `/api/articles?sort=title&${page}` },
  {
    name: 'list with relations',
    path: `/api/articles?${page}&populate[0]=author&populate[1]=tags&populate[2]=category&populate[3]=cover&populate[4]=seo`,
  },
  { name: 'list with components', path: `/api/articles?${page}&populate[sections][populate]=*&populate[blocks][populate]=*` },
  {
    name: 'list with deep filter',
    path: `/api/articles?filters[author][name][$contains]=e&filters[tags][name][$contains]=a&fields[0]=title&fields[1]=slug&fields[2]=rank&sort=title&${page}`,
  },
  { name: 'list with everything', path: `/api/articles?${page}&populate=*` },
  { name: 'one with everything', path: `/api/articles/${article}?populate=*` },
  { name: 'single type', path: '/api/homepage?populate[hero]=true&populate[seo][populate]=*' },
]
