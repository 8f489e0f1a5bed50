// The exchange that hints explain, and their words for types, attributes and values.
import type { IncomingHttpHeaders } from 'node:http'
import type { DocumentReads } from '../../content/documents/read/find.js'
import type { Config } from '../../foundation/config/config.js'
import { closest, mayBeName } from '../../foundation/errors/did-you-mean.js'
import type { ApiError } from '../../foundation/errors/errors.js'
import type { AccessState, Caller } from '../../identity/access/identify.js'
import { fileType } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import type { Parameters } from '../../query/request.js'

/** A request and its response, which is decided. */
export interface Exchange {
  readonly method: string
  /** Without the query string, decoded if possible. */
  readonly path: string
  readonly parameters: Parameters
  readonly headers: IncomingHttpHeaders
  readonly status: number
  readonly error: ApiError | null
  /** Of the error. */
  readonly details: Readonly<Record<string, unknown>>
  readonly config: Config
  readonly model: Model
  readonly type: ContentType | null
  /** The document or row in the path. */
  readonly documentId: string | null
  /** Null if the request was refused before its route. */
  readonly route: RouteCall | null
  /** The `data` of a body for a content-type. */
  readonly data: Readonly<Record<string, unknown>> | null
}

export interface RouteCall {
  readonly caller: Caller
  readonly access: AccessState
  readonly documents: DocumentReads
  /** Null if no body was read; `value` is undefined if it is empty or its content type is not supported. */
  readonly body: { readonly value: unknown } | null
  /** A write found no document. */
  readonly wroteNothing: boolean
}

/** One or two sentences: the error in a request, and its repair. Null: something else is wrong. */
export type Hint = (exchange: Exchange) => string | null | Promise<string | null>

const maxShownLength = 60
const maxListed = 12

/** Shortens a value of a request. */
export const shorten = (text: string): string => (text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text)

/** A value in quotes. */
export const quote = (value: unknown): string =>
  `"${shorten(typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value))}"`

/** `a, b and c`. */
export function list(names: Iterable<string>): string {
  const all = [...new Set(names)]
  if (all.length > maxListed) return `${all.slice(0, maxListed).join(', ')} and ${all.length - maxListed} more`
  return all.length < 2 ? (all[0] ?? 'none') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

/** The most similar name, regardless of case and separators. */
export function findSimilar(given: string, known: Iterable<string>): string | null {
  if (!mayBeName(given)) return null
  const names = [...known]
  const bare = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const wanted = bare(given)
  return (wanted === '' ? undefined : names.find((name) => bare(name) === wanted)) ?? closest(given, names)
}

/** ` Did you mean "author"?`, or nothing if no name is similar. */
export function didYouMean(given: string, known: Iterable<string>, write = quote as (name: string) => string): string {
  const close = findSimilar(given, known)
  return close === null ? '' : ` Did you mean ${write(close)}?`
}

/** `an article`. */
export const withArticle = (noun: string): string => `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`

/** The name of a type or component. */
export const getTypeName = (shape: Schema): string => (shape.kind === 'contentType' ? shape.singularName : shape.uid)

/** `author and article have no "titel".` */
export const formatUnknownKey = (shapes: readonly Schema[], key: string): string =>
  `${list(shapes.slice(0, 3).map(getTypeName))} ${shapes.length === 1 ? 'has' : 'have'} no "${key}".`

/** The path of a type. */
export const getTypePath = ({ config }: Pick<Exchange, 'config'>, type: ContentType): string =>
  `${config.rest.prefix}/${type.singleType ? type.singularName : type.pluralName}`

/** True if no request may name the attribute. */
export const isUnreadable = (attribute: Attribute): boolean =>
  attribute.private || (attribute.kind === 'scalar' && attribute.type === 'password')

/** The names that `fields` takes. */
export const fieldNames = ({ attributes }: Schema): readonly string[] =>
  [...attributes.values()].filter((attribute) => attribute.kind === 'scalar' && !isUnreadable(attribute)).map(({ name }) => name)

/** The names that `populate` takes. */
export const populateNames = ({ attributes }: Schema): readonly string[] =>
  [...attributes.values()].filter((attribute) => attribute.kind !== 'scalar' && !attribute.private).map(({ name }) => name)

/** The attribute with a name in any of the types and components. */
export const findAttribute = (shapes: readonly Schema[], name: string): Attribute | undefined =>
  shapes.find(({ attributes }) => attributes.has(name))?.attributes.get(name)

/** The kind of an attribute with its article: `a string`, `a relation to author`. */
export function describeKind(model: Model, attribute: Attribute): string {
  if (attribute.kind === 'scalar') return withArticle(attribute.type)
  if (attribute.kind === 'component') return `a component (${attribute.component})`
  if (attribute.kind === 'relation' || attribute.kind === 'morphFrom')
    return `a relation to ${model.types.get(attribute.target)?.singularName ?? attribute.target}`
  return { morphTo: 'a relation to many types', media: 'a media attribute', dynamiczone: 'a dynamic zone' }[attribute.kind]
}

/** The types or components that an attribute leads to. */
export function getTargets(model: Model, attribute: Attribute): readonly Schema[] {
  const uids =
    attribute.kind === 'dynamiczone'
      ? attribute.components
      : [
          attribute.kind === 'component'
            ? attribute.component
            : attribute.kind === 'media'
              ? fileType
              : 'target' in attribute
                ? attribute.target
                : '',
        ]
  return uids.flatMap((uid) => model.components.get(uid) ?? model.types.get(uid) ?? [])
}

/** The steps of a path in an error; the dot of a component uid after `on` does not separate steps. */
export function splitPath(model: Model, path: string): readonly string[] {
  const steps: string[] = []
  for (const part of path.split('.')) {
    const uid = `${steps.at(-1)}.${part}`
    if (steps.at(-2) === 'on' && (model.components.has(uid) || model.types.has(uid))) steps[steps.length - 1] = uid
    else steps.push(part)
  }
  return steps
}

/** End of a path: the types or components, and the last attribute. */
interface PathTarget {
  readonly shapes: readonly Schema[]
  readonly attribute: Attribute | null
}

/** Follows the attribute names of a path, ignoring indexes and words of the query language; null if an attribute does not exist. */
export function followPath(model: Model, shapes: readonly Schema[], path: readonly string[]): PathTarget | null {
  let target: PathTarget = { shapes, attribute: null }
  for (const step of path) {
    if (/^(?:\d+|populate|on|\$.*)$/.test(step)) continue
    const named = model.components.get(step) ?? model.types.get(step)
    const attribute = named === undefined ? findAttribute(target.shapes, step) : target.attribute
    if (attribute === undefined) return null
    target = { shapes: named === undefined ? getTargets(model, attribute!) : [named], attribute }
  }
  return target
}

const usualLabels = ['name', 'title', 'label', 'heading', 'headline', 'displayName', 'username', 'slug']

/** The attribute that names documents of a type for people; null if it has no text. */
export function getLabel(shape: Schema): string | null {
  const texts = [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' && !attribute.system && !isUnreadable(attribute) && /^(?:string|text|uid|email)$/.test(attribute.type)
      ? [attribute.name]
      : [],
  )
  return usualLabels.find((label) => texts.includes(label)) ?? texts[0] ?? null
}

/** Rows of a type in all locales; drafts unless the query has a status. */
export async function findRows<Row>({ documents }: RouteCall, type: ContentType, query: string): Promise<readonly Row[]> {
  const status = type.draftAndPublish && !query.includes('status=') ? '&status=draft' : ''
  const options = { type, mode: 'many', paged: false, query: `${query}&locale=*${status}`, envelope: 'bare' } as const
  return (await documents.findAsService(options)) as readonly Row[]
}
