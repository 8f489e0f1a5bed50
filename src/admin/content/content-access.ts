// Content for one administrator: the reads and writes of the installation with the grants of the administrator.

import type { DocumentBatch } from '../../content/documents/batch.js'
import type { CheckPublications } from '../../content/documents/publication-checks.js'
import type { DocumentReads, Find } from '../../content/documents/read/find.js'
import { localeCodes } from '../../content/documents/read/service-reads.js'
import type { DocumentWrites } from '../../content/documents/write.js'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { forbidden, invalidAt, notFound } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import type { ContentType } from '../../model/schema/types.js'
import type { Installation } from '../../project/installation.js'
import type { Parameters } from '../../query/request.js'
import { everyLocale } from '../../query/rest/versions.js'
import { type ActingAdministrator, type AdministratorAction, logActivities } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'
import type { AdministratorGrants } from '../permissions/grants.js'

/** Where and for how long versions of documents are stored. */
export interface HistorySettings {
  readonly database: RowReader
  now(): number
  readonly limits: Pick<Config['limits'], 'historyInterval' | 'historyTime' | 'historyVersions'>
}

/** Content for one administrator, in one request. */
export interface ContentAccess {
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  readonly batch: DocumentBatch
  readonly checks: CheckPublications
  readonly grants: AdministratorGrants
  /** For rows that are no content, such as layouts. */
  readonly database: RowReader
  /** The row id of the administrator. */
  readonly administratorId: number
  readonly requestId: string
  readonly defaultLocale: string
  readonly limits: Config['limits']
  /** Null: the database has no table for the history of documents. */
  readonly history: HistorySettings | null
  /** Notes an action in the log of activity, in its transaction; null: nothing was changed. */
  log(transaction: Transaction, act: AdministratorAction | null): Promise<void>
}

/** Who accesses content, and on behalf of which request. */
interface AccessTerms {
  readonly administrator: Pick<Administrator, 'id' | 'roles' | 'isSuperAdmin'>
  /** The actor in the log of activity. */
  readonly actor: ActingAdministrator
  readonly requestId: string
}

/** Opens the content of an installation for an administrator. */
export async function openContentAccess(
  administration: Administration,
  installation: Installation,
  { administrator, actor, requestId }: AccessTerms,
): Promise<ContentAccess> {
  const { config, database, now, hasHistory, grantsOf } = administration
  const { documents, writes, batch, checks, defaultLocale, model } = installation
  const { limits } = config
  return {
    documents,
    writes,
    batch,
    checks,
    defaultLocale,
    database,
    grants: await grantsOf(administrator, model),
    administratorId: administrator.id,
    requestId,
    limits,
    history: hasHistory ? { database, now, limits } : null,
    log: async (transaction, act) => {
      if (act !== null) await logActivities(administration, transaction, actor, [act])
    },
  }
}

/** A type of the project that the administrator may read. @throws ApiError 404, 403 */
export function readableType({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>, uid: string): ContentType {
  const type = documents.context.model.types.get(uid)
  if (type === undefined || !type.exposed) throw notFound(`There is no type ${uid}`)
  if (!grants.may(`${uid}.find`)) throw forbidden(`${uid}.find`)
  return type
}

/** A version with its readable attributes. */
export type VersionData = Readonly<Record<string, unknown>>

/** A document in a locale. */
export interface DocumentName {
  readonly type: ContentType
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
}

type LocaleAccess = Pick<ContentAccess, 'documents' | 'defaultLocale'>

/** @throws ApiError 400 for a locale that the installation does not have; `path`: where the request names it */
export async function checkLocales({ documents, defaultLocale }: LocaleAccess, names: readonly string[], path = ['locale']): Promise<void> {
  const others = names.filter((name) => name !== defaultLocale)
  const known = others.length === 0 ? [] : await localeCodes(documents, defaultLocale)
  const unknown = others.find((name) => !known.includes(name))
  if (unknown !== undefined) throw invalidAt(path, `The locale "${unknown}" does not exist`, 'notFound')
}

/** The locale of a request, or the default locale; null on types without locales. @throws ApiError 400 for none of the installation */
export async function parseLocale(
  access: LocaleAccess,
  type: ContentType,
  given: string | undefined,
  path = ['locale'],
): Promise<string | null> {
  if (given === undefined || given === '') return type.localized ? access.defaultLocale : null
  if (given === '*' || given.includes(',')) {
    if (!type.localized) return null
    throw invalidAt(path, 'Name one locale', 'maxItems', { max: 1 })
  }
  await checkLocales(access, [given], path)
  return type.localized ? given : null
}

/** Maximum number of locales in one request. */
const maxLocales = 100

/** The locales of a request: one, several, or all of the document (`*`). @throws ApiError 400 as `localeOf` */
export async function parseLocales(
  access: LocaleAccess,
  type: ContentType,
  given: string | undefined,
  path = ['locale'],
): Promise<readonly (string | null)[]> {
  if (given === '*') return [type.localized ? '*' : null]
  const names = [...new Set((given ?? '').split(',').map((name) => name || access.defaultLocale))]
  if (names.length > maxLocales) throw invalidAt(path, 'Too many locales', 'maxItems', { max: maxLocales, actual: names.length })
  await checkLocales(access, names, path)
  return type.localized ? names : [null]
}

/** Queries of the service itself have no limits of size. */
export const unbounded = { filterRelations: Infinity, queryComplexity: Infinity }

/** Reads with the grants of a caller. */
interface GrantedReads {
  readonly documents: DocumentReads
  readonly grants: Grants
}

/** Reads rows of a type that the grants allow. */
export const findRows = async <Row = VersionData>(
  { documents, grants }: GrantedReads,
  type: ContentType,
  parameters: Parameters,
  more: Pick<Partial<Find>, 'limits' | 'keyset' | 'constants'> = {},
): Promise<readonly Row[]> =>
  (await documents.findData(grants, {
    ...more,
    type,
    parameters,
    mode: 'many',
    action: `${type.uid}.find`,
    envelope: 'bare',
    paged: false,
  })) as readonly Row[]

/** Maximum number of rows of a read by documents. */
const maxDrafts = 10_000

/** Reads fields of the drafts of documents, in every locale. */
export function findDrafts<Row = VersionData>(
  reads: GrantedReads,
  type: ContentType,
  documents: readonly string[],
  fields: readonly string[],
): Promise<readonly Row[]> {
  const filters = { documentId: { $in: [...new Set(documents)] } }
  const parameters = { filters, fields, status: 'draft', limit: maxDrafts, ...(type.localized ? { locale: '*' } : {}) }
  return findRows<Row>(reads, type, parameters, { limits: unbounded })
}

interface VersionQuery extends Pick<Find, 'mode' | 'type' | 'linkPage'> {
  readonly documentId: string
  readonly parameters: Parameters
}

/** Reads the versions of a document that the grants allow. */
export const findVersions = ({ documents, grants }: GrantedReads, { documentId, ...query }: VersionQuery): Promise<unknown> =>
  documents.findData(grants, {
    ...query,
    action: `${query.type.uid}.findOne`,
    envelope: 'bare',
    paged: false,
    limits: unbounded,
    identity: { attribute: 'documentId', value: documentId },
  })

/** Reads a version of a document that the grants allow, by default the draft; null: there is none. */
export const findVersion = async (
  reads: GrantedReads,
  { type, documentId, locale }: DocumentName,
  parameters: Parameters = { fields: ['documentId'] },
  linkPage?: NonNullable<Find['linkPage']>,
): Promise<VersionData | null> => {
  const query = { type, mode: 'first' as const, documentId, parameters: { status: 'draft', ...inLocale(locale), ...parameters } }
  return (await findVersions(reads, linkPage === undefined ? query : { ...query, linkPage })) as VersionData | null
}

/** The parameter for a locale. A document without locales links to targets in every locale. */
export const inLocale = (locale: string | null): Parameters => (locale === null ? everyLocale : { locale })
