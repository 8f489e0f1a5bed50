// Which documents use a file: found by the links of the file, upwards through components and zones, and listed as far as the administrator
// may read the documents and the attributes that lead to the file.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { type AttributeGrants, type ContentRights, type Grants, grantedBelow, isGranted, noAttributes } from '../../foundation/grants.js'
import { componentHolders } from '../../model/schema/owners.js'
import type { Attribute, ContentType, Model } from '../../model/schema/types.js'
import type { VersionData } from '../content/document-view.js'
import { namingFields } from '../content/shown-attributes.js'
import { fileWithId } from './file-list.js'
import type { MediaAccess } from './media-access.js'

/** Links of a file that are looked at, and documents of one attribute that are listed. */
const [mostLinks, mostDocuments] = [1_000, 50]
/** Components in components that are climbed. */
const highest = 20

/** Documents that use a file by one attribute. */
export interface FileUses {
  readonly type: string
  /** Dotted through components and zones. */
  readonly path: string
  /** The first of them, each with its draft or, where only that uses it, its publication. */
  readonly documents: readonly VersionData[]
  /** There are others. */
  readonly more: boolean
}

/** A row that leads to the file by a path. */
interface FileUser {
  readonly uid: string
  readonly id: number
  readonly path: readonly string[]
}

/** Who uses a file, of what the administrator may see. @throws ApiError 403; 404 where the file does not exist for the administrator */
export async function usesOfFile(
  access: MediaAccess,
  grants: Grants,
  file: number,
): Promise<{ readonly uses: readonly FileUses[]; readonly more: boolean }> {
  await fileWithId(access, file)
  const { model } = access
  const { database } = access.administration
  const links = await database.rows<{ id: number; uid: string; field: string }>(
    sql`select related_id as id, related_type as uid, field from files_related_mph where file_id = ${file} order by id limit ${mostLinks + 1}`,
  )
  const places = await climbed(
    database,
    model,
    links.slice(0, mostLinks).map(({ id, uid, field }) => ({ id, uid, path: [field] })),
  )
  const uses: FileUses[] = []
  for (const [key, ids] of byAttribute(places)) {
    const [uid, path] = JSON.parse(key) as [string, string[]]
    const type = model.types.get(uid)
    if (type === undefined || !mayRead(model, grants, type, path)) continue
    const found = await documentsOf(access, grants, type, ids)
    if (found.length > 0)
      uses.push({ type: uid, path: path.join('.'), documents: found.slice(0, mostDocuments), more: found.length > mostDocuments })
  }
  return { uses, more: links.length > mostLinks }
}

/** The rows of content-types that hold these places, each with the path from there. */
async function climbed(database: RowReader, model: Model, first: readonly FileUser[]): Promise<readonly FileUser[]> {
  const done: FileUser[] = []
  let rest = first
  for (let height = 0; rest.length > 0 && height < highest; height++) {
    done.push(...rest.filter(({ uid }) => model.types.has(uid)))
    rest = await holdersOf(
      database,
      model,
      rest.filter(({ uid }) => model.components.has(uid)),
    )
  }
  return done
}

async function holdersOf(database: RowReader, model: Model, entries: readonly FileUser[]): Promise<readonly FileUser[]> {
  const found: FileUser[] = []
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
  return found.slice(0, mostLinks)
}

const holds = (attribute: Attribute, uid: string): boolean =>
  (attribute.kind === 'component' && attribute.component === uid) ||
  (attribute.kind === 'dynamiczone' && attribute.components.includes(uid))

function byAttribute(places: readonly FileUser[]): ReadonlyMap<string, readonly number[]> {
  const grouped = new Map<string, number[]>()
  for (const { uid, id, path } of places) {
    const key = JSON.stringify([uid, path])
    grouped.set(key, [...(grouped.get(key) ?? []), id])
  }
  return grouped
}

/** True if the administrator may read documents of a type and the attributes of a path; a zone is granted as a whole. */
function mayRead(model: Model, grants: Grants, type: ContentType, path: readonly string[]): boolean {
  if (!type.exposed || !grants.may(`${type.uid}.find`)) return false
  let granted: AttributeGrants = (grants.content as ContentRights).readable.get(type.uid) ?? noAttributes
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

/** The documents of these rows: their drafts, and the publications of those whose drafts are not among them. */
async function documentsOf(
  { documents }: MediaAccess,
  grants: Grants,
  type: ContentType,
  ids: readonly number[],
): Promise<readonly VersionData[]> {
  const viewer = { grants: grants as Grants & { readonly content: ContentRights } }
  const parameters = {
    filters: { id: { $in: [...new Set(ids)] } },
    fields: namingFields(viewer, type),
    ...(type.localized ? { locale: '*' } : {}),
    ...{ sort: 'id', limit: mostLinks },
  }
  const found: VersionData[] = []
  for (const status of type.draftAndPublish ? ['draft', 'published'] : ['draft']) {
    const versions = (await documents.findData(grants, {
      ...{ type, mode: 'many', action: `${type.uid}.find`, envelope: 'bare', paged: false, limits: unbounded },
      parameters: { ...parameters, status },
    })) as readonly VersionData[]
    const isNew = (version: VersionData) =>
      found.every(({ documentId, locale }) => documentId !== version.documentId || locale !== version.locale)
    found.push(...versions.filter(isNew))
  }
  return found
}

/** Queries of the service itself are as large as the links make them. */
const unbounded = { filterRelations: Infinity, queryComplexity: Infinity }
