// Detects SVG and HTML by the first markup, in linear time, and reads the size of an SVG from its opening tag. Neither is rendered.

/** Maximum side; columns and programs do not support more. */
const longestSide = 2_147_483_647
const pageTags = new Set(['html', 'head', 'body', 'script', 'iframe'])

/** Returns the type of an SVG or HTML text; otherwise null. */
export function markupType(text: string): 'image/svg+xml' | 'text/html' | null {
  const { parts, end } = readPrologue(text)
  const name = tagName(text, end)
  if (name === 'svg' && parts.every((part) => part === 'xml' || part === 'svg')) return 'image/svg+xml'
  const [first] = parts
  return first === 'html' || (first === undefined && pageTags.has(name)) ? 'text/html' : null
}

/** Returns the size that an SVG declares, or null. */
export function svgSize(head: Uint8Array): { readonly width: number; readonly height: number } | null {
  const text = new TextDecoder().decode(head)
  const tag = readTag(text, readPrologue(text).end)
  if (tag === null) return null
  const box = (tag.attributes.get('viewbox') ?? '')
    .slice(0, 100)
    .trim()
    .split(/[\s,]+/)
    .map(Number)
  const width = lengthOf(tag, 'width') || box[2]
  const height = lengthOf(tag, 'height') || box[3]
  const isSide = (side: number | undefined): side is number => side !== undefined && side >= 0.5 && side <= longestSide
  return isSide(width) && isSide(height) ? { width: Math.round(width), height: Math.round(height) } : null
}

/** Returns a length in pixels; NaN for other units or a missing value. */
const lengthOf = ({ attributes }: Tag, name: string): number =>
  Number(/^([\d.]{1,10})(?:px)?$/i.exec((attributes.get(name) ?? '').slice(0, 100).trim())?.[1])

/** An opening tag, in lower case. */
interface Tag {
  readonly name: string
  /** First value of each attribute, unquoted. */
  readonly attributes: ReadonlyMap<string, string>
}

/** The part of a text before its first tag. */
interface Prologue {
  /** Declarations, without comments: `xml`, or the name of a document type. */
  readonly parts: readonly string[]
  readonly end: number
}

const blank = /\s/
const nameEnd = /[\s=/>"'<]/
/** Maximum length of a name; all relevant ones are shorter. */
const longestName = 64

/** Skips declarations, document types, comments and white space, up to the first tag, or to the end of the text if one is not closed. */
function readPrologue(text: string): Prologue {
  const parts: string[] = []
  for (let at = pastBlanks(text, 0); ; at = pastBlanks(text, at)) {
    const part = partAt(text, at)
    if (part === null) return { parts, end: at }
    if (part.kind !== 'comment') parts.push(part.kind)
    const close = text.indexOf(part.close, at + part.from)
    if (close === -1) return { parts, end: text.length }
    at = close + part.close.length
  }
}

/**
 * Returns the kind of the declaration or comment at `at`, with its closing text and the offset to search it from; null if there is none.
 */
function partAt(text: string, at: number): { readonly kind: string; readonly close: string; readonly from: number } | null {
  // Browsers treat `<!-->` as a complete comment.
  if (text.startsWith('<!--', at)) return { kind: 'comment', close: '-->', from: 2 }
  if (text.slice(at, at + 5).toLowerCase() === '<?xml') return { kind: 'xml', close: '>', from: 5 }
  if (text.slice(at, at + 9).toLowerCase() !== '<!doctype') return null
  const name = pastBlanks(text, at + 9)
  return name === at + 9 ? null : { kind: readName(text, name), close: '>', from: name - at }
}

/** Returns the name of the tag at `at`; empty if it is incomplete. */
function tagName(text: string, at: number): string {
  if (text[at] !== '<') return ''
  const name = readName(text, at + 1)
  const next = text[at + 1 + name.length]
  return next !== undefined && (next === '>' || blank.test(next)) ? name : ''
}

/** Parses the tag at `at`; null if it is incomplete. */
function readTag(text: string, at: number): Tag | null {
  const name = readName(text, at + 1)
  const attributes = new Map<string, string>()
  for (let here = at + 1 + name.length; here < text.length; ) {
    here = pastBlanks(text, here)
    if (text[here] === '>') return { name, attributes }
    const key = readName(text, here)
    here = pastBlanks(text, here + Math.max(1, key.length))
    if (key === '' || text[here] !== '=') continue
    here = pastBlanks(text, here + 1)
    const quote = text[here]
    if (quote !== '"' && quote !== "'") continue
    const end = text.indexOf(quote, here + 1)
    if (end === -1) return null
    if (!attributes.has(key)) attributes.set(key, text.slice(here + 1, end))
    here = end + 1
  }
  return null
}

function readName(text: string, at: number): string {
  let end = at
  while (end < text.length && end - at < longestName && !nameEnd.test(text[end]!)) end++
  return text.slice(at, end).toLowerCase()
}

function pastBlanks(text: string, at: number): number {
  let end = at
  while (end < text.length && blank.test(text[end]!)) end++
  return end
}
