// The beginning of a text that may be markup: what stands before its first tag, and that tag. Every character is looked at a
// bounded number of times, whatever the text is.

/** What an opening tag says, with the case of its letters folded. */
export interface Tag {
  readonly name: string
  /** The first value of each attribute, without its quotes. */
  readonly attributes: ReadonlyMap<string, string>
}

/** What stands before the first tag, and where that begins. */
export interface Prologue {
  /** The kinds of what stands there, comments and blanks aside: `xml` for a declaration, else the name of the document type. */
  readonly parts: readonly string[]
  readonly end: number
}

const blank = /\s/
/** What ends the name of a tag or of an attribute. */
const nameEnd = /[\s=/>"'<]/
/** Characters of a name that are looked at; none that means something to us is longer. */
const longestName = 64

/** Reads declarations, document types, comments and blanks up to the first tag, or to the end where one of them is not closed. */
export function readPrologue(text: string): Prologue {
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

/** What begins at `at` before a first tag: its kind, and what closes it when it is met `from` characters later; null for others. */
function partAt(text: string, at: number): { readonly kind: string; readonly close: string; readonly from: number } | null {
  // `<!-->` is a whole comment to browsers.
  if (text.startsWith('<!--', at)) return { kind: 'comment', close: '-->', from: 2 }
  if (text.slice(at, at + 5).toLowerCase() === '<?xml') return { kind: 'xml', close: '>', from: 5 }
  if (text.slice(at, at + 9).toLowerCase() !== '<!doctype') return null
  const name = pastBlanks(text, at + 9)
  return name === at + 9 ? null : { kind: readName(text, name), close: '>', from: name - at }
}

/** The name of the tag that begins at `at`, with what follows it looked at: empty where there is none or the text ends in it. */
export function tagName(text: string, at: number): string {
  if (text[at] !== '<') return ''
  const name = readName(text, at + 1)
  const next = text[at + 1 + name.length]
  return next !== undefined && (next === '>' || blank.test(next)) ? name : ''
}

/** The tag that begins at `at`; null where the text ends before it does. */
export function readTag(text: string, at: number): Tag | null {
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
