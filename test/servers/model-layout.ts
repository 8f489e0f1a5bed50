// The indexes and foreign keys that a server has for a model, against those that Strapi's layout has for it.

import type { Model } from '../../src/model/schema/types.js'
import { storedName } from '../../src/model/tables/table.js'
import { describeTables } from '../../src/model/tables/tables.js'
import type { TestServer } from './server.js'

const queries = {
  postgres: {
    indexes: `select c.relname as "table", i.relname as name, x.indisunique as is_unique,
        (select string_agg(a.attname, ',' order by o.place) from unnest(x.indkey::int2[]) with ordinality o (number, place)
           join pg_attribute a on a.attrelid = c.oid and a.attnum = o.number) as columns
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and not x.indisprimary`,
    foreignKeys: `select c.relname as "table", k.conname as name, a.attname as "column", t.relname as target, k.confdeltype as action
      from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class t on t.oid = k.confrelid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1] where k.contype = 'f'`,
  },
  mysql: {
    indexes: `select table_name as \`table\`, index_name as name, non_unique = 0 as is_unique,
        group_concat(column_name order by seq_in_index separator ',') as columns
      from information_schema.statistics where table_schema = database() and index_name <> 'PRIMARY' group by table_name, index_name, non_unique`,
    foreignKeys: `select k.table_name as \`table\`, k.constraint_name as name, k.column_name as \`column\`, k.referenced_table_name as target,
        (select case r.delete_rule when 'CASCADE' then 'c' else 'n' end from information_schema.referential_constraints r
          where r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name and r.table_name = k.table_name) as action
      from information_schema.key_column_usage k where k.table_schema = database() and k.referenced_table_name is not null`,
  },
} as const

/** Differences as short sentences. Archived tables should have no foreign keys. Octavo's indexes are left out. */
export async function layoutDifferences(server: TestServer, url: string, model: Model): Promise<readonly string[]> {
  const { indexes, foreignKeys } = queries[server.client]
  const found = [
    ...(await server.run(url, indexes))
      .filter(({ table, name }) => !/^octavo_/.test(String(table)) && !/^octavo_/.test(String(name)))
      .map(({ table, name, is_unique, columns }) => `${table} ${is_unique ? 'unique ' : ''}index ${name} (${columns})`),
    ...(await server.run(url, foreignKeys)).map(
      ({ table, name, column, target, action }) => `${table} key ${name} (${column}) → ${target} ${action}`,
    ),
  ]
  const short = server.client === 'postgres' ? storedName : (name: string) => name
  const expected = describeTables(model).flatMap(({ name: table, indexes: all, foreignKeys: keys }) => [
    ...all.map(({ name, unique, columns }) => `${short(table)} ${unique ? 'unique ' : ''}index ${short(name)} (${columns.map(short)})`),
    ...keys.map(
      ({ name, columns, references, onDelete }) =>
        `${short(table)} key ${short(name)} (${columns.map(short)}) → ${short(references.table)} ${onDelete === 'CASCADE' ? 'c' : 'n'}`,
    ),
  ])
  return [
    ...expected.filter((line) => !found.includes(line)).map((line) => `lacks ${line}`),
    ...found.filter((line) => !expected.includes(line)).map((line) => `has ${line}`),
  ].sort()
}
