// Content for one administrator: the reads and writes of the installation, with what the administrator may do.

import type { DocumentBatch } from '../../content/documents/batch.js'
import type { CheckPublications } from '../../content/documents/publication-checks.js'
import type { DocumentReads, Find } from '../../content/documents/read/find.js'
import { localeCodes } from '../../content/documents/read/service-reads.js'
import type { DocumentWrites } from '../../content/documents/write.js'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import { type ApiError, forbidden, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import type { ContentType } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { everyLocale } from '../../query/rest/versions.js'
import type { AdministratorAct } from '../activity.js'

/** How the history of documents is kept. */
export interface HistorySettings {
  readonly database: RowReader
  now(): number
  readonly limits: Pick<Config['limits'], 'historyInterval' | 'historyTime' | 'historyVersions' | 'historyBytes'>
}

/** Content for one administrator, in one request. */
export interface ContentAccess {
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  readonly batch: DocumentBatch
  readonly checks: CheckPublications
  readonly grants: Grants
  /** The row id of the administrator. */
  readonly administratorId: number
  readonly requestId: string
  readonly defaultLocale: string
  readonly limits: Config['limits']
  /** Null: the database has no table for the history of documents. */
  readonly history: HistorySettings | null
  /** Notes an act in the log of activity, in the transaction of the act; null: one that had nothing to do. */
  note(transaction: Transaction, act: AdministratorAct | null): Promise<void>
}

/** A type of the project that the administrator may read. @throws ApiError 404, 403 */
export function readableType({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>, uid: string): ContentType {
  const type = documents.context.model.types.get(uid)
  if (type === undefined || !type.exposed) throw notFound(`There is no type ${uid}`)
  if (!grants.may(`${uid}.find`)) throw forbidden(`${uid}.find`)
  return type
}

/** A document in a locale. */
export interface DocumentName {
  readonly type: ContentType
  readonly documentId: string
  /** Null on types without locales. */
  readonly locale: string | null
}

/** Where a request is wrong. */
export const wrongAt = (path: readonly string[], message: string): ApiError => mistakenInput([{ path, message }])

/** What knows the locales of an installation. */
type KnowsLocales = Pick<ContentAccess, 'documents' | 'defaultLocale'>

/** @throws ApiError 400 for a locale that the installation does not have; `path`: where the request names it */
export async function checkLocales({ documents, defaultLocale }: KnowsLocales, names: readonly string[], path = ['locale']): Promise<void> {
  const others = names.filter((name) => name !== defaultLocale)
  const known = others.length === 0 ? [] : await localeCodes(documents, defaultLocale)
  const unknown = others.find((name) => !known.includes(name))
  if (unknown !== undefined) throw wrongAt(path, `The locale "${unknown}" does not exist`)
}

/** The locale that a request names, or the default one; null on types without. @throws ApiError 400 for none of the installation */
export async function localeOf(
  access: KnowsLocales,
  type: ContentType,
  given: string | undefined,
  path = ['locale'],
): Promise<string | null> {
  if (given === undefined || given === '') return type.localized ? access.defaultLocale : null
  if (given === '*' || given.includes(',')) {
    if (!type.localized) return null
    throw wrongAt(path, 'Name one locale')
  }
  await checkLocales(access, [given], path)
  return type.localized ? given : null
}

/** Locales that one request acts in at most. */
const mostLocales = 100

/** The locales that a request names: one, several, or every one that the document has (`*`). @throws ApiError 400 as `localeOf` */
export async function localesOf(
  access: KnowsLocales,
  type: ContentType,
  given: string | undefined,
  path = ['locale'],
): Promise<readonly (string | null)[]> {
  if (given === '*') return [type.localized ? '*' : null]
  const names = [...new Set((given ?? '').split(',').map((name) => name || access.defaultLocale))]
  if (names.length > mostLocales) throw wrongAt(path, 'Too many locales')
  await checkLocales(access, names, path)
  return type.localized ? names : [null]
}

/** Queries of the service itself are as large as the model makes them. */
export const unbounded = { filterRelations: Infinity, queryComplexity: Infinity }

/** What a read of versions asks for. */
export interface FoundBy extends Pick<Find, 'mode' | 'type' | 'linkPage'> {
  readonly documentId: string
  readonly parameters: Parameters
}

/** Reads versions of a document as far as the administrator may see them, or, with other grants, whoever has those. */
export function findVersions({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>, query: FoundBy): Promise<unknown> {
  const { type, mode, documentId, parameters, linkPage } = query
  return documents.findData(grants, {
    ...{
      type,
      mode,
      parameters,
      action: `${type.uid}.findOne`,
      envelope: 'bare',
      paged: false,
      limits: unbounded,
      ...(linkPage === undefined ? {} : { linkPage }),
    },
    identity: { attribute: 'documentId', value: documentId },
  })
}

/** The parameter that chooses a locale. A document without locales links to targets in every locale. */
export const inLocale = (locale: string | null): Parameters => (locale === null ? everyLocale : { locale })
