// Example requests for a content-type, from its model: for the start page and the output of `octavo start`.
import type { Grants } from '../../foundation/grants.js'
import type { ExcludedRoutes } from '../../model/schema/type-routes.js'
import type { Attribute, ContentType, Model } from '../../model/schema/types.js'

export interface Example {
  readonly href: string
  /** Its result as a phrase. */
  readonly what: string
}

const maxExamples = 8

export interface ReadableTypes {
  readonly model: Model
  readonly visitor: Grants
  /** The routes that do not exist; null: all do. */
  readonly leftOut: ExcludedRoutes | null
}

/** The types whose lists `visitor` may read, with their paths: those with drafts first, as they are usually the main content; single types last. */
export function listReadableTypes({ model, visitor, leftOut }: ReadableTypes): readonly (readonly [string, ContentType])[] {
  const rank = (type: ContentType) => (type.singleType ? 2 : type.draftAndPublish ? 0 : 1)
  return [...model.paths]
    .filter(([, { uid }]) => visitor.may(`${uid}.find`) && leftOut?.(uid, 'find') !== true)
    .sort(([a, left], [b, right]) => rank(left) - rank(right) || (a < b ? -1 : 1))
}

/** Returns example requests that `visitor` may send. */
export const getExamples = (types: ReadableTypes, prefix: string): readonly Example[] =>
  listReadableTypes(types)
    .flatMap(([path, type]) => getTypeExamples(type, types.visitor, `${prefix}/${path}`))
    .slice(0, maxExamples)

/** Returns example requests for one type, at the path `href`. */
export function getTypeExamples(type: ContentType, visitor: Grants, href: string): readonly Example[] {
  const shown = [...type.attributes.values()].filter((attribute) => !attribute.private)
  const relation = shown.find((attribute) => isShownRelation(attribute, visitor))
  if (type.singleType)
    return [
      { href, what: 'Its own values' },
      ...(shown.some((attribute) => attribute.kind !== 'scalar')
        ? [{ href: `${href}?populate=*`, what: 'With everything one level below' }]
        : []),
    ]
  const text = shown.find((attribute) => attribute.kind === 'scalar' && attribute.type === 'string' && !attribute.system)
  const many = type.pluralName
  const media = shown.find(({ kind }) => kind === 'media')
  const picture = media === undefined ? '' : `&populate[0]=${media.name}`
  return [
    ...(text === undefined
      ? [{ href: `${href}?pagination[pageSize]=5`, what: `Five ${many}` }]
      : [
          {
            href: `${href}?fields[0]=${text.name}${picture}&sort=${text.name}&pagination[pageSize]=5`,
            what: `Five ${many}, by ${text.name}`,
          },
          {
            href: `${href}?filters[${text.name}][$containsi]=a&fields[0]=${text.name}`,
            what: `${capitalize(many)} whose ${text.name} contains "a"`,
          },
        ]),
    ...(relation === undefined
      ? []
      : [
          {
            href: `${href}?${text === undefined ? '' : `fields[0]=${text.name}&`}populate[0]=${relation.name}&pagination[pageSize]=3`,
            what: `Three ${many} with their ${relation.name}`,
          },
        ]),
  ]
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** A relation whose documents the visitor may find. */
const isShownRelation = (attribute: Attribute, visitor: Grants): boolean =>
  attribute.kind === 'relation' && attribute.name !== 'localizations' && visitor.may(`${attribute.target}.find`)
