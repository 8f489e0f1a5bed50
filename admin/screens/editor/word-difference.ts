// The difference of two texts, word by word.
/** A part of a text: in both, or in one of them alone. */
export interface TextPart {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Longest texts that are compared by word; others are removed and added as a whole. */
const maxWords = 4_000

const split = (text: string): readonly string[] => text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? []

/** The words that two texts have in common, and those of one of them. */
export function compareWords(before: string, after: string): readonly TextPart[] {
  const [one, other] = [split(before), split(after)]
  let start = 0
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1
  let end = 0
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end)) end += 1
  const middle = compareMiddle(one.slice(start, one.length - end), other.slice(start, other.length - end))
  return join([
    { kind: 'same', text: one.slice(0, start).join('') },
    ...middle,
    { kind: 'same', text: one.slice(one.length - end).join('') },
  ])
}

function compareMiddle(one: readonly string[], other: readonly string[]): readonly TextPart[] {
  if (one.length * other.length === 0 || one.length + other.length > maxWords)
    return [
      { kind: 'removed', text: one.join('') },
      { kind: 'added', text: other.join('') },
    ]
  // Lengths of the longest common subsequences of the ends.
  const width = other.length + 1
  const lengths = new Uint16Array((one.length + 1) * width)
  for (let row = one.length - 1; row >= 0; row--)
    for (let column = other.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        one[row] === other[column]
          ? lengths[(row + 1) * width + column + 1]! + 1
          : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!)
  const parts: TextPart[] = []
  let [row, column] = [0, 0]
  while (row < one.length || column < other.length) {
    if (row < one.length && column < other.length && one[row] === other[column]) {
      parts.push({ kind: 'same', text: one[row]! })
      row += 1
      column += 1
    } else if (row < one.length && (column === other.length || lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!))
      parts.push({ kind: 'removed', text: one[row++]! })
    else parts.push({ kind: 'added', text: other[column++]! })
  }
  return parts
}

/** Parts next to each other as one: removed words, then added ones, with the spaces between them. */
function join(parts: readonly TextPart[]): readonly TextPart[] {
  const joined: TextPart[] = []
  const texts = { same: '', removed: '', added: '' }
  const push = (...kinds: readonly TextPart['kind'][]) => {
    for (const kind of kinds) {
      if (texts[kind] !== '') joined.push({ kind, text: texts[kind] })
      texts[kind] = ''
    }
  }
  const filled = parts.filter(({ text }) => text !== '')
  for (const [index, { kind, text }] of filled.entries()) {
    const isBetween = texts.removed + texts.added !== '' && /^[^\S\n]+$/.test(text) && (filled[index + 1]?.kind ?? 'same') !== 'same'
    if (kind === 'same' && !isBetween) {
      push('removed', 'added')
      texts.same += text
      continue
    }
    push('same')
    if (kind !== 'added') texts.removed += text
    if (kind !== 'removed') texts.added += text
  }
  push('same', 'removed', 'added')
  return joined
}
