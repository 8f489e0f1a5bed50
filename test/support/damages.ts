// Damage to the golden project's database, and what `octavo doctor` finds there.

/** A row of a component and one of its entries in articles. */
export const entry = "(select min(id) from articles_cmps where component_type = 'page.section')"

/** Statements that break a rule each, on every database, and the checks that find it. */
export const damages: readonly { readonly what: string; readonly sql: string; readonly found: readonly string[] }[] = [
  {
    what: 'two published rows of a document',
    sql: `insert into tags (document_id, name, published_at, locale) select document_id, name, published_at, locale from tags where published_at is not null limit 1`,
    found: ['a document has at most one draft and one published row per locale'],
  },
  {
    what: 'two rows of a document of a type without drafts',
    sql: `insert into authors (document_id, name, published_at) select document_id, name, published_at from authors limit 1`,
    found: ['a document has at most one draft and one published row per locale'],
  },
  { what: 'a row without a document id', sql: `insert into suppliers (name) values ('nobody')`, found: ['every row has a document id'] },
  {
    what: 'a published row without a draft',
    sql: `insert into tags (document_id, name, published_at) values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'alone', (select max(published_at) from tags))`,
    found: ['every published row has its draft'],
  },
  {
    what: 'a link to a row that is gone',
    sql: `insert into articles_author_lnk (article_id, author_id) select max(id), 999999 from articles where id not in (select article_id from articles_author_lnk)`,
    found: ['foreign keys reference existing rows', 'link rows reference existing rows'],
  },
  {
    what: 'two targets at one place',
    sql: `update articles_tags_lnk set tag_ord = 1 where article_id = (select a from (select article_id as a from articles_tags_lnk group by article_id having count(*) > 1 limit 1) as one)`,
    found: ['targets of an entry have distinct positions'],
  },
  {
    what: 'two targets where one is allowed',
    sql: `insert into articles_author_lnk (article_id, author_id) select article_id, (select max(id) from authors where id <> author_id) from articles_author_lnk limit 1`,
    found: ['to-one relations have at most one target'],
  },
  {
    what: 'a component row that nothing uses',
    sql: `insert into components_page_links (label) values ('lost')`,
    found: ['every component row is used'],
  },
  {
    what: 'an entry without its component row',
    sql: `delete from components_shop_variants where id = (select min(cmp_id) from products_cmps where component_type = 'shop.variant')`,
    found: ['component entries reference existing rows'],
  },
  {
    what: 'an entry whose owner is gone',
    sql: `update articles_cmps set entity_id = 999999 where id = ${entry}`,
    found: ['foreign keys reference existing rows', 'component entries reference existing rows'],
  },
  {
    what: 'two entries of one component row',
    sql: `insert into articles_cmps (entity_id, cmp_id, component_type, field, "order") select entity_id, cmp_id, component_type, 'blocks', 99 from articles_cmps where id = ${entry}`,
    found: ['no component row is used twice'],
  },
  {
    what: 'two entries at one place',
    sql: `update articles_cmps set "order" = 1 where field = 'blocks' and entity_id = (select entity_id from articles_cmps where field = 'blocks' group by entity_id having count(*) > 1 limit 1)`,
    found: ['component entries have distinct positions'],
  },
  {
    what: 'a link to a file whose owner is gone',
    sql: `update files_related_mph set related_id = 999999 where id = (select min(id) from files_related_mph)`,
    found: ['file links have an existing owner'],
  },
  {
    what: 'a link to a file that is gone',
    sql: `insert into files_related_mph (file_id, related_id, related_type, field, "order") select 999999, min(id), 'api::article.article', 'gallery', 99 from articles`,
    found: ['foreign keys reference existing rows', 'file links have an existing file'],
  },
  {
    what: 'two files at one place',
    sql: `insert into files_related_mph (file_id, related_id, related_type, field, "order") select file_id, related_id, related_type, field, "order" from files_related_mph where "order" is not null limit 1`,
    found: ['files of an attribute have distinct positions'],
  },
]
