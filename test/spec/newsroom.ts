// A project for tests of content in the administration API: stories with everything that rights are about, and administrators with roles.
import { addAdministrator, adminRole, requestAdmin, signInAdmin } from '../support/administration.js'
import type { Served, ServeOptions, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { formOf, type Part } from '../uploads/sending.js'
import { secrets } from './callers.js'

export const story = 'api::story.story'
export const writer = 'api::writer.writer'
export const remark = 'api::remark.remark'
export const front = 'api::front.front'

const perLocale = { pluginOptions: { i18n: { localized: true } } }

const files = {
  'src/components/shared/seo.json': {
    collectionName: 'components_shared_seos',
    info: { displayName: 'Seo' },
    attributes: { metaTitle: { type: 'string' }, metaSecret: { type: 'string' } },
  },
  'src/components/block/text.json': {
    collectionName: 'components_block_texts',
    info: { displayName: 'Text' },
    attributes: {
      heading: { type: 'string' },
      body: { type: 'text' },
      seo: { type: 'component', component: 'shared.seo' },
      source: { type: 'relation', relation: 'oneToOne', target: writer },
    },
  },
  'src/api/story/content-types/story/schema.json': {
    kind: 'collectionType',
    collectionName: 'stories',
    info: { singularName: 'story', pluralName: 'stories', displayName: 'Story' },
    options: { draftAndPublish: true },
    pluginOptions: { i18n: { localized: true } },
    attributes: {
      title: { type: 'string', required: true, ...perLocale },
      slug: { type: 'uid', targetField: 'title', ...perLocale },
      summary: { type: 'text', ...perLocale },
      secret: { type: 'string', private: true, ...perLocale },
      code: { type: 'string', minLength: 5, ...perLocale },
      score: { type: 'integer', ...perLocale },
      price: { type: 'decimal', ...perLocale },
      day: { type: 'date', ...perLocale },
      at: { type: 'datetime', ...perLocale },
      extra: { type: 'json', ...perLocale },
      seo: { type: 'component', component: 'shared.seo', ...perLocale },
      links: { type: 'component', component: 'shared.seo', repeatable: true, ...perLocale },
      sections: { type: 'dynamiczone', components: ['block.text', 'shared.seo'], ...perLocale },
      writer: { type: 'relation', relation: 'manyToOne', target: writer, inversedBy: 'stories' },
      related: { type: 'relation', relation: 'manyToMany', target: story },
      reviewers: { type: 'relation', relation: 'oneToMany', target: writer },
      sequel: { type: 'relation', relation: 'oneToOne', target: story },
      rank: { type: 'integer' },
    },
  },
  'src/api/writer/content-types/writer/schema.json': {
    kind: 'collectionType',
    collectionName: 'writers',
    info: { singularName: 'writer', pluralName: 'writers', displayName: 'Writer' },
    options: { draftAndPublish: false },
    attributes: {
      name: { type: 'string', required: true },
      phone: { type: 'string', private: true },
      stories: { type: 'relation', relation: 'oneToMany', target: story, mappedBy: 'writer' },
    },
  },
  'src/api/remark/content-types/remark/schema.json': {
    kind: 'collectionType',
    collectionName: 'remarks',
    info: { singularName: 'remark', pluralName: 'remarks', displayName: 'Remark' },
    options: { draftAndPublish: false },
    attributes: { body: { type: 'string' }, subjects: { type: 'relation', relation: 'morphToMany' } },
  },
  'src/api/front/content-types/front/schema.json': {
    kind: 'singleType',
    collectionName: 'fronts',
    info: { singularName: 'front', pluralName: 'fronts', displayName: 'Front' },
    options: { draftAndPublish: false },
    pluginOptions: { i18n: { localized: true } },
    attributes: { headline: { type: 'string', ...perLocale } },
  },
}

/** Serves the project, with the locales English and German, and with a super administrator. */
export async function serveNewsroom(options: ServeOptions = {}): Promise<Served> {
  const served = await serveProject(files, { environment: secrets, config: { limits: { authRateLimit: 1_000 } }, ...options })
  const known = (await served.sql('SELECT code FROM i18n_locale')).map(({ code }) => code)
  for (const [code, name] of [
    ['en', 'English (en)'],
    ['de', 'German (de)'],
  ]) {
    if (!known.includes(code!))
      await served.sql(
        'INSERT INTO i18n_locale (document_id, code, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
        ...[`${code}-locale`, code!, name!, Date.now(), Date.now()],
      )
  }
  return served
}

/** One row of a role's rights. */
export interface RightRow {
  readonly action: 'read' | 'create' | 'update' | 'delete' | 'publish'
  readonly subject: string
  readonly properties?: unknown
  readonly conditions?: readonly string[]
}

const acts = ['read', 'create', 'update', 'delete', 'publish'] as const
const everything = (conditions: readonly string[] = [], properties: unknown = { locales: null }): RightRow[] =>
  acts.map((action) => ({ action, subject: story, properties, conditions }))

/** Roles for tables of resources against roles, with their rows. */
export const newsroomRoles: Readonly<Record<string, readonly RightRow[]>> = {
  editor: [...everything(), { action: 'read', subject: writer }],
  author: everything(['admin::is-creator']),
  colleague: everything(['admin::has-same-role-as-creator']),
  fields: [
    { action: 'read', subject: story, properties: { fields: ['title', 'summary', 'seo.metaTitle'], locales: null } },
    { action: 'update', subject: story, properties: { fields: ['title', 'seo.metaTitle'], locales: null } },
    { action: 'create', subject: story, properties: { fields: ['title'], locales: null } },
  ],
  german: everything([], { locales: ['de'] }),
  reader: [{ action: 'read', subject: story }],
  blind: acts.slice(1).map((action) => ({ action, subject: story })),
  unknown: everything(['api::shop.is-open']),
  none: [],
}

/** Gives a role rights to content, as Strapi writes them. */
export async function giveRights({ sql }: Served, code: string, rows: readonly RightRow[]): Promise<void> {
  const role = await adminRole({ sql }, code)
  for (const { action, subject, properties = { locales: null }, conditions = [] } of rows) {
    const moment = Date.now()
    const [permission] = await sql(
      `INSERT INTO admin_permissions (action, subject, properties, conditions, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
      `plugin::content-manager.explorer.${action}`,
      subject,
      JSON.stringify(properties),
      JSON.stringify(conditions),
      moment,
      moment,
    )
    await sql('INSERT INTO admin_permissions_role_lnk (permission_id, role_id) VALUES (?, ?) RETURNING id', permission!.id as number, role)
  }
}

/** Requests of one administrator. */
export interface AdminClient {
  /** The row id. */
  readonly id: number
  /** The access token. */
  readonly token: string
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  /** Sends a form with files. */
  sendForm(path: string, parts: readonly Part[], headers?: Readonly<Record<string, string>>): Promise<TestResponse>
  /** The same administrator at another process. */
  at(other: Served): AdminClient
}

/** Signs a new administrator in, with roles by their codes. */
export async function signInClient(served: Served, email: string, roles?: readonly string[]): Promise<AdminClient> {
  const id = await addAdministrator(served, email, roles)
  const { accessToken } = await signInAdmin(served, email)
  return deskAt(served, id, accessToken)
}

function deskAt(served: Served, id: number, token: string): AdminClient {
  const send: AdminClient['send'] = (method, path, body, headers = {}) =>
    requestAdmin(served, path, { method, token, headers, ...(body === undefined ? {} : { body }) })
  return {
    ...{ id, token, send, get: (path, headers) => send('GET', path, undefined, headers) },
    sendForm: (path, parts, headers = {}) => served.request(`/admin/api${path}`, { method: 'POST', token, headers, body: formOf(parts) }),
    at: (other) => deskAt(other, id, token),
  }
}
