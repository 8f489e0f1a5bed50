// Converts rows of the golden database to response objects, one function for each table. Rows are arrays, in the order of
// the columns named next to the function; `at` is the first index of the table's columns in a joined row.

/** @param {number | null} milliseconds */
const instant = (milliseconds) => (milliseconds === null ? null : new Date(milliseconds).toISOString())

/** @param {number | null} value */
const truth = (value) => (value === null ? null : value === 1)

/** @param {number | null} value */
const digits = (value) => (value === null ? null : String(value))

/**
 * Numbers and booleans are stored as numbers, plain strings without quotes.
 * @param {unknown} value
 */
function json(value) {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/**
 * @param {string} alias
 * @param {string} columns
 */
const of = (alias, columns) =>
  columns
    .split(' ')
    .map((column) => `${alias}."${column}"`)
    .join(', ')

export const articleColumns = of(
  'a',
  'id document_id title slug summary body content rating score rank views featured metadata day at starts stamp kind tone lead contact code regexed created_at updated_at published_at locale',
)

/** @param {any[]} row */
export const article = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  title: row[at + 2],
  slug: row[at + 3],
  summary: row[at + 4],
  body: row[at + 5],
  content: json(row[at + 6]),
  rating: row[at + 7],
  score: row[at + 8],
  rank: row[at + 9],
  views: digits(row[at + 10]),
  featured: truth(row[at + 11]),
  metadata: json(row[at + 12]),
  day: row[at + 13],
  at: row[at + 14],
  starts: instant(row[at + 15]),
  stamp: digits(row[at + 16]),
  kind: row[at + 17],
  tone: row[at + 18],
  lead: row[at + 19],
  contact: row[at + 20],
  code: row[at + 21],
  regexed: row[at + 22],
  createdAt: instant(row[at + 23]),
  updatedAt: instant(row[at + 24]),
  publishedAt: instant(row[at + 25]),
  locale: row[at + 26],
})

export const authorColumns = of('a', 'id document_id name email bio born active awards income height created_at updated_at published_at')

/** @param {any[]} row */
export const author = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  name: row[at + 2],
  email: row[at + 3],
  bio: row[at + 4],
  born: row[at + 5],
  active: truth(row[at + 6]),
  awards: row[at + 7],
  income: digits(row[at + 8]),
  height: row[at + 9],
  createdAt: instant(row[at + 10]),
  updatedAt: instant(row[at + 11]),
  publishedAt: instant(row[at + 12]),
})

export const tagColumns = of('t', 'id document_id name slug color weight created_at updated_at published_at')

/** @param {any[]} row */
export const tag = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  name: row[at + 2],
  slug: row[at + 3],
  color: row[at + 4],
  weight: row[at + 5],
  createdAt: instant(row[at + 6]),
  updatedAt: instant(row[at + 7]),
  publishedAt: instant(row[at + 8]),
})

export const categoryColumns = of('c', 'id document_id name slug position note created_at updated_at published_at locale')

/** @param {any[]} row */
export const category = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  name: row[at + 2],
  slug: row[at + 3],
  position: row[at + 4],
  note: row[at + 5],
  createdAt: instant(row[at + 6]),
  updatedAt: instant(row[at + 7]),
  publishedAt: instant(row[at + 8]),
  locale: row[at + 9],
})

export const productColumns = of(
  'p',
  'id document_id name sku description price stock weight barcode available specs release_date created_at updated_at published_at locale',
)

/** @param {any[]} row */
export const product = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  name: row[at + 2],
  sku: row[at + 3],
  description: row[at + 4],
  price: row[at + 5],
  stock: row[at + 6],
  weight: row[at + 7],
  barcode: digits(row[at + 8]),
  available: truth(row[at + 9]),
  specs: json(row[at + 10]),
  releaseDate: row[at + 11],
  createdAt: instant(row[at + 12]),
  updatedAt: instant(row[at + 13]),
  publishedAt: instant(row[at + 14]),
  locale: row[at + 15],
})

export const commentColumns = of('c', 'id document_id body stars created_at updated_at published_at locale')

/** @param {any[]} row */
export const comment = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  body: row[at + 2],
  stars: row[at + 3],
  createdAt: instant(row[at + 4]),
  updatedAt: instant(row[at + 5]),
  publishedAt: instant(row[at + 6]),
  locale: row[at + 7],
})

export const fileColumns = of(
  'f',
  'id document_id name alternative_text caption focal_point width height formats hash ext mime size url preview_url provider provider_metadata created_at updated_at published_at',
)

/** @param {any[]} row */
export const file = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  name: row[at + 2],
  alternativeText: row[at + 3],
  caption: row[at + 4],
  focalPoint: json(row[at + 5]),
  width: row[at + 6],
  height: row[at + 7],
  formats: json(row[at + 8]),
  hash: row[at + 9],
  ext: row[at + 10],
  mime: row[at + 11],
  size: row[at + 12],
  url: row[at + 13],
  previewUrl: row[at + 14],
  provider: row[at + 15],
  provider_metadata: json(row[at + 16]),
  createdAt: instant(row[at + 17]),
  updatedAt: instant(row[at + 18]),
  publishedAt: instant(row[at + 19]),
})

export const homepageColumns = of('h', 'id document_id title tagline hits created_at updated_at published_at locale')

/** @param {any[]} row */
export const homepage = (row, at = 0) => ({
  id: row[at],
  documentId: row[at + 1],
  title: row[at + 2],
  tagline: row[at + 3],
  hits: row[at + 4],
  createdAt: instant(row[at + 5]),
  updatedAt: instant(row[at + 6]),
  publishedAt: instant(row[at + 7]),
  locale: row[at + 8],
})

export const seoColumns = of('s', 'id meta_title meta_description keywords priority no_index')

/** @param {any[]} row */
export const seo = (row, at = 0) => ({
  id: row[at],
  metaTitle: row[at + 1],
  metaDescription: row[at + 2],
  keywords: row[at + 3],
  priority: row[at + 4],
  noIndex: truth(row[at + 5]),
})

export const linkColumns = of('l', 'id label url external')

/** @param {any[]} row */
export const link = (row, at = 0) => ({ id: row[at], label: row[at + 1], url: row[at + 2], external: truth(row[at + 3]) })

export const sectionColumns = of('s', 'id heading body position')

/** @param {any[]} row */
export const section = (row, at = 0) => ({ id: row[at], heading: row[at + 1], body: row[at + 2], position: row[at + 3] })

export const imageColumns = of('b', 'id alt')

/** @param {any[]} row */
export const image = (row, at = 0) => ({ __component: 'blocks.image', id: row[at], alt: row[at + 1] })

export const quoteColumns = of('b', 'id text cite')

/** @param {any[]} row */
export const quote = (row, at = 0) => ({ __component: 'blocks.quote', id: row[at], text: row[at + 1], cite: row[at + 2] })

export const ctaColumns = of('b', 'id title')

/** @param {any[]} row */
export const cta = (row, at = 0) => ({ __component: 'blocks.cta', id: row[at], title: row[at + 1] })

export const richColumns = of('b', 'id title body number data when')

/** @param {any[]} row */
export const rich = (row, at = 0) => ({
  __component: 'blocks.rich',
  id: row[at],
  title: row[at + 1],
  body: row[at + 2],
  number: row[at + 3],
  data: json(row[at + 4]),
  when: instant(row[at + 5]),
})
