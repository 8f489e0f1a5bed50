// Catalog of a PostgreSQL database, as short sentences that can be compared.
import type { TestServer } from '../servers/server.js'

const ours = "n.nspname = current_schema() and c.relkind in ('r', 'p')"

const queries = {
  columns: `select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as said
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where ${ours} order by c.relname collate "C", a.attnum`,
  indexes: `select pg_get_indexdef(i.indexrelid) as said
    from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace where ${ours}`,
  constraints: `select c.relname || ' ' || k.conname || ': ' || pg_get_constraintdef(k.oid) as said
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where ${ours} and k.contype in ('p', 'u', 'f', 'c')`,
  sequences: `select s.relname || ' as ' || q.seqtypid::regtype || ' from ' || q.seqstart || ' by ' || q.seqincrement || ' to ' || q.seqmax
      || ' owned by ' || c.relname || '.' || a.attname as said
    from pg_sequence q join pg_class s on s.oid = q.seqrelid join pg_namespace n on n.oid = s.relnamespace
    left join pg_depend d on d.objid = s.oid and d.deptype = 'a' and d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass
    left join pg_class c on c.oid = d.refobjid left join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
    where n.nspname = current_schema()`,
}

/** Columns in their order, the others sorted. */
export type Catalog = Readonly<Record<keyof typeof queries, readonly string[]>>

/** Reads the catalog of the current schema. */
export async function catalogOf(server: TestServer, url: string): Promise<Catalog> {
  const read = async (name: keyof typeof queries): Promise<readonly string[]> => {
    const said = (await server.run(url, queries[name])).map((row) => String(row.said))
    return name === 'columns' ? said : said.sort()
  }
  return {
    columns: await read('columns'),
    indexes: await read('indexes'),
    constraints: await read('constraints'),
    sequences: await read('sequences'),
  }
}
