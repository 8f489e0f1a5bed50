// The tables that Octavo keeps beside Strapi's layout, as plain data; all are named `octavo_*`, and Strapi ignores them.

/** What a column holds; with `?` it may be empty. Moments are integers: milliseconds since 1970. */
export type OctavoColumnType = 'text' | 'text?' | 'integer' | 'real?' | 'bytes?'

/** One of our own tables. */
export interface OctavoTable {
  readonly name: string
  readonly columns: Readonly<Record<string, OctavoColumnType>>
  /** The primary key. */
  readonly key: readonly string[]
  /** Whether the database numbers the rows by their key, and never gives a number twice. */
  readonly numbered?: boolean
  /** Columns that no two rows have the same values in. */
  readonly unique?: readonly string[]
  /** Columns of indexes, by what follows the table's name in their names. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

/** All of our own tables. */
export const octavoTables: readonly OctavoTable[] = [
  {
    // Links that a published row should have to a target without a published version.
    name: 'octavo_pending_links',
    columns: {
      id: 'integer',
      link_table: 'text',
      owner_id: 'integer',
      target_type: 'text',
      target_document: 'text',
      target_locale: 'text?',
      place: 'real?',
    },
    key: ['id'],
    numbered: true,
    indexes: { target: ['target_document'], owner: ['owner_id'] },
  },
  {
    // Drafts that were changed since they were published: written on, or linked from the other side.
    name: 'octavo_modified_drafts',
    columns: { type: 'text', row_id: 'integer' },
    key: ['type', 'row_id'],
  },
  {
    // Documents whose drafts may differ in what their locales share.
    name: 'octavo_out_of_sync_locales',
    columns: { type: 'text', document_id: 'text' },
    key: ['type', 'document_id'],
  },
  {
    // How often a user's credentials were made void, and when last; the row outlives the user.
    name: 'octavo_credential_versions',
    columns: { user_id: 'integer', epoch: 'integer', changed_at: 'integer' },
    key: ['user_id'],
  },
  {
    // Codes that were sent or handed out once (reset, confirm, connect), hashed.
    name: 'octavo_one_time_tokens',
    columns: { id: 'integer', purpose: 'text', hash: 'text', user_id: 'integer', expires_at: 'integer' },
    key: ['id'],
    numbered: true,
    unique: ['hash'],
    indexes: { user: ['user_id'], end: ['expires_at'] },
  },
  {
    // Which account of another service belongs to which user.
    name: 'octavo_identities',
    columns: { id: 'integer', provider: 'text', subject: 'text', user_id: 'integer' },
    key: ['id'],
    numbered: true,
    unique: ['provider', 'subject'],
    indexes: { user: ['user_id'] },
  },
  {
    // Attempts that several processes count together.
    name: 'octavo_rate_limits',
    columns: { key: 'text', count: 'integer', ends_at: 'integer' },
    key: ['key'],
    indexes: { end: ['ends_at'] },
  },
  {
    // Files that take the places of others because their transaction was committed.
    name: 'octavo_file_swaps',
    columns: { id: 'text' },
    key: ['id'],
  },
  {
    // What was done under which idempotency key, and how it was answered; `total` counts the bytes of all answers so far.
    name: 'octavo_idempotency_keys',
    columns: {
      id: 'integer',
      caller: 'text',
      key: 'text',
      fingerprint: 'text',
      grants: 'text',
      document_id: 'text',
      answer: 'bytes?',
      created_at: 'integer',
      total: 'integer',
    },
    key: ['id'],
    numbered: true,
    unique: ['caller', 'key'],
    indexes: { moment: ['created_at'], total: ['total'] },
  },
  {
    // Events about content, for listeners, webhooks and event streams. A sequence is never given twice.
    name: 'octavo_outbox',
    columns: { sequence: 'integer', event: 'text', created_at: 'integer', payload: 'text' },
    key: ['sequence'],
    numbered: true,
  },
  {
    // The cursor of each listener and each webhook, the event up to which all are delivered or given up, and until when it wants none.
    name: 'octavo_consumers',
    columns: { name: 'text', sequence: 'integer', paused_until: 'integer' },
    key: ['name'],
  },
  {
    // For which time each schedule was run last.
    name: 'octavo_schedule_times',
    columns: { name: 'text', last_time: 'integer' },
    key: ['name'],
  },
  {
    // What administrators did: which act, on what, which fields (JSON, names alone, or fields and
    // locales of a document), from which address. No administrator: 0, and who it was.
    name: 'octavo_activity',
    columns: {
      id: 'integer',
      made_at: 'integer',
      administrator_id: 'integer',
      administrator: 'text',
      action: 'text',
      subject: 'text',
      subject_id: 'text',
      name: 'text?',
      fields: 'text?',
      address: 'text?',
    },
    key: ['id'],
    numbered: true,
    indexes: { administrator: ['administrator_id'], subject: ['subject', 'subject_id'] },
  },
  {
    // Changes of the model: the files they write and what these were before (JSON: path to text, or null where there is none), what they
    // keep aside, which attributes they leave with more than may be there (`narrowed`), and whether the files are on disk. No two changes
    // follow the same one, so that of two at once one wins. `is_made` is 0 while the steps of a change are committed one by one, and so
    // many are `done`. `moves` is 1 where content is moved: writes that were begun for a model before it fail.
    name: 'octavo_model_history',
    columns: {
      id: 'integer',
      follows: 'integer',
      version: 'text',
      summary: 'text',
      files: 'text',
      former: 'text',
      renames: 'text',
      kept: 'text',
      narrowed: 'text',
      undoes: 'integer',
      moves: 'integer',
      steps: 'text',
      done: 'integer',
      is_made: 'integer',
      made_at: 'integer',
      is_filed: 'integer',
    },
    key: ['id'],
    numbered: true,
    unique: ['follows'],
  },
  {
    // The schema files of the model that the database has, by their paths in the project; `change` is the last one that they contain.
    name: 'octavo_schemas',
    columns: { path: 'text', text: 'text', change: 'integer' },
    key: ['path'],
  },
  {
    // Work that one owner does at a time: who does it, and a number that grows while the owner is alive.
    name: 'octavo_leases',
    columns: { name: 'text', owner: 'text?', beat: 'integer' },
    key: ['name'],
  },
  {
    // Events that the cursor of a listener or webhook does not describe: they wait for another attempt, were given up, or were delivered
    // ahead of the cursor.
    name: 'octavo_deliveries',
    columns: { consumer: 'text', sequence: 'integer', ordering_key: 'text', state: 'text', attempts: 'integer', due_at: 'integer' },
    key: ['consumer', 'sequence'],
  },
  {
    // The signing secrets of Strapi's webhooks. After a rotation the former secret is valid for some time.
    name: 'octavo_webhooks',
    columns: { webhook_id: 'integer', secret: 'text', former_secret: 'text?', former_until: 'integer' },
    key: ['webhook_id'],
  },
  {
    // The log of attempts to deliver events to webhooks; status 0: there was no response.
    name: 'octavo_webhook_attempts',
    columns: {
      id: 'integer',
      webhook_id: 'integer',
      sequence: 'integer',
      event: 'text',
      subject: 'text',
      attempt: 'integer',
      status: 'integer',
      error: 'text?',
      duration: 'integer',
      attempted_at: 'integer',
    },
    key: ['id'],
    numbered: true,
    indexes: { webhook: ['webhook_id'] },
  },
]

/** The names of the tables and of their indexes, apart from those of keys. */
export const octavoNames: readonly string[] = octavoTables.flatMap(({ name, indexes = {} }) => [
  name,
  ...Object.keys(indexes).map((suffix) => `${name}_${suffix}`),
])

/** A table of earlier versions whose rows belong to one of today: its columns, and what they get. */
interface FormerTable {
  readonly from: string
  readonly to: string
  /** The column that tells rows apart. */
  readonly key: 'id' | 'name'
  readonly columns: Readonly<Record<string, string>>
}

const changeColumns = {
  ...{
    id: 'id',
    follows: 'follows',
    version: 'version',
    summary: 'summary',
    files: 'files',
    former: "'{}'",
    renames: "'[]'",
    kept: "'[]'",
    narrowed: "'[]'",
  },
  ...{ undoes: '0', moves: '0', steps: "'[]'", done: '0', is_made: '1', made_at: 'made_at', is_filed: 'is_filed' },
}
const consumerColumns = { name: 'name', sequence: 'sequence', paused_until: '0' }

/** What is newer comes first: rows that are there stay as they are. */
const formerTables: readonly FormerTable[] = [
  { from: 'octavo_listener_cursors', to: 'octavo_consumers', key: 'name', columns: consumerColumns },
  { from: 'octavo_listeners', to: 'octavo_consumers', key: 'name', columns: consumerColumns },
  { from: 'octavo_schedules', to: 'octavo_schedule_times', key: 'name', columns: { name: 'name', last_time: 'last_time' } },
  { from: 'octavo_model_changes', to: 'octavo_model_history', key: 'id', columns: changeColumns },
]

/** Whether a database has a table of earlier versions whose rows belong to another one today. */
export const hasFormerTables = (has: (name: string) => boolean): boolean => formerTables.some(({ from }) => has(from))

/** The statements that move the rows of such tables, and drop these, in words of every database. */
export const replaceFormerTables = (has: (name: string) => boolean): readonly string[] =>
  formerTables
    .filter(({ from }) => has(from))
    .flatMap(({ from, to, key, columns }) => [
      `insert into ${to} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')} from ${from} where ${key} not in (select ${key} from ${to})`,
      `drop table ${from}`,
    ])

/** Tables of ours that earlier versions had, that one driver alone has, or that only exist while a copy is under way. */
const otherOctavoTables: readonly string[] = [
  ...['octavo_hidden_links', 'octavo_drifted_drafts', 'octavo_unequal_locales', 'octavo_user_epochs', 'octavo_codes'],
  ...['octavo_counters', 'octavo_jobs'],
  ...formerTables.map(({ from }) => from),
  ...['octavo_write_turns', 'octavo_server_epoch', 'octavo_commits', 'octavo_write_outcomes', 'octavo_preparation', 'octavo_copy_progress'],
  'octavo_time_zone',
]

const allOctavoTables: ReadonlySet<string> = new Set([...octavoTables.map(({ name }) => name), ...otherOctavoTables])

/** Whether a table is one of ours, and not one of a project that is called alike. */
export const isOctavoTable = (name: string): boolean => allOctavoTables.has(name)
