// Documents that use a file: found through the links of the file, upwards through components and zones, and filtered by the rights of the
// administrator.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { componentHolders } from '../../model/schema/graph.js'
import type { Attribute, ContentType, Model } from '../../model/schema/types.js'
import { findRows, unbounded, type VersionData } from '../content/content-access.js'
import type { DocumentUses } from '../content/document-links.js'
import { type LinkShapes, linkLevel, readLinkShapes, toLink } from '../content/link-view.js'
import type { AdministratorGrants } from '../permissions/grants.js'
import { readFileView } from './files.js'
import type { MediaAccess } from './media-access.js'

const maxLinks = 1_000
const maxDocuments = 50
const maxDepth = 20

/** A row that holds the file at a path. */
interface FileHolder {
  readonly uid: string
  readonly id: number
  readonly path: readonly string[]
}

/** Finds the readable documents that use a file. @throws ApiError 403; 404 where the file does not exist for the administrator */
export async function listFileUses(
  access: MediaAccess,
  grants: AdministratorGrants,
  file: number,
): Promise<{ readonly uses: readonly DocumentUses[]; readonly more: boolean }> {
  await readFileView(access, file)
  const { model } = access
  const { database } = access.administration
  const links = await database.rows<{ id: number; uid: string; field: string }>(
    sql`select related_id as id, related_type as uid, field from files_related_mph where file_id = ${file} order by id limit ${maxLinks + 1}`,
  )
  const places = await findHoldingDocuments(
    database,
    model,
    links.slice(0, maxLinks).map(({ id, uid, field }) => ({ id, uid, path: [field] })),
  )
  const readable = [...byAttribute(places)].flatMap(([key, ids]) => {
    const [uid, path] = JSON.parse(key) as [string, string[]]
    const type = model.types.get(uid)
    return type === undefined || !mayRead(model, grants, type, path) ? [] : [{ type, path, ids }]
  })
  const shapes = await readLinkShapes(
    { grants, database },
    model,
    readable.map(({ type }) => type),
  )
  const uses: DocumentUses[] = []
  for (const { type, path, ids } of readable) {
    const found = await readHoldingDocuments(access, grants, shapes, { type, ids })
    if (found.length === 0) continue
    const documents = found.slice(0, maxDocuments).map((row) => toLink(shapes(type.uid), row))
    uses.push({ type: type.uid, path: path.join('.'), documents, more: found.length > maxDocuments })
  }
  return { uses, more: links.length > maxLinks }
}

/** Rows of content-types that hold these entries, each with its path. */
async function findHoldingDocuments(database: RowReader, model: Model, first: readonly FileHolder[]): Promise<readonly FileHolder[]> {
  const done: FileHolder[] = []
  let rest = first
  for (let height = 0; rest.length > 0 && height < maxDepth; height++) {
    done.push(...rest.filter(({ uid }) => model.types.has(uid)))
    rest = await findHolders(
      database,
      model,
      rest.filter(({ uid }) => model.components.has(uid)),
    )
  }
  return done
}

async function findHolders(database: RowReader, model: Model, entries: readonly FileHolder[]): Promise<readonly FileHolder[]> {
  const found: FileHolder[] = []
  for (const uid of new Set(entries.map((entry) => entry.uid))) {
    const ofType = entries.filter((entry) => entry.uid === uid)
    const ids = sql.join([...new Set(ofType.map(({ id }) => id))])
    for (const { shape, componentTable } of componentHolders(model)) {
      if (![...shape.attributes.values()].some((attribute) => holds(attribute, uid))) continue
      const rows = await database.rows<{ entity_id: number; cmp_id: number; field: string }>(
        sql`select entity_id, cmp_id, field from ${sql.table(componentTable)} where component_type = ${uid} and cmp_id in (${ids})`,
      )
      for (const { entity_id, cmp_id, field } of rows)
        for (const { id, path } of ofType) if (id === cmp_id) found.push({ uid: shape.uid, id: entity_id, path: [field, ...path] })
    }
  }
  return found.slice(0, maxLinks)
}

const holds = (attribute: Attribute, uid: string): boolean =>
  (attribute.kind === 'component' && attribute.component === uid) ||
  (attribute.kind === 'dynamiczone' && attribute.components.includes(uid))

function byAttribute(places: readonly FileHolder[]): ReadonlyMap<string, readonly number[]> {
  const grouped = new Map<string, number[]>()
  for (const { uid, id, path } of places) {
    const key = JSON.stringify([uid, path])
    grouped.set(key, [...(grouped.get(key) ?? []), id])
  }
  return grouped
}

/** True if the administrator may read the type and the attributes of a path. A zone is granted as a whole. */
function mayRead(model: Model, grants: AdministratorGrants, type: ContentType, path: readonly string[]): boolean {
  if (!type.exposed || !grants.may(`${type.uid}.find`)) return false
  let granted: AttributeGrants = grants.content.readable.get(type.uid) ?? noAttributes
  let shape: ContentType | ReturnType<Model['components']['get']> = type
  for (const name of path) {
    const attribute = shape?.attributes.get(name)
    if (attribute === undefined || !isGranted(granted, name)) return false
    if (attribute.kind === 'dynamiczone') return true
    if (attribute.kind !== 'component') return attribute.kind === 'media'
    granted = grantedBelow(granted, name)
    shape = model.components.get(attribute.component)
  }
  return false
}

/** The drafts among these rows, and published versions without a draft among them. */
async function readHoldingDocuments(
  { documents }: MediaAccess,
  grants: AdministratorGrants,
  shapes: LinkShapes,
  { type, ids }: { readonly type: ContentType; readonly ids: readonly number[] },
): Promise<readonly VersionData[]> {
  const parameters = {
    filters: { id: { $in: [...new Set(ids)] } },
    ...linkLevel(shapes(type.uid)),
    ...(type.localized ? { locale: '*' } : {}),
    sort: 'id',
    limit: maxLinks,
  }
  const found: VersionData[] = []
  for (const status of type.draftAndPublish ? ['draft', 'published'] : ['draft']) {
    const versions = await findRows({ documents, grants }, type, { ...parameters, status }, { limits: unbounded })
    const isNew = (version: VersionData) =>
      found.every(({ documentId, locale }) => documentId !== version.documentId || locale !== version.locale)
    found.push(...versions.filter(isNew))
  }
  return found
}
