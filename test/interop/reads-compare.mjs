// Whether two answers are the same, apart from what docs/differences.md says on purpose.

/** @typedef {{ status: number, type: string | null, text: string }} Answer */

/** Attributes that Octavo never shows; Strapi shows them below the inverse side of polymorphic relations. */
const unreadable = /^(hidden|secret)[A-Z]|^(password|pin|salary|resetPasswordToken|confirmationToken|folderPath)$/

/**
 * @param {{ path: string }} request
 * @param {Answer} strapi
 * @param {Answer} octavo
 * @returns {{ outcome: string, where?: string }} `where` tells a difference
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
  if (octavo.status === 400 && [200, 404].includes(strapi.status) && /not an object"|takes a list of filters"/.test(octavo.text))
    return { outcome: 'an object in place of a value' }
  // Strapi looks at the values of conditions inside a populate only where there are rows to populate.
  const isEager =
    octavo.status === 400 &&
    /^\{"data":null,"error":\{"status":400,"name":"ValidationError","message":"Invalid (number|format|value|date|time)/.test(octavo.text)
  if (isEager && strapi.status !== 400 && /populate[^&]*filters/.test(decodeURIComponent(request.path)))
    return { outcome: 'a value that Strapi did not look at' }
  // What is modified is decided by content (docs/differences.md), so other documents are found, and read in other states.
  if (/[?&]publicationFilter=(un)?modified/.test(request.path) && strapi.text !== octavo.text && strapi.status === octavo.status)
    return { outcome: 'publicationFilter' }
  // A list whose only entry is the star; stars in place of levels of users; names of JavaScript's own where nothing is populated.
  const isTold =
    strapi.status !== octavo.status && [isLoneStar, isStarOfUsers, isNative].some((differs) => differs(request.path, strapi, octavo))
  if (isTold) return { outcome: 'told in docs/differences.md' }
  // Of several mistakes each names the one that it comes to first.
  const [told, ours] = [strapi, octavo].map(({ status, text }) => status === 400 && /"message":"(Invalid \w+ [^ "]*)/.exec(text)?.[1])
  if (told && ours && told !== ours) return { outcome: 'another mistake is named' }
  if (strapi.status !== octavo.status)
    return { outcome: 'status', where: `${strapi.status} ${strapi.text.slice(0, 220)}\n    ${octavo.status} ${octavo.text.slice(0, 220)}` }
  if (strapi.text === octavo.text) return { outcome: `same ${strapi.status}` }
  if (strapi.type !== octavo.type) return { outcome: 'type', where: `${strapi.type} ${octavo.type}` }
  const unsorted = /^\/api\/(users|upload\/files)\b/.test(request.path) && !/[?&]sort/.test(request.path)
  const [left, right] = [parse(strapi.text, true), parse(octavo.text, false)].map((body) =>
    unsorted && Array.isArray(body) ? body.sort((a, b) => a.id - b.id) : body,
  )
  if (JSON.stringify(left) === JSON.stringify(right)) return { outcome: `same ${strapi.status}` }
  const where = difference(left, right, '')
  return where ? { outcome: 'body', where } : { outcome: `same ${strapi.status}, keys in another order` }
}

/** @typedef {(path: string, strapi: Answer, octavo: Answer) => boolean} Difference */
/** @type {Difference} */
const isLoneStar = (_, strapi, octavo) => /"message":"Invalid key \*/.test(strapi.text) && octavo.status === 200
/** @type {Difference} */
const isStarOfUsers = (path, strapi, octavo) =>
  strapi.status === 200 &&
  /^\/api\/users\b.*populate[^&]*\]=\*/.test(decodeURIComponent(path)) &&
  /"message":"Invalid key /.test(octavo.text)
/** @type {Difference} */
const isNative = (_, strapi, octavo) => strapi.status === 200 && /"Invalid key (__proto__|constructor|toString)"/.test(octavo.text)

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

/** @param {any} left @param {any} right @param {string} path @returns {string | undefined} */
function difference(left, right, path) {
  if (Object.is(left, right)) return undefined
  // `fields` takes the columns away that these relations need (docs/differences.md, "Repaired").
  if (/\/(single|pinned|subject|spotlight)$/.test(path) && left === null) return undefined
  // Other locales that stand in the same list are missing in Strapi, and are not counted.
  if (/\/localizations\/((data\/)?\d+|count)$/.test(path)) return undefined
  if ([left, right].some((value) => typeof value !== 'object' || value === null)) return `${path}: ${show(left)} <> ${show(right)}`
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = difference(left[key], right[key], `${path}/${key}`)
    if (found) return found
  }
  return undefined
}

/** @param {unknown} value */
const show = (value) => (JSON.stringify(value) ?? 'nothing').slice(0, 160)
