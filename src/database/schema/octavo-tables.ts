// The tables that Octavo keeps beside Strapi's layout, all named `octavo_*`. Strapi ignores them.
import type { Database } from 'better-sqlite3'

const statements = [
  // Links that a published row should have to a target without a published version.
  `create table if not exists octavo_pending_links (
    id integer primary key autoincrement,
    link_table text not null,
    owner_id integer not null,
    target_type text not null,
    target_document text not null,
    target_locale text,
    place real
  )`,
  'create index if not exists octavo_pending_links_target on octavo_pending_links (target_document)',
  'create index if not exists octavo_pending_links_owner on octavo_pending_links (owner_id)',
  // Drafts that were changed since they were published: written on, or linked from the other side.
  'create table if not exists octavo_modified_drafts (type text not null, row_id integer not null, primary key (type, row_id)) without rowid',
  // Documents whose drafts may differ in what their locales share.
  `create table if not exists octavo_out_of_sync_locales (
    type text not null, document_id text not null, primary key (type, document_id)
  ) without rowid`,
  // How often a user's credentials were made void, and when last; the row outlives the user.
  'create table if not exists octavo_credential_versions (user_id integer primary key, epoch integer not null, changed_at integer not null)',
  // Codes that were sent or handed out once (reset, confirm, connect), hashed.
  `create table if not exists octavo_one_time_tokens (
    id integer primary key autoincrement,
    purpose text not null,
    hash text not null unique,
    user_id integer not null,
    expires_at integer not null
  )`,
  'create index if not exists octavo_one_time_tokens_user on octavo_one_time_tokens (user_id)',
  'create index if not exists octavo_one_time_tokens_end on octavo_one_time_tokens (expires_at)',
  // Which account of another service belongs to which user.
  `create table if not exists octavo_identities (
    id integer primary key autoincrement,
    provider text not null,
    subject text not null,
    user_id integer not null,
    unique (provider, subject)
  )`,
  // Attempts that several processes count together.
  'create table if not exists octavo_rate_limits (key text primary key, count integer not null, ends_at integer not null)',
  'create index if not exists octavo_rate_limits_end on octavo_rate_limits (ends_at)',
  'create index if not exists octavo_identities_user on octavo_identities (user_id)',
  // Files that take the places of others because their transaction was committed.
  'create table if not exists octavo_file_swaps (id text primary key)',
  // What was done under which idempotency key, and how it was answered; `total` counts the bytes of all answers so far.
  `create table if not exists octavo_idempotency_keys (
    id integer primary key autoincrement,
    caller text not null,
    key text not null,
    fingerprint text not null,
    grants text not null,
    document_id text not null,
    answer blob,
    created_at integer not null,
    total integer not null,
    unique (caller, key)
  )`,
  'create index if not exists octavo_idempotency_keys_moment on octavo_idempotency_keys (created_at)',
  'create index if not exists octavo_idempotency_keys_total on octavo_idempotency_keys (total)',
  // What has happened to content, for those who are told. A sequence is never given twice.
  `create table if not exists octavo_outbox (
    sequence integer primary key autoincrement,
    event text not null,
    created_at integer not null,
    payload text not null
  )`,
  // How far each listener has been told, and by which process it is being told.
  `create table if not exists octavo_listener_cursors (
    name text primary key,
    sequence integer not null,
    owner text,
    beat integer not null
  ) without rowid`,
]

const namesMade = statements.map((statement) => /if not exists (\w+)/.exec(statement)![1]!)

/** Tables that had another name in earlier versions, and the indexes that go by it. */
const renamed: readonly { readonly from: string; readonly to: string; readonly indexes: readonly string[] }[] = [
  { from: 'octavo_hidden_links', to: 'octavo_pending_links', indexes: ['octavo_hidden_links_target', 'octavo_hidden_links_owner'] },
  { from: 'octavo_drifted_drafts', to: 'octavo_modified_drafts', indexes: [] },
  { from: 'octavo_unequal_locales', to: 'octavo_out_of_sync_locales', indexes: [] },
  { from: 'octavo_user_epochs', to: 'octavo_credential_versions', indexes: [] },
  { from: 'octavo_codes', to: 'octavo_one_time_tokens', indexes: ['octavo_codes_user', 'octavo_codes_end'] },
  { from: 'octavo_counters', to: 'octavo_rate_limits', indexes: ['octavo_counters_end'] },
  { from: 'octavo_listeners', to: 'octavo_listener_cursors', indexes: [] },
]

/** Whether a database with these tables and indexes lacks one of ours, or has one under an earlier name. */
export const lacksOctavoTables = (present: ReadonlySet<string>): boolean =>
  namesMade.some((name) => !present.has(name)) || renamed.some(({ from }) => present.has(from))

/** Gives tables of earlier versions their names of today, and creates the tables that are missing. */
export function createOctavoTables(database: Database): void {
  const isThere = (name: string): boolean =>
    database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined
  const earlier = renamed.filter(({ from }) => isThere(from))
  // Otherwise a rename fails where any view of the database names a table that is gone.
  if (earlier.length > 0) database.pragma('legacy_alter_table = on')
  try {
    for (const { from, to, indexes } of earlier) {
      if (isThere(to)) mergeTable(database, from, to)
      else database.exec(`alter table ${from} rename to ${to}`)
      for (const index of indexes) database.exec(`drop index if exists ${index}`)
    }
  } finally {
    if (earlier.length > 0) database.pragma('legacy_alter_table = off')
  }
  for (const statement of statements) database.exec(statement)
}

/** An earlier version has run after a later one: what it wrote comes to the rows of today. Of two credential versions the higher holds. */
function mergeTable(database: Database, from: string, to: string): void {
  const columns = database.prepare("select name from pragma_table_info(?) where name <> 'id'").pluck().all(from).join(', ')
  database.exec(`insert or ignore into ${to} (${columns}) select ${columns} from ${from}`)
  if (to === 'octavo_credential_versions')
    database.exec(`update ${to} as t set epoch = max(epoch, (select epoch from ${from} f where f.user_id = t.user_id))
      where user_id in (select user_id from ${from})`)
  database.exec(`drop table ${from}`)
}
