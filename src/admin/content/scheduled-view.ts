// Reads scheduled actions: publications of documents and their withdrawal at a later time, one row for each locale.
import { type RawBuilder, sql } from 'kysely'
import { scheduledTable } from '../../content/documents/store/rows.js'
import type { RowReader } from '../../database/database.js'
import type { ContentType } from '../../model/schema/types.js'
import { type DocumentState, stateName } from '../../query/request.js'
import { type DocumentError, mayKnow } from '../error-paths.js'
import { type AdministratorName, readNames } from '../names.js'
import { toTimestamp } from '../values.js'
import { type ContentAccess, findDrafts, type VersionData } from './content-access.js'
import { idFields, nameIn, readLinkShapes } from './link-view.js'

export const scheduledVerbs = ['publish', 'unpublish'] as const
/** An action that can be scheduled. */
export type ScheduledVerb = (typeof scheduledVerbs)[number]

/** Scheduled actions of all documents, refused ones included. */
export const maxScheduled = 10_000
/** Rows of a list of all documents, before those that the administrator may not see are left out. */
const maxListedRows = 1_000
const maxListed = 50

const table = sql.table(scheduledTable)

/** A row of the table. */
export interface ScheduledRow {
  readonly id: number
  readonly type: string
  readonly document_id: string
  readonly locale: string
  readonly action: string
  readonly due_at: number
  readonly administrator_id: number
  readonly failed_at: number
  readonly error: string | null
}

/** A scheduled action on a document in one locale. */
export interface ScheduledAction {
  /** Null on types without locales. */
  readonly locale: string | null
  readonly action: ScheduledVerb
  /** ISO 8601 in UTC. */
  readonly at: string
  readonly administrator: AdministratorName
  /** Why it was not carried out; null: it is due at its time. */
  readonly error: DocumentError | null
}

/** A scheduled action of a row in a list. */
export type RowAction = Pick<ScheduledAction, 'locale' | 'action' | 'at'>

/** A scheduled action with its document. */
interface ListedAction extends ScheduledAction {
  readonly type: string
  readonly displayName: string
  readonly documentId: string
  readonly name: string | null
  readonly state: DocumentState
}

/** Reads rows in the order of time. */
export function readScheduled(database: RowReader, condition: RawBuilder<unknown>, limit: number): Promise<readonly ScheduledRow[]> {
  return database.rows<ScheduledRow>(sql`select id, type, document_id, locale, action, due_at, administrator_id, failed_at, error
    from ${table} where ${condition} order by due_at, id limit ${limit}`)
}

/** Scheduled actions in the visible locales of a document. */
export async function scheduledFor(
  access: ContentAccess,
  type: ContentType,
  documentId: string,
  locales: readonly (string | null)[],
): Promise<readonly ScheduledAction[]> {
  if (!type.draftAndPublish) return []
  const rows = await readScheduled(access.database, sql`document_id = ${documentId} and type = ${type.uid}`, maxScheduled)
  const visible = rows.filter(({ locale }) => locales.includes(type.localized ? locale : null))
  return visible.map(await openPresenter(access, visible))
}

/** Reads the pending scheduled actions for a page of documents. */
export async function readRowActions(
  { database }: Pick<ContentAccess, 'database'>,
  type: ContentType,
  ids: readonly string[],
): Promise<(documentId: string, locales: readonly (string | null)[]) => readonly RowAction[]> {
  const ofPage = sql`type = ${type.uid} and failed_at = ${0} and document_id in (${sql.join(ids)})`
  const rows = type.draftAndPublish && ids.length > 0 ? await readScheduled(database, ofPage, maxScheduled) : []
  const actions = rows.map((row) => ({ documentId: row.document_id, ...toRowAction(type, row) }))
  return (id, locales) =>
    actions.flatMap(({ documentId, ...action }) => (documentId === id && locales.includes(action.locale) ? [action] : []))
}

const toRowAction = ({ localized }: ContentType, row: ScheduledRow): RowAction => ({
  locale: localized ? row.locale : null,
  action: row.action as ScheduledVerb,
  at: toTimestamp(Number(row.due_at)),
})

/** Returns how rows of types of the model are presented. */
async function openPresenter(access: ContentAccess, rows: readonly ScheduledRow[]): Promise<(row: ScheduledRow) => ScheduledAction> {
  const { types } = access.documents.context.model
  const nameOf = await readNames(
    access.database,
    rows.map((row) => Number(row.administrator_id)),
  )
  return (row) => {
    const type = types.get(row.type)!
    return {
      ...toRowAction(type, row),
      administrator: nameOf(Number(row.administrator_id)),
      error: row.error === null ? null : visibleError(access, type, row),
    }
  }
}

/** The reason of a refusal, without values that only the administrator of the action may read. */
function visibleError(access: ContentAccess, type: ContentType, row: ScheduledRow): DocumentError {
  const error = JSON.parse(row.error!) as DocumentError
  if (Number(row.administrator_id) === access.administratorId || error.errors.every(({ path }) => mayKnow(access, type, path))) return error
  const message = 'An attribute refuses the publication'
  const errors = error.errors.map((each) =>
    mayKnow(access, type, each.path) ? each : { ...each, message, code: 'invalid' as const, params: {} },
  )
  return { ...error, message, errors }
}

/** Scheduled actions on all documents that the administrator may see, in the order of time. */
export async function listScheduled(access: ContentAccess): Promise<{ readonly actions: readonly ListedAction[]; isComplete: boolean }> {
  const { model } = access.documents.context
  const rows = await readScheduled(access.database, sql`1 = 1`, maxListedRows)
  const types = [...new Set(rows.map(({ type }) => type))].flatMap((uid) => {
    const type = model.types.get(uid)
    return type?.exposed === true && type.draftAndPublish && access.grants.may(`${uid}.find`) ? [type] : []
  })
  const shapes = await readLinkShapes(access, model, types)
  const drafts = new Map<string, VersionData>()
  for (const type of types) {
    const { naming } = shapes(type.uid)
    const ids = rows.filter((row) => row.type === type.uid).map((row) => row.document_id)
    const fields = [...idFields(type), stateName, ...(naming === null ? [] : [naming])]
    for (const draft of await findDrafts(access, type, ids, fields))
      drafts.set(`${type.uid} ${draft.documentId} ${type.localized ? draft.locale : ''}`, draft)
  }
  const draftOf = ({ type, document_id, locale }: ScheduledRow) => drafts.get(`${type} ${document_id} ${locale}`)
  const visible = rows.filter((row) => draftOf(row) !== undefined)
  const shown = visible.slice(0, maxListed)
  const present = await openPresenter(access, shown)
  return {
    actions: shown.map((row) => {
      const draft = draftOf(row)!
      return {
        ...present(row),
        type: row.type,
        displayName: model.types.get(row.type)!.displayName,
        documentId: row.document_id,
        name: nameIn(shapes(row.type), draft),
        state: draft[stateName] as DocumentState,
      }
    }),
    isComplete: rows.length < maxListedRows && visible.length <= maxListed,
  }
}
