// Likely causes of differences, with advice, in order of precedence.
import type { ServiceName } from './callers.js'
import { type Difference, isRecord, type JsonPath } from './differences.js'
import { type DocumentedRow, documentedRow } from './documented.js'
import { derivePopulate, isPopulatable, type KnownModel, type KnownShape, type PopulateTree } from './model.js'
import {
  compareResponses,
  findStrapiOrder,
  getDocuments,
  getErrorMessage,
  type ResponsePair,
  type ServiceResponse,
} from './response-pair.js'

export interface Cause {
  readonly name: string
  /** Heading of the group. */
  readonly title: string
  /** Meaning and remedy. `{uid}`: the content-type, `{action}`: the action of the request. */
  readonly advice: string
  /** Advice for requests without a content-type: octavo.config has no settings for users, files and others. */
  readonly elsewhere?: string
  /** Octavo shows or allows more than Strapi does. */
  readonly exposes?: boolean
  matches(difference: Difference, pair: ResponsePair, model: KnownModel): boolean
}

type Match = Cause['matches']

const isOk = (status: number): boolean => status >= 200 && status < 300
const statuses =
  (holds: (strapi: number, octavo: number) => boolean): Match =>
  ({ kind }, { strapi, octavo }) =>
    kind === 'status' && holds(strapi.status, octavo.status)

/** A document in a list with `data`, or in a list of users or files. */
const isDocument: Match = ({ path }) =>
  (path.length === 2 && path[0] === 'data' && typeof path[1] === 'number') || (path.length === 1 && typeof path[0] === 'number')
/** An attribute of the requested documents, not of nested ones. */
const isOwnAttribute: Match = ({ path }) =>
  typeof path.at(-1) === 'string' && [...path].filter((key) => key !== 'data' && typeof key === 'string').length === 1 && path[0] !== 'meta'
const isTotal: Match = ({ pattern }) => /^meta\.pagination\.(?:total|pageCount)$/.test(pattern)
const hasPopulate = ({ parameters }: ResponsePair): boolean => parameters.populate !== undefined

/** True for a relation, component, zone or file, according to the model or else the value. */
const isContent: Match = ({ path, strapi, octavo }, pair, model) => {
  const shape = shapeAt(path, pair, model)
  if (shape === null) return looksLikeContent(strapi ?? octavo)
  const name = String(path.at(-1))
  return name === 'localizations' || name === 'createdBy' || name === 'updatedBy' || isPopulatable(shape.attributes[name])
}

/** The type or component of the last key of a path; null if the model lacks it. */
function shapeAt(path: Difference['path'], { addressed }: ResponsePair, { shapes }: KnownModel): KnownShape | null {
  const names = path.filter((key): key is string => typeof key === 'string' && key !== 'data').slice(0, -1)
  let shape: KnownShape | null = addressed?.type ?? shapes.get(builtIn.get(addressed?.segment ?? '') ?? '') ?? null
  for (const name of names) {
    const attribute = shape?.attributes[name]
    shape = shapes.get(String(attribute?.type === 'media' ? 'plugin::upload.file' : (attribute?.target ?? attribute?.component))) ?? null
  }
  return shape
}

/** Strapi's own plugins; relations to types of other plugins are omitted. */
const ofKnownPlugins = /^plugin::(?:users-permissions|upload|i18n|content-releases|review-workflows)\./

/** A relation to a type of a plugin that only Strapi has. */
const leadsToPlugin: Match = ({ kind, path }, pair, model) => {
  const target = String(shapeAt(path, pair, model)?.attributes[String(path.at(-1))]?.target)
  return kind === 'missing' && target.startsWith('plugin::') && !ofKnownPlugins.test(target)
}

const builtIn = new Map([
  ['users', 'plugin::users-permissions.user'],
  ['upload', 'plugin::upload.file'],
])

/** True if populate may have added the value: null, an entry with an id, or a list of entries. */
function looksLikeContent(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.every((entry) => isRecord(entry) && 'id' in entry)
  return isRecord(value) && ('id' in value || 'count' in value)
}

/** True if only one response has a document or component at a path that both have. */
function isTarget({ kind, path, strapi, octavo }: Difference, side: ServiceName): boolean {
  const [has, lacks] = side === 'octavo' ? [octavo, strapi] : [strapi, octavo]
  if (!isRecord(has) || !('id' in has)) return false
  return kind === 'value' ? lacks === null : (kind === 'missing' || kind === 'added') && typeof path.at(-1) === 'number'
}

/** `meta.pagination` of a list; empty if there is none. */
function getPagination({ content }: ServiceResponse): Readonly<Record<string, unknown>> {
  const meta = content.kind === 'json' && isRecord(content.value) ? content.value.meta : null
  return isRecord(meta) && isRecord(meta.pagination) ? meta.pagination : {}
}

/** A custom field with values of different types. Without a model: a text that is the JSON of the other value. */
const isOfOtherType: Match = ({ kind, path, strapi, octavo }, { addressed }) => {
  if (kind !== 'value' || typeof strapi === typeof octavo || strapi === null || octavo === null) return false
  const attribute = addressed?.type?.attributes[String(path.at(-1))]
  return typeof attribute?.customField === 'string' || (typeof octavo === 'string' && octavo === JSON.stringify(strapi))
}

const getPageSize = (half: ServiceResponse): unknown => getPagination(half).pageSize ?? getPagination(half).limit
const isPagination = ({ pattern }: Difference): boolean => /^meta\.pagination\.(?!total$)/.test(pattern)

/** Number of documents that only Octavo has, by totals or else by lists. */
function surplus({ strapi, octavo }: ResponsePair): number {
  const countOf = (half: ServiceResponse): number => {
    const { total } = getPagination(half)
    return typeof total === 'number' ? total : getDocuments(half).length
  }
  return countOf(octavo) - countOf(strapi)
}

/** True if a document has different values of `updatedAt`. */
function isOtherContent({ strapi, octavo }: ResponsePair): boolean {
  const keyOf = ({ documentId, id, locale }: Readonly<Record<string, unknown>>): string => `${documentId ?? id} ${locale}`
  const times = new Map(getDocuments(strapi).map((entry) => [keyOf(entry), entry.updatedAt]))
  return getDocuments(octavo).some((entry) => {
    const time = times.get(keyOf(entry))
    return time !== undefined && entry.updatedAt !== undefined && time !== entry.updatedAt
  })
}

const pluginAdvice = 'Octavo does not run extensions of plugins: serve what clients need from a route of octavo.config under another path.'

/** The first match determines the cause of a difference. */
export const causes: readonly Cause[] = [
  {
    name: 'file',
    title: 'A file differs',
    advice: 'Compare the folders of uploads (UPLOADS_DIR), and what stands in front of Strapi.',
    matches: (_, { path }) => path.startsWith('/uploads/'),
  },
  {
    name: 'schema drift',
    title: 'Octavo does not find a table or column of the content model',
    advice: 'npx octavo doctor names what is missing in the database, and the log has the name that the request needed. Please report it.',
    matches: (difference, pair, model) =>
      statuses((strapi, octavo) => octavo === 503 && strapi < 500)(difference, pair, model) &&
      getErrorMessage(pair.octavo).includes('(schema drift)'),
  },
  {
    name: 'octavo fails',
    title: 'Octavo fails',
    advice: 'Find the cause in its log by the X-Request-Id of the response, and please report it.',
    matches: statuses((strapi, octavo) => octavo >= 500 && strapi < 500),
  },
  {
    name: 'strapi fails',
    title: 'Strapi fails, Octavo does not',
    advice:
      "Strapi's log has the cause. If it is code of the project that restricts access, Octavo runs none of it: correct it in Strapi and compare again.",
    matches: statuses((strapi, octavo) => strapi >= 500 && octavo < 500),
  },
  {
    name: 'credentials',
    title: 'One of them does not accept the credentials',
    advice: 'Both need the same API_TOKEN_SALT and JWT_SECRET, and the same database.',
    matches: statuses((strapi, octavo) => octavo === 401 || (strapi === 401 && !isOk(octavo))),
  },
  {
    name: 'accepted',
    title: 'Octavo serves a caller whom Strapi does not',
    advice:
      'Code of the project responds with 401: types["{uid}"].policies of octavo.config takes its place, before others can reach Octavo. If Strapi refuses all requests of this caller, the two services have different secrets (API_TOKEN_SALT, JWT_SECRET).',
    exposes: true,
    matches: statuses((strapi, octavo) => strapi === 401 && isOk(octavo)),
  },
  {
    name: 'allowed',
    title: 'Octavo allows what Strapi refuses',
    advice:
      'A policy or middleware of the project refuses the request, and Octavo runs no code of the project. Take types["{uid}"].policies or scope of octavo.config for it; if the project leaves the route out (only, except), types["{uid}"].routes; or revoke the permission, before others can reach Octavo.',
    exposes: true,
    matches: statuses((strapi, octavo) => strapi === 403 && isOk(octavo)),
  },
  {
    name: 'refused',
    title: 'Octavo refuses what Strapi allows',
    advice: 'The route is open in Strapi (auth: false), or the role has no permission. Grant it: npx octavo roles grant public {action}',
    matches: statuses((strapi, octavo) => isOk(strapi) && octavo === 403),
  },
  {
    name: 'found',
    title: 'Octavo returns what Strapi does not find',
    advice:
      'The project leaves the route out (only, except), or its code hides the document. Revoke the permission for {action}, refuse it for tokens too with types["{uid}"].policies, or set types["{uid}"].scope in octavo.config, before others can reach Octavo.',
    exposes: true,
    matches: statuses((strapi, octavo) => (strapi === 404 || strapi === 405) && isOk(octavo)),
  },
  {
    name: 'custom route',
    title: 'Octavo does not have the route',
    advice:
      'It is a custom route of the project or belongs to a plugin. Leave these requests with Strapi, or move them to `routes` of octavo.config or a service of your own.',
    matches: (difference, pair, model) =>
      statuses((strapi, octavo) => isOk(strapi) && (octavo === 404 || octavo === 405))(difference, pair, model) &&
      pair.addressed?.type == null,
  },
  {
    name: 'not found',
    title: 'Octavo does not find what Strapi returns',
    advice: 'Code of the project may choose another status or locale, or the two services have different databases.',
    matches: statuses((strapi, octavo) => isOk(strapi) && octavo === 404),
  },
  {
    name: 'query refused',
    title: 'Octavo refuses the query',
    advice:
      'The message says what is wrong with it. Code of the project may rewrite the query in Strapi: types["{uid}"].reads.before takes its place.',
    matches: statuses((strapi, octavo) => isOk(strapi) && octavo === 400),
  },
  {
    name: 'query accepted',
    title: 'Octavo accepts a query that Strapi refuses',
    advice:
      'The message says what Strapi refuses. If code of the project has added it, such as a filter that hides documents, Octavo runs none of it: types["{uid}"].scope of octavo.config takes its place, before others can reach Octavo.',
    exposes: true,
    matches: statuses((strapi, octavo) => strapi === 400 && isOk(octavo)),
  },
  {
    name: 'refused by both',
    title: 'Both refuse the request, with another status',
    advice:
      'Clients get the status of Octavo. A route that the project leaves out (only, except) is 404 or 405 in Strapi; types["{uid}"].routes of octavo.config leaves it out of Octavo too. A document outside of a scope is 404 where a policy is 403.',
    matches: statuses((strapi, octavo) => strapi >= 400 && strapi < 500 && octavo >= 400 && octavo < 500),
  },
  {
    name: 'status',
    title: 'The status differs',
    advice: 'Compare the two messages.',
    matches: ({ kind }) => kind === 'status',
  },
  {
    name: 'contract',
    title: 'Octavo follows another contract',
    advice: 'Set api.rest.contract to "strapi" in octavo.config: the responses then are those of Strapi 5.54.',
    matches: ({ kind, pattern, path }) => kind === 'added' && path.at(-1) === 'documentId' && pattern !== 'data.documentId',
  },
  {
    name: 'page size',
    title: 'Pages have another size',
    advice:
      'Set types["{uid}"].defaults.pageSize in octavo.config if code of the project sets it, or api.rest.defaultLimit and maxLimit for all types.',
    matches: (difference, pair, model) =>
      (isDocument(difference, pair, model) || isPagination(difference)) && getPageSize(pair.strapi) !== getPageSize(pair.octavo),
  },
  {
    name: 'default order',
    title: 'Strapi sorts although the request does not',
    advice: 'Code of the project sets sort. Write it into octavo.config:',
    matches: (difference, pair, model) =>
      (isDocument(difference, pair, model) || (difference.kind === 'order' && difference.pattern === 'data')) &&
      surplus(pair) === 0 &&
      findStrapiOrder(pair) !== null,
  },
  {
    name: 'documents shown',
    title: 'Octavo shows documents that Strapi hides',
    advice:
      'Code of the project adds filters, and Octavo runs none of it. Set types["{uid}"].scope in octavo.config (defaults.filters only if clients may look past them), before others can reach Octavo.',
    exposes: true,
    // Documents missing from Strapi's page are on a later page of Octavo's.
    matches: (difference, pair, model) => (isDocument(difference, pair, model) || isTotal(difference, pair, model)) && surplus(pair) > 0,
  },
  {
    name: 'documents missing',
    title: 'Octavo lacks documents that Strapi shows',
    advice:
      'A scope of octavo.config hides them, code of the project chooses another status, locale or page size, or the two services have different databases.',
    matches: (difference, pair, model) => isDocument(difference, pair, model) || isTotal(difference, pair, model),
  },
  {
    name: 'targets shown',
    title: 'Octavo populates documents that Strapi leaves out',
    advice:
      'Code of the project hides them, or the two services have different databases. A scope of their type in octavo.config hides them wherever they are populated.',
    exposes: true,
    matches: (difference) => isTarget(difference, 'octavo'),
  },
  {
    name: 'targets missing',
    title: 'Octavo leaves out documents that Strapi populates',
    advice:
      'A scope of octavo.config hides them, as it does wherever they are populated (--ignore accepts that), code of the project chooses another status or locale, or the two services have different databases.',
    matches: (difference) => isTarget(difference, 'strapi'),
  },
  {
    name: 'plugin',
    title: 'Octavo leaves out relations to types of a plugin',
    advice:
      'The types are in the code of the plugin, which Octavo does not run. Leave these requests with Strapi, or move the types to src/api.',
    matches: leadsToPlugin,
  },
  {
    name: 'populate',
    title: 'Octavo leaves out relations that the request does not ask for',
    advice: 'Code of the project sets populate. Write it into octavo.config:',
    elsewhere: `Code of the project adds them. ${pluginAdvice}`,
    matches: (difference, pair, model) =>
      difference.kind === 'missing' && !hasPopulate(pair) && isOwnAttribute(difference, pair, model) && isContent(difference, pair, model),
  },
  {
    name: 'populate replaced',
    title: 'Strapi populates something else than the request asks for',
    advice:
      'Code of the project replaces the populate of requests. types["{uid}"].defaults holds only for requests without one; types["{uid}"].reads.before can replace it.',
    matches: (difference, pair, model) =>
      (difference.kind === 'missing' || difference.kind === 'added') && hasPopulate(pair) && isContent(difference, pair, model),
  },
  {
    name: 'attributes shown',
    title: 'Octavo shows attributes that Strapi leaves out',
    advice:
      'Code of the project removes them, or it sets fields. Make them private in the schema, or remove them with types["{uid}"].reads.after, before others can reach Octavo.',
    elsewhere: `Code of the project removes them. Make them private in the schema before others can reach Octavo. ${pluginAdvice}`,
    exposes: true,
    matches: ({ kind, pattern }) => kind === 'added' && !pattern.startsWith('error.'),
  },
  {
    name: 'attributes missing',
    title: 'Octavo leaves out attributes that Strapi shows',
    advice: 'Code of the project adds them: types["{uid}"].reads.after of octavo.config takes its place.',
    elsewhere: `Code of the project adds them. ${pluginAdvice}`,
    matches: ({ kind, pattern }) => kind === 'missing' && !pattern.startsWith('error.'),
  },
  {
    name: 'custom field',
    title: 'Octavo takes the values of a custom field for another type',
    advice:
      'The type is in the code of a plugin. Say it in octavo.config by the uid of the field: "customFields": { "plugin::name.field": "json" }',
    matches: isOfOtherType,
  },
  {
    name: 'changed',
    title: 'The content differs',
    advice: 'Documents have another updatedAt: they were written between the two requests, or the two services have different databases.',
    matches: ({ kind }, pair) => kind === 'value' && pair.strapi.status === 200 && isOtherContent(pair),
  },
  {
    name: 'order',
    title: 'The order differs',
    advice: 'Entries are the same, their order is not.',
    matches: ({ kind }) => kind === 'order',
  },
  {
    name: 'message',
    title: 'The error differs',
    advice: 'Both refuse the request, with other words.',
    matches: (_, { strapi, octavo }) => strapi.status >= 400 && getErrorMessage(strapi) !== getErrorMessage(octavo),
  },
  {
    name: 'value',
    title: 'Values differ',
    advice: 'Code of the project may compute them, or the content changed between the two requests.',
    matches: () => true,
  },
]

/** A difference with its explanation. */
export type Explained =
  | { readonly kind: 'documented'; readonly difference: Difference; readonly row: DocumentedRow }
  | { readonly kind: 'cause'; readonly difference: Difference; readonly cause: Cause }

export interface Judgement {
  readonly pair: ResponsePair
  readonly explained: readonly Explained[]
  /** The populate that adds missing parts to Octavo's response; null if nothing is missing. */
  readonly populate: PopulateTree | null
}

export interface JudgeOptions {
  readonly model: KnownModel
  readonly isIgnored: (path: JsonPath) => boolean
}

/** Compares the responses of a pair. */
export function judge(pair: ResponsePair, { model, isIgnored }: JudgeOptions): Judgement {
  const explained = compareResponses(pair, isIgnored).map((difference): Explained => {
    const row = documentedRow(difference, pair)
    if (row !== null) return { kind: 'documented', difference, row }
    return { kind: 'cause', difference, cause: causes.find(({ matches }) => matches(difference, pair, model))! }
  })
  const names = explained.flatMap((one) =>
    one.kind === 'cause' && one.cause.name === 'populate' ? [String(one.difference.path.at(-1))] : [],
  )
  const populate =
    names.length === 0 ? null : derivePopulate(getDocuments(pair.strapi), [...new Set(names)], pair.addressed?.type ?? null, model)
  return { pair, explained, populate }
}

/** True if all differences are documented. */
export const isAccepted = ({ explained }: Judgement): boolean => explained.every(({ kind }) => kind === 'documented')
