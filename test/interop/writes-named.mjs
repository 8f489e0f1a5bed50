// The differences that docs/differences.md names: each recognised by its request and by the extent of the difference.

const isRefusal = ({ status, body }) => status === 400 && body?.error !== undefined
const notADatetime = 'Invalid format, expected a timestamp or an ISO date'
const isWhole = ({ path }) => Array.isArray(path) && path.length === 0
const errorsOf = ({ body }) => body.error.details?.errors ?? []
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)
const messages = (answer) => errorsOf(answer).map(({ message }) => message)

/** All values below a value, including itself. */
function* below(value) {
  yield value
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* below(inner)
}
const some = (value, test) => [...below(value)].some(test)

const ofRelations = [
  /^\d+ relation\(s\) of type \S+ associated with this entity do not exist$/,
  /^Document with id "[^"]*", locale "[^"]*" not found$/,
  /^The relation with id # is already connected/,
  /^A circular reference was found in the connect array/,
  /^There was a problem connecting relation with id #/,
  /^Invalid relations$/,
  /^Some of the provided components in \S+ are not related to the entity$/,
]
const isOfRelations = (message) => ofRelations.some((pattern) => pattern.test(message))

/** Refused by both, with the same messages about the same values. */
function hasSameErrors(strapi, octavo) {
  const shown = (answer) => errorsOf(answer).map((error) => (isWhole(error) ? { ...error, value: null } : error))
  return strapi.body.error.message === octavo.body.error.message && same(shown(strapi), shown(octavo))
}

/** A message with its lists sorted. */
const inOrder = (message) => {
  const [says, listed] = message.split(' must be one of the following values: ')
  return listed === undefined ? message : [says, ...listed.split(', ').toSorted()].join(' ')
}

function hasOtherOrder(strapi, octavo) {
  const [one, other] = [messages(strapi), messages(octavo)]
  return !same(one, other) && same(one.map(inOrder).toSorted(), other.map(inOrder).toSorted())
}

/** Strapi's additional errors are about passwords; or Octavo's are. */
function lacksPasswords(schemas, publishes, strapi, octavo) {
  const passwords = new Set(
    [...schemas.values()].flatMap(({ attributes }) =>
      Object.entries(attributes).flatMap(([name, { type }]) => (type === 'password' ? [name] : [])),
    ),
  )
  const others = errorsOf(octavo).filter(
    ({ path, message }) => !(passwords.has(path.at(-1)) && / must (be at least \d+ characters|match the following: .*)$/.test(message)),
  )
  if (others.length === errorsOf(octavo).length) return false
  if (!isRefusal(strapi)) return others.length === 0
  // Strapi's errors after the rules of drafts: in dates, or on publishing.
  if (others.length === 0 && (publishes || errorsOf(strapi).length === 0)) return true
  const kept = (errors) => errors.filter((error) => !isWhole(error)).map(({ message }) => message)
  const ofStrapi =
    errorsOf(strapi).length > 0 ? kept(errorsOf(strapi)) : [strapi.body.error.message].filter((message) => !isOfRelations(message))
  return same(kept(others), ofStrapi)
}

/** The mistakes with values that both name are the same; of those with relations one names others, or some of them. */
function namesOtherMistakes(strapi, octavo, body) {
  const references = [...below(body)].filter(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      ('$doc' in value || '$row' in value || 'id' in value || 'documentId' in value || 'before' in value || 'after' in value),
  )
  const ofValues = (answer) => {
    const all = errorsOf(answer).length > 0 ? messages(answer) : [answer.body.error.message]
    return all.filter((message) => !isOfRelations(message) && !/component identifier is undefined$/.test(message))
  }
  const [one, other] = [ofValues(strapi), ofValues(octavo)]
  // Their order is a separate point.
  if (one.length > 0 && other.length > 0) return same(one.toSorted(), other.toSorted())
  // Relations alone: several are named.
  return one.length + other.length > 0 || references.length > 1 || some(body, (value) => value === false)
}

/** A text with digits at its beginning, in place of a relation. */
function namesByDigits(octavo, body) {
  const id = /^Document with id "([^"]*)", locale "[^"]*" not found$/.exec(octavo.body.error.message)?.[1]
  return id !== undefined && !/^\d{1,15}$/.test(id) && !Number.isNaN(Number.parseInt(id, 10)) && some(body, (value) => value === id)
}

/** A position names its neighbour by a number, and Strapi looks for a document of that name. */
function namesNeighboursByRow(strapi, body) {
  const missing = /^Document with id "(\d+)", locale "[^"]*" not found$/.exec(strapi.body.error.message)?.[1]
  const isRow = (at) => (typeof at === 'object' ? at !== null && '$row' in at : String(at) === missing)
  return (
    missing !== undefined &&
    some(body, (value) => [value?.position?.before, value?.position?.after].some((at) => at !== undefined && isRow(at)))
  )
}

/** An entry by its row id with other keys, and the same target once more. */
const namesTwiceByRow = (strapi, body) =>
  /^The relation with id # is already connected/.test(strapi.body.error.message) &&
  some(
    body,
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      (typeof value.id === 'number' || (typeof value.id === 'object' && value.id !== null && '$row' in value.id)) &&
      Object.keys(value).some((key) => key !== 'id' && key !== 'position'),
  )

/** The names of media attributes. */
const mediaOf = (schemas) =>
  new Set(
    [...schemas.values()].flatMap(({ attributes }) =>
      Object.entries(attributes ?? {}).flatMap(([name, { type }]) => (type === 'media' ? [name] : [])),
    ),
  )

/** One file twice in a list of `connect`, at different positions. */
function connectsAFileTwice({ schemas, path, body }) {
  const media = mediaOf(schemas)
  const name = path.split('.').findLast((part) => media.has(part))
  const isTwice = (value) => {
    const ids = Array.isArray(value?.connect) ? value.connect.map((entry) => entry?.id ?? entry) : []
    return new Set(ids).size < ids.length
  }
  return name !== undefined && some(body, (value) => typeof value === 'object' && value !== null && isTwice(value[name]))
}

/** Files that the body keeps by saying nothing about them: `{}`, `true`, or empty lists of `connect` and `disconnect`. */
function saysNothingOfMedia({ schemas, path, body }) {
  const media = mediaOf(schemas)
  const name = path.split('.').findLast((part) => media.has(part))
  const saysNothing = (value) =>
    value === true ||
    (typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.entries(value).every(([key, list]) => ['connect', 'disconnect'].includes(key) && Array.isArray(list) && list.length === 0))
  return name !== undefined && some(body, (value) => typeof value === 'object' && value !== null && saysNothing(value[name]))
}

/** A polymorphic target by a row id that is not there. */
const namesNoRow = (octavo, body) =>
  /^\d+ relation\(s\) of type \S+ associated with this entity do not exist$/.test(octavo.body.error.message) &&
  some(body, (value) => typeof value?.__type === 'string' && value.id !== undefined)

/** Additional errors on one side, if any, are about missing values in components, on a type without drafts. */
function lacksRequired({ options }, strapi, octavo) {
  if (options?.draftAndPublish === true) return false
  const others = errorsOf(octavo).filter(({ path, message }) => !(path.length > 1 && / must be defined\.$/.test(message)))
  if (others.length === errorsOf(octavo).length) return false
  if (!isRefusal(strapi)) return others.length === 0
  const said = errorsOf(strapi).length > 0 ? messages(strapi) : [strapi.body.error.message]
  return same(
    others.map(({ message }) => message),
    said,
  )
}

const rounded = (one, other) => /^-?\d{16,}$/.test(String(other)) && String(one) !== String(other) && Number(one) === Number(other)

const isOfFewDigits = ([strapi, octavo]) =>
  /^\d{1,5}$/.test(String(octavo)) && typeof octavo === 'string' && /^-?\d{9,}$/.test(String(strapi))

/** Documents of a populated relation that Octavo shows and Strapi lacks; null where they differ otherwise. */
function keptLinks(strapi, octavo) {
  const listed = (value) => (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value])
  const [one, other] = [listed(strapi), listed(octavo)]
  const isDocument = (value) => typeof value?.documentId === 'string'
  if (![...one, ...other].every(isDocument)) return null
  const more = [...other]
  for (const { documentId } of one) {
    const at = more.findIndex((entry) => entry.documentId === documentId)
    if (at < 0) return null
    more.splice(at, 1)
  }
  return more.map(({ documentId }) => documentId)
}

/** The value of both answers where the path leaves the last list or object that both have. */
function around(path, answer) {
  const [, inside = path] = /^(.*)\.documentId$/.exec(path) ?? []
  const relation = inside.replace(/\.\d+$/, '').split('.')
  return { value: relation.reduce((here, key) => here?.[key], answer), name: relation.at(-1) }
}

/** The same documents in another order, on a type without drafts that sorts one after another by its documentId. */
function isBehindDraft({ schema, one, other, written }) {
  if (schema?.options?.draftAndPublish !== false || !Array.isArray(one) || !Array.isArray(other)) return false
  const names = (list) => list.map((entry) => entry?.documentId).toSorted()
  return same(names(one), names(other)) && some(written, (value) => typeof value?.position?.after?.$doc === 'number')
}

/** A relation with two sides whose targets have one owner. */
const hasOneOwner = (schemas, name) =>
  [...schemas.values()].some(({ attributes }) => {
    const { relation, inversedBy, mappedBy } = attributes?.[name] ?? {}
    return (relation === 'oneToOne' || relation === 'oneToMany') && (inversedBy ?? mappedBy) !== undefined
  })

/**
 * The point of docs/differences.md that a difference belongs to, or null. `request`: its body and query; `written`: the body of the last
 * write; `document`: the symbol of the
 * document; `refused`: how the refusal of the write before a read begins; `hadDraftsOnly(symbol)`: whether the document was ever without a published version.
 * `namedByDraft(symbol)`: whether a write to a draft named the document.
 * `connectsSeveral(symbol)`: whether a list of `connect` with several entries made it.
 * `wasDrafted(symbol)`: whether its draft was written alone.
 * `isShared(symbol)`: whether writes to several locales of the document named it, and it was written itself.
 */
export function namedPoint({
  schemas,
  path,
  strapi,
  octavo,
  request,
  written,
  refused,
  document,
  hadDraftsOnly,
  connectsSeveral,
  namedByDraft,
  wasDrafted,
  isShared,
}) {
  const { body, method } = request
  if (strapi.status === 500) return octavo.status < 500 ? 'no 500' : null
  if (isRefusal(octavo) && namesByDigits(octavo, body) && (strapi.status < 300 || strapi.status === 400 || strapi.status === 404))
    return 'a text that begins with digits'
  if (
    octavo.status === 400 &&
    (isRefusal(strapi) || strapi.status < 300) &&
    lacksPasswords(schemas, !/status=draft/.test(request.query ?? ''), strapi, octavo)
  )
    return 'passwords in drafts'
  if (isRefusal(strapi) && namesNeighboursByRow(strapi, body)) return 'neighbours by row id'
  if (
    method === 'PUT' &&
    (strapi.status === 200 || isRefusal(strapi)) &&
    isRefusal(octavo) &&
    lacksRequired(request.schema, strapi, octavo)
  )
    return 'required in a new component'
  const isMomentInList = some(body, (value) => Array.isArray(value) && value.length === 1 && !Number.isNaN(Date.parse(value[0])))
  if (isRefusal(octavo) && octavo.body.error.message === notADatetime) {
    if (isMomentInList && (strapi.status < 300 || isRefusal(strapi))) return 'a list in place of a moment'
    if (strapi.status < 300) return null
  }
  if (strapi.status < 300 && isRefusal(octavo) && namesNoRow(octavo, body)) return 'a polymorphic row id that is not there'
  if ((strapi.status === 404 || strapi.status === 200) && isRefusal(octavo) && Array.isArray(body?.data)) return 'data that is a list'
  if (isRefusal(strapi) && isRefusal(octavo)) {
    if (hasSameErrors(strapi, octavo)) return 'the value of an error about the whole'
    if (hasOtherOrder(strapi, octavo)) return 'the order of errors'
    if (isAboutNewLocale(strapi, request)) return 'shared components of a new locale'
    return namesOtherMistakes(strapi, octavo, body) ? 'several mistakes' : null
  }
  if (isRefusal(strapi) && octavo.status < 300) {
    if (namesTwiceByRow(strapi, body)) return 'a row id and the same target once more'
    return isAboutNewLocale(strapi, request) ? 'shared components of a new locale' : null
  }
  if (strapi.status >= 300 || octavo.status >= 300) return null
  if (saysNothingOfMedia({ schemas, path, body: written })) return 'media that say nothing'
  if (connectsAFileTwice({ schemas, path, body: written })) return 'a file twice in connect'
  const at = path.split('.').reduce(([one, other], key) => [one?.[key], other?.[key]], [strapi, octavo])
  if (rounded(...at)) return '64-bit integers'
  if (typeof at[1] === 'boolean' && at[0] === Number(at[1])) return 'booleans as JSON values'
  if (refused === 'Invalid format' && method === 'GET') return 'a refused write'
  if (isOfFewDigits(at)) return 'timestamps of few digits'
  const [one, other] = [around(path, strapi), around(path, octavo)]
  if (isBehindDraft({ schema: request.schema, one: one.value, other: other.value, written })) return 'behind a document with drafts'
  const kept = keptLinks(one.value, other.value)
  const drafted = keptLinks(other.value, one.value)
  const isOneSided = [...schemas.values()].some(({ attributes }) => {
    const { type, inversedBy, mappedBy } = attributes?.[one.name] ?? {}
    return type === 'relation' && inversedBy === undefined && mappedBy === undefined
  })
  if (drafted !== null && drafted.length > 0 && isOneSided && /status=published/.test(request.query ?? ''))
    return 'a drafted link whose target is published again'
  if (drafted?.length === 1 && drafted.every(connectsSeveral) && !Array.isArray(one.value)) return 'several targets of a relation to one'
  if (kept === null || kept.length === 0) return null
  if (/status=published/.test(request.query ?? '') && !Array.isArray(one.value) && (kept.every(namedByDraft) || namedByDraft(document)))
    return 'a published link that a draft took'
  if (/status=published/.test(request.query ?? '') && hasOneOwner(schemas, one.name) && kept.every(isShared))
    return 'a target that several locales share'
  if (some(other.value, (value) => typeof value?.__type === 'string')) return 'a polymorphic relation to what was published anew'
  if (kept.every((symbol) => symbol === document)) return 'a link to itself'
  if (kept.every((symbol) => symbol === document || hadDraftsOnly(symbol))) return 'a link to what was not published'
  return /status=published/.test(request.query ?? '') && hadDraftsOnly(document) && kept.every(wasDrafted)
    ? 'a link that waits and that the draft lost'
    : null
}

/** Strapi misses a document that the body does not name: one that what a new locale shares with the others leads to. */
function isAboutNewLocale(strapi, { method, body }) {
  const missing = /^Document with id "([^"]*)", locale "[^"]*" not found$/.exec(strapi.body.error.message)?.[1]
  const isNamed = some(body, (value) => value === missing || (typeof value?.$doc === 'number' && `#${value.$doc}` === missing))
  return method === 'PUT' && missing !== undefined && !isNamed
}

const parses = (type, value) =>
  (typeof value === 'string' || (Number.isInteger(value) && value >= 1000)) &&
  (type === 'time' ? /^\d\d:\d\d:\d\d/.test(value) : !Number.isNaN(Date.parse(value)) && !/^(\d\d-|[+-]\d{6})/.test(value))

/** The documented point of a request that ends Strapi's process, or null. */
export function namedEnd(schemas, schema, body) {
  if (Array.isArray(body?.data)) return 'data that is a list'
  const moments = new Set(['date', 'time', 'datetime', 'timestamp'])
  const walk = ({ attributes }, data) =>
    Object.entries(data ?? {}).flatMap(([name, value]) => {
      const { type, unique, component, repeatable } = attributes[name] ?? {}
      if (moments.has(type) && unique && value !== null) return [!parses(type, value) ? 'a moment that does not parse' : null]
      if (type !== 'component') return []
      const list = (Array.isArray(value) ? value : [value]).filter((entry) => typeof entry === 'object' && entry !== null)
      const inner = schemas.get(component)
      const gap =
        repeatable &&
        list.length > 1 &&
        Object.entries(inner.attributes).some(
          ([key, attribute]) =>
            attribute.type === 'component' &&
            holdsUnique(schemas, attribute.component) &&
            list.some((entry) => entry[key]) &&
            !list.every((entry) => entry[key]),
        )
      return [gap ? 'a list with an entry without its component' : null, ...list.flatMap((entry) => walk(inner, entry))]
    })
  return walk(schema, body?.data).find((point) => point !== null) ?? null
}

const holdsUnique = (schemas, uid) =>
  Object.values(schemas.get(uid).attributes).some(
    ({ type, unique, component }) => type === 'uid' || unique === true || (type === 'component' && holdsUnique(schemas, component)),
  )
