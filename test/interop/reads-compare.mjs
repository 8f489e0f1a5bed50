// Compares two responses, apart from the intended differences of docs/differences.md.

/** @typedef {{ status: number, type: string | null, text: string }} Answer */

/** Attributes that Octavo never shows; Strapi shows them below the inverse side of polymorphic relations. */
const unreadable = /^(hidden|secret)[A-Z]|^(password|pin|salary|resetPasswordToken|confirmationToken|folderPath)$/

/**
 * @param {{ path: string }} request
 * @param {Answer} strapi
 * @param {Answer} octavo
 * @returns {{ outcome: string, where?: string }} `where` is the position of a difference
 */
export function compare(request, strapi, octavo) {
  if (octavo.status >= 500 || octavo.status === 0)
    return { outcome: 'FAULT', where: `${strapi.status} ${octavo.status} ${octavo.text.slice(0, 200)}` }
  if (strapi.status >= 500 || strapi.status === 0) return { outcome: `strapi ${strapi.status}, octavo ${octavo.status}` }
  // Strapi takes an underscore in _q for any character.
  if (/[?&]_q=[^&]*_/.test(request.path)) return { outcome: '_q with an underscore' }
  // A NUL ends what SQLite compares; Octavo finds nothing instead.
  if (request.path.includes('%00')) return { outcome: 'with a NUL' }
  // Strapi drops the condition, or finds nothing; Octavo refuses (docs/differences.md, "an object in place of a value").
  const inPlace = /not an object"|takes a list of filters"|"Invalid key \d{3,}"|"Invalid value for \w+"/
  if (octavo.status === 400 && [200, 404].includes(strapi.status) && inPlace.test(octavo.text))
    return { outcome: 'an object in place of a value' }
  // Strapi checks the content of a populate only if there are rows to populate, and never for files by id.
  const isEager = octavo.status === 400 && strapi.status !== 400 && senseless.test(octavo.text)
  if (isEager && /populate[^&]*(filters|fields|sort)|^\/api\/upload\/files\/\d/.test(decodeURIComponent(request.path)))
    return { outcome: 'a value that Strapi did not look at' }
  // `modified` is decided by content (docs/differences.md), so other documents are found, and read in other states.
  const isFound = [strapi, octavo].every(({ status }) => status === 200 || status === 404)
  if (/[?&]publicationFilter=(un)?modified/.test(request.path) && strapi.text !== octavo.text && isFound)
    return { outcome: 'publicationFilter' }
  const isTold = strapi.status !== octavo.status && told.some((differs) => differs(request.path, strapi, octavo))
  if (isTold) return { outcome: 'told in docs/differences.md' }
  if (isAnotherMistake(request.path, strapi, octavo)) return { outcome: 'another mistake is named' }
  if (strapi.status !== octavo.status)
    return { outcome: 'status', where: `${strapi.status} ${strapi.text.slice(0, 220)}\n    ${octavo.status} ${octavo.text.slice(0, 220)}` }
  if (strapi.text === octavo.text) return { outcome: `same ${strapi.status}` }
  if (strapi.type !== octavo.type) return { outcome: 'type', where: `${strapi.type} ${octavo.type}` }
  const bodies = [parse(strapi.text, true), parse(octavo.text, false)]
  const [left, right] = isAnyOrder(request.path, bodies) ? bodies.map((body) => body.toSorted(byId)) : bodies
  if (JSON.stringify(left) === JSON.stringify(right)) return { outcome: `same ${strapi.status}` }
  const where = difference(left, right, '', decodeURIComponent(request.path))
  return where ? { outcome: 'body', where } : { outcome: `same ${strapi.status}, keys in another order` }
}

/** Octavo's messages about values, lists and orders that make no sense. */
const senseless =
  /^\{"data":null,"error":\{"status":400,"name":"ValidationError","message":"(Invalid (number|format|value|date|time|order|fields parameter)|\$\w+ (takes|joins)|The operator )/

/** @typedef {(path: string, strapi: Answer, octavo: Answer) => boolean} Difference */
/** Of several errors each names the first that it finds. @type {Difference} */
function isAnotherMistake(path, strapi, octavo) {
  if (strapi.status !== 400 || octavo.status !== 400) return false
  const [theirs, ours] = [strapi, octavo].map(({ text }) => JSON.parse(text).error)
  const [first, second] = [theirs, ours].map(({ message }) => /^Invalid \w+ [^ ]*/.exec(message)?.[0])
  if (first && second && first !== second) return true
  // Strapi responds with 500 if it reaches this.
  if (theirs.message !== ours.message && /^(\$\w+ |The operator |The filters parameter )/.test(ours.message)) return true
  // The same name at another position, if it appears at several.
  return theirs.details?.path !== ours.details?.path && decodeURIComponent(path).split(theirs.details?.key).length > 2
}

/** The inverse sides of polymorphic relations, and the relations to many types. */
const inverse = '(remarks|pinned|comments|spotlight|related)'
const morph = '(about|single|anything|subject|subjects)'

/** @type {Difference} A list whose only entry is the star. */
const isLoneStar = (_, strapi, octavo) => /"message":"Invalid key \*/.test(strapi.text) && [200, 404].includes(octavo.status)
/** @type {Difference} */
const isStarOfUsers = (path, strapi, octavo) =>
  strapi.status === 200 &&
  /^\/api\/users\b.*populate[^&]*\]=\*/.test(decodeURIComponent(path)) &&
  /"message":"Invalid key /.test(octavo.text)
/** @type {Difference} */
const isNative = (_, strapi, octavo) =>
  [200, 404].includes(strapi.status) && /"Invalid key (__proto__|constructor|toString)"/.test(octavo.text)
/** After the inverse side of a polymorphic relation Strapi checks no name of a filter. @type {Difference} */
const isBehindInverse = (_, strapi, octavo) =>
  [200, 404].includes(strapi.status) && new RegExp(`"Invalid key [^"]* at [^"]*${inverse}[^"]*".*"param":"filters"`).test(octavo.text)
/** @type {Difference} */
const isMomentAndMore = (path, strapi, octavo) =>
  strapi.status !== 400 && /expected a timestamp/.test(octavo.text) && /T\d\d:[\d:.]+[Z+-][^&]*[^\d&]/.test(decodeURIComponent(path))
/** @type {Difference} */
const isSwitchAndMore = (_, strapi, octavo) => strapi.status !== 400 && /"Invalid key (0|1|t|f|true|false)\.[^"]* at /.test(octavo.text)
/** The only type that has an attribute called `populate`. @type {Difference} */
const isPopulateOfPopulate = (path, strapi, octavo) =>
  strapi.status === 400 && octavo.status !== 400 && decodeURIComponent(path).includes('[on][api::zoo.no-options][populate][')

/** Responses with another status, as documented in docs/differences.md. */
const told = [isLoneStar, isStarOfUsers, isNative, isBehindInverse, isMomentAndMore, isSwitchAndMore, isPopulateOfPopulate]

/** @param {{ id: number }} a @param {{ id: number }} b */
const byId = (a, b) => a.id - b.id

/** Users and files come in any order where none is asked for, and so do those that are in a tie. @param {string} path @param {any[]} bodies */
function isAnyOrder(path, bodies) {
  if (!/^\/api\/(users|upload\/files)\b/.test(path) || !bodies.every(Array.isArray)) return false
  if (!/[?&]sort/.test(path)) return true
  const [, key = ''] = /[?&]sort(?:%5B0%5D|\[0\])?=(\w+)/.exec(path) ?? []
  const [left, right] = bodies.map((body) => body.map((/** @type {any} */ row) => row[key]))
  return !left.includes(undefined) && JSON.stringify(left) === JSON.stringify(right)
}

/** @param {string} text @param {boolean} cleaned */
function parse(text, cleaned) {
  try {
    return JSON.parse(text, (name, value) => {
      if (cleaned && unreadable.test(name)) return undefined
      return typeof value === 'string' && /^-?\d{16,}$/.test(value) ? String(Number(value)) : value
    })
  } catch {
    return text
  }
}

/** @param {any} left @param {any} right @param {string} path @param {string} asked @returns {string | undefined} */
function difference(left, right, path, asked) {
  if (Object.is(left, right) || isToldOf(left, right, path, asked)) return undefined
  if ([left, right].some((value) => typeof value !== 'object' || value === null)) return `${path}: ${show(left)} <> ${show(right)}`
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = difference(left[key], right[key], `${path}/${key}`, asked)
    if (found) return found
  }
  return undefined
}

/** Members that differ as documented in docs/differences.md. @param {any} left @param {any} right @param {string} path @param {string} asked */
function isToldOf(left, right, path, asked) {
  const is = (/** @type {string} */ end) => new RegExp(`${end}$`).test(path)
  // `fields` takes the columns away that these relations need.
  if ((is('/(single|pinned|subject|spotlight)') && left === null) || (is('/(single|subject)/count') && left === 0 && right === 1))
    return true
  // Strapi leaves out other locales of the same list, and does not count them.
  if (is('/localizations/((data/)?\\d+|count)')) return true
  // Strapi counts no documents after these, and others once for each match of a condition.
  if (is(`/${inverse}(/data)?`) && typeof right?.count === 'number' && (left === null || Array.isArray(left))) return true
  if (is('/count') && left > right && right > 0 && /populate[^&]*filters/.test(asked)) return true
  // The place in a list of components.
  if (is('/\\d+/order') && Number.isInteger(left) && right === undefined && /populate[^&]*fields/.test(asked)) return true
  // Private attributes, and what the caller may not find.
  const isHidden = right === undefined && new RegExp(`/${inverse}/`).test(path)
  const isText = /populate(\[\d*\])?=[^&]*,/.test(asked)
  const isCreator = '/(createdBy|updatedBy)(/data/attributes)?/\\w+'
  if (isHidden && (is(isCreator) || is('/updatedAt') || (isText && typeof left === 'object'))) return true
  return isText && left === undefined && is(`/${morph}`) && Array.isArray(right) && right.length === 0
}

/** @param {unknown} value */
const show = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 160)
