// Makes the golden project's database as large as it takes for a scan to be slow.
import Database from 'better-sqlite3'

/** Fills a database with copies of its articles as separate documents, and returns their number. */
export function grow(filename: string, wanted: number): number {
  const database = new Database(filename)
  const columns = (database.pragma('table_info(articles)') as { name: string }[]).map(({ name }) => name).filter((name) => name !== 'id')
  const copied = columns.map((name) => (name === 'document_id' ? 'lower(hex(randomblob(12)))' : `a."${name}"`))
  const insert = database.prepare(
    `insert into articles (${columns.map((name) => `"${name}"`).join(', ')}) select ${copied.join(', ')} from articles a where a.id <= 900`,
  )
  const count = database.prepare('select count(*) from articles').pluck()
  database.transaction(() => {
    while ((count.get() as number) < wanted) insert.run()
  })()
  const grown = count.get() as number
  database.close()
  return grown
}
