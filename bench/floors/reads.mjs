// The seven bench requests written by hand against the golden database: one statement for each populated relation of the
// whole page, rows assembled into objects. Every function returns the response, `data` and `meta`.

import * as shape from './shapes.mjs'
import { pageSize, prepareStatements } from './statements.mjs'

/** @param {import('better-sqlite3').Database} database */
export function prepareReads(database) {
  const { ofArticle, ofSection, ofBlock, blocks, ...statements } = prepareStatements(database)

  /**
   * @param {import('better-sqlite3').Statement} statement
   * @param {Parents} parents
   * @param {string} key
   * @param {(row: any[], at: number) => object} toObject
   */
  function one(statement, parents, key, toObject) {
    for (const parent of parents.list) parent[key] = null
    for (const row of /** @type {any[][]} */ (statement.all(parents.ids))) parents.byId.get(row[0])[key] = toObject(row, 1)
  }

  /** @type {typeof one} */
  function many(statement, parents, key, toObject) {
    for (const parent of parents.list) parent[key] = []
    for (const row of /** @type {any[][]} */ (statement.all(parents.ids))) parents.byId.get(row[0])[key].push(toObject(row, 1))
  }

  /**
   * Fills the dynamic zone of the articles; the entries of each component type are also returned as separate parents.
   * @param {Parents} articles
   */
  function fillBlocks(articles) {
    const entries = articles.list.map((article) => ({ id: article.id, ordered: /** @type {{ order: number, entry: object }[]} */ ([]) }))
    const byArticle = new Map(entries.map((entry) => [entry.id, entry.ordered]))
    /** @type {Record<string, Parents>} */
    const byType = {}
    for (const { name, statement, toObject } of blocks) {
      const found = []
      for (const row of /** @type {any[][]} */ (statement.all(articles.ids))) {
        const entry = toObject(row, 2)
        found.push(entry)
        byArticle.get(row[0])?.push({ order: row[1], entry })
      }
      byType[name] = parentsOf(found)
    }
    for (const article of articles.list) {
      const ordered = byArticle.get(article.id) ?? []
      article.blocks = ordered.sort((left, right) => left.order - right.order).map(({ entry }) => entry)
    }
    return byType
  }

  /** @param {Parents} articles */
  function fillEverything(articles) {
    one(ofArticle.cover, articles, 'cover', shape.file)
    many(ofArticle.gallery, articles, 'gallery', shape.file)
    one(ofArticle.author, articles, 'author', shape.author)
    one(ofArticle.reviewer, articles, 'reviewer', shape.author)
    many(ofArticle.tags, articles, 'tags', shape.tag)
    many(ofArticle.related, articles, 'related', shape.article)
    many(ofArticle.relatedTo, articles, 'relatedTo', shape.article)
    one(ofArticle.category, articles, 'category', shape.category)
    one(ofArticle.pick, articles, 'pick', shape.product)
    many(ofArticle.references, articles, 'references', shape.product)
    many(ofArticle.comments, articles, 'comments', shape.comment)
    one(ofArticle.spotlight, articles, 'spotlight', shape.comment)
    one(ofArticle.seo, articles, 'seo', shape.seo)
    many(ofArticle.sections, articles, 'sections', shape.section)
    many(ofArticle.localizations, articles, 'localizations', shape.article)
    fillBlocks(articles)
  }

  /** @param {number} total */
  const pagination = (total) => ({ pagination: { page: 1, pageSize, pageCount: Math.ceil(total / pageSize), total } })

  /** @param {(articles: Parents) => void} fill */
  const listById = (fill) => () => {
    const articles = parentsOf(statements.articlesById.all().map((row) => shape.article(/** @type {any[]} */ (row))))
    fill(articles)
    return { data: articles.list, meta: pagination(/** @type {number} */ (statements.countArticles.get())) }
  }

  return {
    flatList: () => ({
      data: statements.articlesByTitle.all().map((row) => shape.article(/** @type {any[]} */ (row))),
      meta: pagination(/** @type {number} */ (statements.countArticles.get())),
    }),

    listWithRelations: listById((articles) => {
      one(ofArticle.author, articles, 'author', shape.author)
      many(ofArticle.tags, articles, 'tags', shape.tag)
      one(ofArticle.category, articles, 'category', shape.category)
      one(ofArticle.cover, articles, 'cover', shape.file)
      one(ofArticle.seo, articles, 'seo', shape.seo)
    }),

    listWithComponents: listById((articles) => {
      many(ofArticle.sections, articles, 'sections', shape.section)
      const sections = parentsOf(articles.list.flatMap((article) => article.sections))
      many(ofSection.links, sections, 'links', shape.link)
      one(ofSection.product, sections, 'product', shape.product)
      many(ofSection.authors, sections, 'authors', shape.author)
      many(ofSection.tags, sections, 'tags', shape.tag)
      const { image, quote, cta } = fillBlocks(articles)
      one(ofBlock.picture, image, 'picture', shape.file)
      many(ofBlock.pictures, image, 'pictures', shape.file)
      one(ofBlock.person, quote, 'person', shape.author)
      one(ofBlock.link, cta, 'link', shape.link)
      many(ofBlock.more, cta, 'more', shape.link)
    }),

    listWithDeepFilter() {
      const rows = /** @type {any[][]} */ (statements.articlesDeep.all())
      return {
        data: rows.map(([id, documentId, title, slug, rank]) => ({ id, documentId, title, slug, rank })),
        meta: pagination(rows[0]?.[5] ?? 0),
      }
    },

    listWithEverything: listById(fillEverything),

    /** @param {string} documentId */
    oneWithEverything(documentId) {
      const article = parentsOf([shape.article(/** @type {any[]} */ (statements.articleByDocument.get(documentId)))])
      fillEverything(article)
      return { data: article.list[0], meta: {} }
    },

    singleType() {
      const home = shape.homepage(/** @type {any[]} */ (statements.homepage.get()))
      const [hero] = /** @type {any[][]} */ (statements.heroOfHomepage.all(home.id))
      const [row] = /** @type {any[][]} */ (statements.seoOfHomepage.all(home.id))
      const seo = row && parentsOf([shape.seo(row)])
      if (seo) {
        one(statements.shareImageOfSeo, seo, 'shareImage', shape.file)
        const [graph] = /** @type {any[][]} */ (statements.graphOfSeo.all(row[0]))
        seo.list[0].og = graph ? { id: graph[0], ogTitle: graph[1], ogType: graph[2] } : null
      }
      return {
        data: { ...home, hero: hero ? { id: hero[0], headline: hero[1], sub: hero[2] } : null, seo: seo?.list[0] ?? null },
        meta: {},
      }
    },
  }
}

/** @typedef {{ list: any[], byId: Map<number, any>, ids: string }} Parents */

/**
 * @param {any[]} list
 * @returns {Parents}
 */
function parentsOf(list) {
  const ids = list.map((entry) => entry.id)
  return { list, byId: new Map(list.map((entry) => [entry.id, entry])), ids: JSON.stringify(ids) }
}
