// Takes JSON apart without parsing what is in it, so that numbers keep all their digits and JSON values stay as they are written.

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [brace, bracket, braceEnd, bracketEnd] = [0x7b, 0x5b, 0x7d, 0x5d]

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

/** The place behind the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf('"', at)
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at + 1
  }
}

/** The place behind the value that begins at `start`. */
function endOfValue(json: string, start: number): number {
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === quote) at = endOfString(json, at) - 1
    else if (code === brace || code === bracket) depth++
    else if (code === braceEnd || code === bracketEnd) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (code === comma && depth === 0) return at
  }
  return json.length
}

const skipSpace = (json: string, from: number): number => {
  let at = from
  while (isSpace(json.charCodeAt(at))) at++
  return at
}

/** The members of a valid JSON object: the texts of their values by their names; null: the text is no object. */
export function membersOf(json: string): ReadonlyMap<string, string> | null {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== brace) return null
  const members = new Map<string, string>()
  for (at = skipSpace(json, at + 1); json.charCodeAt(at) === quote; at = skipSpace(json, at)) {
    const end = endOfString(json, at)
    const name = JSON.parse(json.slice(at, end)) as string
    at = skipSpace(json, end)
    if (json.charCodeAt(at) === colon) at = skipSpace(json, at + 1)
    const behind = endOfValue(json, at)
    members.set(name, json.slice(at, behind).trimEnd())
    at = behind
    if (json.charCodeAt(at) === comma) at = skipSpace(json, at + 1)
  }
  return members
}

/** The texts of the elements of a valid JSON list; null: the text is no list. */
export function elementsOf(json: string): readonly string[] | null {
  let at = skipSpace(json, 0)
  if (json.charCodeAt(at) !== bracket) return null
  const elements: string[] = []
  for (at = skipSpace(json, at + 1); at < json.length && json.charCodeAt(at) !== bracketEnd; at = skipSpace(json, at)) {
    const behind = endOfValue(json, at)
    elements.push(json.slice(at, behind).trimEnd())
    at = behind
    if (json.charCodeAt(at) === comma) at = skipSpace(json, at + 1)
  }
  return elements
}
