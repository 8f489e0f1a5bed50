// Blocks and texts as each other: a text becomes paragraphs, one for each line, and blocks become their text.

interface Node {
  readonly type?: unknown
  readonly text?: unknown
  readonly children?: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
const isBlock = (value: unknown): boolean => isNode(value) && typeof value.type === 'string' && Array.isArray(value.children)

/** The list of blocks that a JSON text is; null if it is none. */
export function blocksIn(json: string): readonly Node[] | null {
  try {
    const value: unknown = JSON.parse(json)
    return Array.isArray(value) && value.every(isBlock) ? (value as readonly Node[]) : null
  } catch {
    return null
  }
}

/** The blocks of a text as JSON. */
export const paragraphsOf = (text: string): string =>
  JSON.stringify(text.split('\n').map((line) => ({ type: 'paragraph', children: [{ type: 'text', text: line }] })))

/** The text of blocks, without what they look like; undefined for JSON that is no list of blocks. */
export function textOfBlocks(json: string): string | undefined {
  return blocksIn(json)
    ?.flatMap((block) => linesOf(block))
    .join('\n')
}

/** The lines of a block: its inline text is one, and each item of a list is one of its own. */
function linesOf({ children }: Node): readonly string[] {
  const nodes = Array.isArray(children) ? children.filter(isNode) : []
  const isList = nodes.some(({ type }) => type === 'list-item' || type === 'list')
  return isList ? nodes.flatMap((node) => linesOf(node)) : [nodes.map(inlineText).join('')]
}

function inlineText({ text, children }: Node): string {
  if (typeof text === 'string') return text
  return Array.isArray(children) ? children.filter(isNode).map(inlineText).join('') : ''
}
