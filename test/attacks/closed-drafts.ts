// Every path of the golden model through which a request could reach rows of another type, as requests, and a change of all values
// that only drafts have: a caller without permission for drafts must get the same before and after it.
import type { Attribute, Component, ContentType, Model } from '../../src/model/schema/types.js'
import { attributeTypes } from '../../src/model/types/attribute-types.js'
import { isOnMysql, isOnPostgres } from '../support/databases.js'
import type { Served } from '../support/serve.js'

type Shape = ContentType | Component

export interface Root {
  readonly path: string
  readonly type: ContentType
}

/** The endpoints that read rows with relations. */
export function rootsOf(model: Model): readonly Root[] {
  const exposed = [...model.paths].map(([path, type]) => ({ path: `/${path}`, type }))
  const at = (path: string, uid: string): Root => ({ path, type: model.types.get(uid)! })
  return [
    ...exposed,
    at('/upload/files', 'plugin::upload.file'),
    at('/users', 'plugin::users-permissions.user'),
    at('/users/me', 'plugin::users-permissions.user'),
  ]
}

interface Way {
  readonly names: readonly string[]
  readonly last: Attribute
  readonly target: Shape | null
  /** True if the path continues after a document with drafts. */
  readonly behind: boolean
}

function targetOf(model: Model, attribute: Attribute): Shape | null {
  switch (attribute.kind) {
    case 'relation':
    case 'morphFrom':
      return model.types.get(attribute.target) ?? null
    case 'media':
      return model.types.get('plugin::upload.file')!
    case 'component':
      return model.components.get(attribute.component)!
    default:
      return null
  }
}

/** The paths that lead to documents with drafts. */
const draftedWays = (model: Model, shape: Shape, depth: number): readonly Way[] =>
  waysOf(model, shape, depth).filter(({ last, target, behind }) => behind || last.kind === 'morphTo' || isDrafted(target))

const isDrafted = (shape: Shape | null): boolean => shape?.kind === 'contentType' && shape.draftAndPublish

function waysOf(model: Model, shape: Shape, depth: number, above: readonly string[] = [], behind = false): readonly Way[] {
  if (depth === 0) return []
  return [...shape.attributes.values()].flatMap((attribute): Way[] => {
    if (attribute.kind === 'scalar' || attribute.private || attribute.name === 'createdBy' || attribute.name === 'updatedBy') return []
    const target = targetOf(model, attribute)
    const way = { names: [...above, attribute.name], last: attribute, target, behind }
    return target === null || depth === 1 ? [way] : [way, ...waysOf(model, target, depth - 1, way.names, behind || isDrafted(target))]
  })
}

const bracketed = (names: readonly string[]): string => names.map((name) => `[${name}]`).join('')
const nested = (names: readonly string[]): string => `[${names.join('][populate][')}]`

/** A few readable attributes of each family to compare and sort by. */
function scalarsOf(shape: Shape): readonly string[] {
  const seen = new Set<string>()
  return [...shape.attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'scalar' || attribute.private || attribute.type === 'password') return []
    if (shape.kind === 'component' && attribute.name === 'documentId') return []
    const { family } = attributeTypes[attribute.type]
    if (seen.has(family) || !['text', 'number', 'datetime'].includes(family)) return []
    seen.add(family)
    return [attribute.name]
  })
}

/** The requests that go one way, in all forms of populate, filters and sort. */
function requestsAlong(model: Model, { names, last, target }: Way): readonly string[] {
  const [first, ...others] = names as [string, ...string[]]
  const populated = [
    `populate[0]=${names.join('.')}`,
    `populate${nested(names)}=true`,
    `populate${nested(names)}=*`,
    `populate${nested(names)}[populate]=*`,
    `populate${nested(names)}[count]=true`,
  ]
  if (last.kind === 'morphTo') {
    const on = `populate${nested(names)}[on]`
    return [
      ...populated,
      ...[...model.types.values()].flatMap(({ uid, draftAndPublish, singleType }) =>
        draftAndPublish && !singleType
          ? [`${on}[${uid}]=true`, `${on}[${uid}][populate]=*`, `${on}[${uid}][filters][id][$notNull]=true`, `${on}[${uid}][sort]=id`]
          : [],
      ),
    ]
  }
  if (target === null) return populated
  return [
    ...populated,
    `filters${bracketed(names)}[$notNull]=true`,
    `filters${bracketed(names)}[$null]=true`,
    ...scalarsOf(target).flatMap((scalar) => {
      const path = [...names, scalar]
      const below = bracketed([...others, scalar])
      return [
        `filters${bracketed(path)}[$startsWith]=SECRET&fields[0]=id`,
        `filters${bracketed(path)}[$notContains]=SECRET&fields[0]=id`,
        `filters[$not]${bracketed(path)}[$contains]=1&fields[0]=id`,
        `sort=${path.join('.')}:desc&fields[0]=id`,
        ...(others.length === 0
          ? [`populate[${first}][filters]${below}[$contains]=SECRET`, `populate[${first}][sort]=${scalar}:desc`]
          : [`populate[${first}][filters]${below}[$contains]=SECRET`, `populate[${first}][sort]=${[...others, scalar].join('.')}:desc`]),
      ]
    }),
  ]
}

/** Of the ways of several steps every such one is gone, in one form. */
const longerWays = 8

/** The requests of the walk from one endpoint: all forms on ways of one step, on longer ones some in turn, or all. */
export function requestsFrom(model: Model, { path, type }: Root, depth: number, all: boolean): readonly string[] {
  const whole = ['', 'populate=*', '_q=SECRET', 'locale=*&populate=*', 'status=published&populate=*', 'pagination[withCount]=true']
  const versions = ['status=draft', 'hasPublishedVersion=true', 'hasPublishedVersion=false', 'publicationFilter=modified']
  return [
    ...whole,
    ...versions.flatMap((version) => [`${version}&populate=*`, `${version}&_q=SECRET`]),
    ...draftedWays(model, type, depth).flatMap((way, index) => {
      const along = requestsAlong(model, way)
      if (all || way.names.length === 1) return along
      return index % longerWays === 0 ? [along[((index / longerWays) * 7) % along.length]!] : []
    }),
  ].map((query) => `${path}?pagination[pageSize]=6&${query}`)
}

const isDraftOf = (table: string): string => `(select id from "${table}" where published_at is null)`

/** A time from an expression of milliseconds since 1970. */
const momentOf = (milliseconds: string): string =>
  isOnPostgres
    ? `to_timestamp((${milliseconds}) / 1000.0) at time zone 'UTC'`
    : isOnMysql
      ? `from_unixtime((${milliseconds}) / 1000.0)`
      : milliseconds

/** Writes `mark` and numbers derived from it into all values of drafts. */
export const rewriteDrafts = (served: Pick<Served, 'sql'>, model: Model, mark: string): Promise<void> =>
  rewriteRows(served, model, mark, ({ draftAndPublish }) => (draftAndPublish ? 'published_at is null' : null))

/** Writes `mark` and numbers derived from it into all values of these rows. `which`: a condition, or null for none. */
export async function rewriteRows(
  { sql }: Pick<Served, 'sql'>,
  model: Model,
  mark: string,
  which: (type: ContentType) => string | null,
): Promise<void> {
  const kept = new Set(['id', 'documentId', 'publishedAt', 'locale'])
  const write = async (shape: Shape, where: string): Promise<void> => {
    for (const attribute of shape.attributes.values()) {
      if (attribute.kind !== 'scalar' || kept.has(attribute.name)) continue
      const { family } = attributeTypes[attribute.type]
      const number = mark.length * 7
      const value =
        family === 'text'
          ? `'${mark}' || id`
          : family === 'datetime'
            ? momentOf(`${1_600_000_000_000 + number} + id`)
            : family === 'json'
              ? `'{"a":"${mark}"}'`
              : family === 'date'
                ? `'20${10 + mark.length}-01-01'`
                : family === 'time'
                  ? `'${10 + mark.length}:00:00.000'`
                  : family === 'boolean'
                    ? String(mark.length % 2 === 1)
                    : `${number} - ${isOnMysql ? 'cast(id as signed)' : 'id'} * ${mark.length % 2 === 0 ? 1 : -1}`
      await sql(`update "${shape.table}" set "${attribute.column}" = ${value} where ${where}`)
    }
  }
  for (const type of model.types.values()) {
    const rows = which(type)
    if (rows === null) continue
    await write(type, rows)
    if (type.componentTable === null) continue
    for (const component of model.components.values())
      await write(
        component,
        `id in (select cmp_id from "${type.componentTable}" where component_type = '${component.uid}' and entity_id in (select id from "${type.table}" where ${rows}))`,
      )
  }
}

/** Removes every link that has a draft at one of its ends. */
export async function cutDrafts({ sql }: Pick<Served, 'sql'>, model: Model): Promise<void> {
  const drafted = [...model.types.values()].filter(({ draftAndPublish }) => draftAndPublish)
  for (const shape of [...model.types.values(), ...model.components.values()])
    for (const attribute of shape.attributes.values()) {
      if (attribute.kind === 'relation' && attribute.storage.kind === 'link') {
        const { table, here, there } = attribute.storage
        const target = model.types.get(attribute.target)!
        if (target.draftAndPublish) await sql(`delete from "${table}" where "${there}" in ${isDraftOf(target.table)}`)
        if (shape.kind === 'contentType' && shape.draftAndPublish)
          await sql(`delete from "${table}" where "${here}" in ${isDraftOf(shape.table)}`)
      }
      if (attribute.kind !== 'morphTo') continue
      const { storage } = attribute
      for (const { uid, table } of drafted) {
        if (storage.kind === 'table')
          await sql(`delete from "${storage.table}" where "${storage.type}" = '${uid}' and "${storage.id}" in ${isDraftOf(table)}`)
        else
          await sql(
            `update "${shape.table}" set "${storage.id}" = null, "${storage.type}" = null where "${storage.type}" = '${uid}' and "${storage.id}" in ${isDraftOf(table)}`,
          )
      }
    }
}
