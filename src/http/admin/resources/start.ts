// /start and /openapi.json: the data of a first screen, and the description of the API.

import * as z from 'zod'
import { type ContentAccess, findRows } from '../../../admin/content/content-access.js'
import { readHome } from '../../../admin/content/home.js'
import { readLinkShapes } from '../../../admin/content/link-view.js'
import { type Administrator, isUnconditional } from '../../../admin/identity/identify.js'
import type { Immutable } from '../../../admin/manage/operation.js'
import { administratorName } from '../../../admin/names.js'
import { hasRights, parseRights } from '../../../admin/permissions/permissions.js'
import { readLocales } from '../../../content/documents/read/service-reads.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import { boundedTotal, contentAccess, linkSchema } from '../content.js'
import { describeResources } from '../openapi.js'
import { type Resource, type ResourceRequest, resource, respond } from '../resource.js'
import { cacheable } from '../revisions.js'

const shownType = z.strictObject({
  uid: z.string(),
  kind: z.enum(['collectionType', 'singleType']),
  singularName: z.string(),
  pluralName: z.string(),
  displayName: z.string(),
  draftAndPublish: z.boolean(),
  localized: z.boolean(),
  /** The attribute with the name of a document; null: none is readable. */
  naming: z.string().nullable(),
  /** Of a single type: its document; null: it has none that the administrator may read. */
  documentId: z.string().nullable(),
  /** Actions of the content manager that a role allows on it, such as `read`; every action for a super administrator. */
  actions: z.array(z.string()),
})

const contentActions = ['create', 'read', 'update', 'delete', 'publish'] as const

/** The types that an administrator may do something with. */
async function typesFor(
  access: ContentAccess,
  { id, roles, isSuperAdmin, permissions }: Administrator,
  model: Model,
): Promise<readonly z.input<typeof shownType>[]> {
  const rights = parseRights(permissions, model, { id, roles: roles.map((role) => role.id), isSuperAdmin })
  const types = [...model.types.values()].filter(hasRights).sort((one, other) => (one.uid < other.uid ? -1 : 1))
  const shapes = await readLinkShapes(access, model, types)
  const documents = await readSingleDocuments(access, types)
  return types.flatMap((type) => {
    const { uid, singularName, pluralName, singleType, draftAndPublish, localized } = type
    const actions = contentActions.filter((action) => isSuperAdmin || (rights.get(uid)?.[action] ?? []).length > 0)
    if (actions.length === 0) return []
    const kind = singleType ? ('singleType' as const) : ('collectionType' as const)
    const more = { naming: shapes(uid).naming, documentId: documents.get(uid) ?? null }
    const { displayName = singularName } = type.source.info as { readonly displayName?: string }
    return [{ uid, kind, singularName, pluralName, displayName, draftAndPublish, localized, ...more, actions }]
  })
}

const maxSingleTypes = 100

/** The ids of the documents of single types, by uid. */
async function readSingleDocuments(access: ContentAccess, types: readonly ContentType[]): Promise<ReadonlyMap<string, string>> {
  const singles = types.filter(({ uid, singleType }) => singleType && access.grants.may(`${uid}.find`)).slice(0, maxSingleTypes)
  const found = await Promise.all(
    singles.map(async (type) => {
      const parameters = { status: 'draft', fields: ['documentId'], limit: 1, ...(type.localized ? { locale: '*' } : {}) }
      const [row] = await findRows(access, type, parameters)
      return row === undefined ? [] : [[type.uid, String(row.documentId)] as const]
    }),
  )
  return new Map(found.flat())
}

const start = z.strictObject({
  me: z.strictObject({
    id: z.int(),
    documentId: z.string().nullable(),
    email: z.string(),
    firstname: z.string().nullable(),
    lastname: z.string().nullable(),
    language: z.string().nullable(),
    isSuperAdmin: z.boolean(),
    roles: z.array(z.strictObject({ id: z.int(), code: z.string(), name: z.string() })),
  }),
  types: z.array(shownType),
  locales: z.array(z.strictObject({ code: z.string(), name: z.string().nullable(), isDefault: z.boolean() })),
  /** Actions without content-type; super administrators have all. */
  rights: z.array(z.string()),
  settings: z.strictObject({
    url: z.string(),
    apiPrefix: z.string(),
    isProduction: z.boolean(),
    changesModel: z.boolean(),
    sendsEmails: z.boolean(),
    fileBytes: z.int(),
  }),
  versions: z.strictObject({ octavo: z.string() }),
})

/** The name of a locale; Strapi appends the code: `English (en)`. */
const withoutCode = (name: string, code: unknown): string => {
  const suffix = ` (${code})`
  return name.length > suffix.length && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
}

async function startOf(context: ResourceRequest): Promise<Immutable<z.input<typeof start>>> {
  const { administrator, installation, parts } = context
  const { id, documentId, email, firstname, lastname, language, isSuperAdmin, roles, permissions } = administrator
  const { config, backend } = parts
  const { model, documents, defaultLocale } = installation
  const own = permissions.flatMap((row) => (!row.subject && isUnconditional(row) ? [row.action] : []))
  const locales = await readLocales(documents)
  return {
    me: { id, documentId, email, firstname, lastname, language, isSuperAdmin, roles },
    types: await typesFor(await contentAccess(context), administrator, model),
    locales: locales.map(({ code, name }) => ({
      code,
      name: typeof name === 'string' ? withoutCode(name, code) : null,
      isDefault: code === defaultLocale,
    })),
    rights: [...new Set(own)].sort(),
    settings: {
      url: config.publicUrl,
      apiPrefix: config.rest.prefix,
      isProduction: config.production,
      changesModel: config.modelChanges,
      sendsEmails: config.mail.url !== null,
      fileBytes: config.limits.fileBytes,
    },
    versions: { octavo: backend.version },
  }
}

const homeDocuments = z.array(
  linkSchema.pick({ type: true, documentId: true, locale: true, state: true, name: true }).extend({
    displayName: z.string(),
    updatedAt: z.string().nullable(),
    updatedBy: administratorName.nullable(),
  }),
)

const home = z.strictObject({
  mine: homeDocuments.describe('Drafts that differ from what is public, last changed by me'),
  theirs: homeDocuments.describe('Documents created by me, last changed by others'),
  recent: homeDocuments,
  waiting: homeDocuments.describe('Drafts without a public version that public documents link to'),
  states: z.array(
    z.strictObject({ type: z.string(), displayName: z.string(), draft: boundedTotal, changed: boundedTotal, published: boundedTotal }),
  ),
  days: z
    .array(z.strictObject({ day: z.string(), draft: z.int(), changed: z.int(), published: z.int(), exact: z.boolean() }))
    .describe('Documents by the day of their latest change, and by their present state'),
  isComplete: z.boolean(),
})

const maxOffset = 14 * 60
const offsetError = { error: `offset must be a number from -${maxOffset} to ${maxOffset}` }
/** Minutes that a clock is behind UTC, as `Date` of JavaScript has them. */
const clockOffset = z
  .string()
  .regex(/^-?\d{1,3}$/, offsetError)
  .meta({ type: 'integer', minimum: -maxOffset, maximum: maxOffset, default: 0, pattern: undefined })
  .transform(Number)
  .pipe(z.number().min(-maxOffset, offsetError).max(maxOffset, offsetError))
  .default(0)

/** The resources of the shell and of its first screen. */
export const startResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/start',
    summary: 'Read all that the shell needs: me, types, locales, rights, settings, versions',
    who: 'administrator',
    response: z.strictObject({ data: start }),
    handle: async (context) => cacheable(await startOf(context)),
  }),
  resource({
    method: 'GET',
    path: '/home',
    summary:
      'Read the home screen: own unfinished documents, changes by others, latest changes, awaited drafts, documents by state and day',
    who: 'administrator',
    query: z.strictObject({ offset: clockOffset.describe('Minutes that the clock of the reader is behind UTC, for the days') }),
    response: z.strictObject({ data: home }),
    handle: async (context) => cacheable(await readHome(await contentAccess(context), context.administration.now(), context.query.offset)),
  }),
]

/** The resource that describes the whole table. */
export const descriptionOf = (all: () => readonly Resource[]): Resource =>
  resource({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe the administration API (OpenAPI 3.1)',
    who: 'administrator',
    response: z.looseObject({ openapi: z.string() }),
    handle: async ({ parts }) => respond(describeResources(all(), { url: parts.config.publicUrl, version: parts.backend.version })),
  })
