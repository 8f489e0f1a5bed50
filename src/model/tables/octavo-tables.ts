// Octavo's tables next to Strapi's layout, as plain data; all are named `octavo_*`, and Strapi ignores them.

/** `?`: nullable. Timestamps are integers in milliseconds since 1970. */
export type OctavoColumnType = 'text' | 'text?' | 'integer' | 'real?' | 'bytes?'

export interface OctavoTable {
  readonly name: string
  readonly columns: Readonly<Record<string, OctavoColumnType>>
  /** The primary key. */
  readonly key: readonly string[]
  /** An autoincremented key that is never reused. */
  readonly numbered?: boolean
  /** Columns that no two rows have the same values in. */
  readonly unique?: readonly string[]
  /** Columns of indexes by suffix of the index name. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>
}

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
    // Drafts that differ from their published version, by a write or a link from the other side.
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
    // Number and time of the last revocation of a user's credentials; the row outlives the user.
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
    // Users' accounts at other services.
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
    // Replacements of files by committed transactions.
    name: 'octavo_file_swaps',
    columns: { id: 'text' },
    key: ['id'],
  },
  {
    // Responses by idempotency key; `total` counts the bytes of all responses.
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
    // Changes of documents, for the pages of administrators: recorded only while one follows. `begin` marks the start of a recording.
    // Administrator 0: none.
    name: 'octavo_document_changes',
    columns: {
      sequence: 'integer',
      event: 'text',
      made_at: 'integer',
      administrator_id: 'integer',
      type: 'text',
      document_id: 'text',
      locale: 'text?',
    },
    key: ['sequence'],
    numbered: true,
  },
  {
    // Followers of these changes; `beat` grows while one of their processes is alive.
    name: 'octavo_followers',
    columns: { name: 'text', beat: 'integer' },
    key: ['name'],
  },
  {
    // Where the tabs of administrators are: the document, and the path of the field. Times by the clock of the database.
    name: 'octavo_presence',
    columns: {
      administrator_id: 'integer',
      tab: 'text',
      type: 'text',
      document_id: 'text',
      locale: 'text?',
      field: 'text?',
      since: 'integer',
      seen_at: 'integer',
    },
    key: ['administrator_id', 'tab'],
  },
  {
    // Saved views of lists; the definition is JSON, and so are the ids of the roles that share one.
    name: 'octavo_views',
    columns: {
      id: 'integer',
      administrator_id: 'integer',
      type: 'text',
      name: 'text',
      visibility: 'text',
      roles: 'text',
      definition: 'text',
      changed_at: 'integer',
    },
    key: ['id'],
    numbered: true,
    indexes: { type: ['type'] },
  },
  {
    // Publications of documents and their withdrawal at a later time, for each locale (empty: none). `failed_at` 0: due at its time;
    // otherwise it was refused, for the reason in `error` (JSON).
    name: 'octavo_scheduled_actions',
    columns: {
      id: 'integer',
      type: 'text',
      document_id: 'text',
      locale: 'text',
      action: 'text',
      due_at: 'integer',
      administrator_id: 'integer',
      made_at: 'integer',
      failed_at: 'integer',
      error: 'text?',
    },
    key: ['id'],
    numbered: true,
    indexes: { document: ['document_id'], due: ['failed_at', 'due_at'] },
  },
  {
    // The cursor of each listener and webhook, up to which all events are delivered or given up, and the end of its pause.
    name: 'octavo_consumers',
    columns: { name: 'text', sequence: 'integer', paused_until: 'integer' },
    key: ['name'],
  },
  {
    // The last run of each schedule.
    name: 'octavo_schedule_times',
    columns: { name: 'text', last_time: 'integer' },
    key: ['name'],
  },
  {
    // Actions of administrators: target, changed fields (JSON, names only, or fields and locales of a document) and address. Administrator
    // 0: none, with a name.
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
    // Changes of the model: their files and the former files (JSON: path to text, or null), archived content, attributes with more entries
    // than allowed (`narrowed`), and whether the files are on disk. Each change follows another one, so that only one of two concurrent
    // changes succeeds. `is_made` is 0 while steps are committed one by one, of which `done` are complete. `moves` is 1 if content is
    // moved: writes begun for an earlier model then fail.
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
    // The schema files of the database's model by path; `change` is the last one that they contain.
    name: 'octavo_schemas',
    columns: { path: 'text', text: 'text', change: 'integer' },
    key: ['path'],
  },
  {
    // Leases: the owner of a task, and a number that grows while the owner is alive.
    name: 'octavo_leases',
    columns: { name: 'text', owner: 'text?', beat: 'integer' },
    key: ['name'],
  },
  {
    // Exceptions to the cursor of a listener or webhook: events to retry, given up, or delivered ahead.
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

/** A table of earlier versions whose rows move to a current one. */
interface FormerTable {
  readonly from: string
  readonly to: string
  readonly key: 'id' | 'name'
  readonly columns: Readonly<Record<string, string>>
}

const changeColumns = {
  id: 'id',
  follows: 'follows',
  version: 'version',
  summary: 'summary',
  files: 'files',
  former: "'{}'",
  renames: "'[]'",
  kept: "'[]'",
  narrowed: "'[]'",
  undoes: '0',
  moves: '0',
  steps: "'[]'",
  done: '0',
  is_made: '1',
  made_at: 'made_at',
  is_filed: 'is_filed',
}
const consumerColumns = { name: 'name', sequence: 'sequence', paused_until: '0' }

/** Newest first: existing rows stay unchanged. */
const formerTables: readonly FormerTable[] = [
  { from: 'octavo_listener_cursors', to: 'octavo_consumers', key: 'name', columns: consumerColumns },
  { from: 'octavo_listeners', to: 'octavo_consumers', key: 'name', columns: consumerColumns },
  { from: 'octavo_schedules', to: 'octavo_schedule_times', key: 'name', columns: { name: 'name', last_time: 'last_time' } },
  { from: 'octavo_model_changes', to: 'octavo_model_history', key: 'id', columns: changeColumns },
]

export const hasFormerTables = (has: (name: string) => boolean): boolean => formerTables.some(({ from }) => has(from))

/** Statements in portable SQL that move the rows of such tables and drop the tables. */
export const replaceFormerTables = (has: (name: string) => boolean): readonly string[] =>
  formerTables
    .filter(({ from }) => has(from))
    .flatMap(({ from, to, key, columns }) => [
      `insert into ${to} (${Object.keys(columns).join(', ')}) select ${Object.values(columns).join(', ')} from ${from} where ${key} not in (select ${key} from ${to})`,
      `drop table ${from}`,
    ])

/** Octavo tables of earlier versions, of one driver alone, or of a running copy. */
const otherOctavoTables: readonly string[] = [
  ...['octavo_hidden_links', 'octavo_drifted_drafts', 'octavo_unequal_locales', 'octavo_user_epochs', 'octavo_codes'],
  ...['octavo_counters', 'octavo_jobs'],
  ...formerTables.map(({ from }) => from),
  ...['octavo_write_turns', 'octavo_server_epoch', 'octavo_commits', 'octavo_write_outcomes', 'octavo_preparation', 'octavo_copy_progress'],
  'octavo_time_zone',
]

const allOctavoTables: ReadonlySet<string> = new Set([...octavoTables.map(({ name }) => name), ...otherOctavoTables])

/** A project's table may also begin with `octavo_`. */
export const isOctavoTable = (name: string): boolean => allOctavoTables.has(name)
