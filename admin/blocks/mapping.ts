// Conversion between stored blocks and documents of the editor. Every stored value can be opened. Blocks that are not edited remain the
// same objects; edited ones keep the members that the editor does not know.
import { type Attrs, Mark, type Node } from 'prosemirror-model'
import { type Flag, flags, levels, type Members, markOn, schema, textNodes } from './schema.js'

/** A stored value as a document, and the way back. */
interface OpenedBlocks {
  readonly doc: Node
  /** The value of an edited document; the stored one itself where nothing differs. */
  valueOf(doc: Node): unknown
}

/** Nodes of opened documents and the stored nodes that they show. */
type Origins = WeakMap<Node, unknown>

const emptyText = { type: 'text', text: '' }

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Opens a stored value, a list of blocks or anything else. */
export function openBlocks(value: unknown): OpenedBlocks {
  const origins: Origins = new WeakMap()
  const stored = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  const blocks = stored.map((block) => blockNode(block, origins))
  const doc = schema.node('doc', null, blocks.length > 0 ? blocks : [schema.node('paragraph')])
  return {
    doc,
    valueOf: (edited) => {
      if (edited === doc || edited.eq(doc)) return value
      return isEmpty(edited) ? null : edited.children.map((node) => storedBlock(node, origins))
    },
  }
}

/** True for a document without content: one paragraph without text. */
export function isEmpty(doc: Node): boolean {
  const first = doc.firstChild!
  return doc.childCount === 1 && first.type.name === 'paragraph' && first.attrs.more === null && first.content.size === 0
}

// From stored nodes.

const membersOrNull = (members: Members): Members | null => (Object.keys(members).length > 0 ? members : null)

function remember(node: Node, stored: unknown, origins: Origins): Node {
  origins.set(node, stored)
  return node
}

function blockNode(stored: unknown, origins: Origins): Node {
  return remember(knownBlock(stored, origins) ?? schema.node('odd', { value: stored }), stored, origins)
}

/** Null: a block that the editor cannot show as text. */
function knownBlock(stored: unknown, origins: Origins): Node | null {
  if (!isObject(stored)) return null
  const { type, ...members } = stored
  if (type === 'image') {
    const { image, ...more } = members
    return isObject(image) ? schema.node('image', { image, more }) : null
  }
  const { children, ...others } = members
  if (!Array.isArray(children)) return null
  if (type === 'list') return listNode(others, children, origins)
  const { attrs, isText, isCode } = textBlockOf(type, others)
  if (!isText || (isCode && !children.every(isPlainText))) return null
  return schema.node(isCode ? 'codeBlock' : String(type), attrs, isCode ? children.flatMap(plainNode) : children.flatMap(inlineNodes))
}

function textBlockOf(type: unknown, members: Members): { attrs: Attrs; isText: boolean; isCode: boolean } {
  const plain = { attrs: { more: membersOrNull(members) }, isText: true, isCode: false }
  if (type === 'paragraph' || type === 'quote') return plain
  if (type === 'heading') {
    const { level, ...more } = members
    return { ...plain, attrs: { level, more: membersOrNull(more) }, isText: levels.includes(level as 1) }
  }
  if (type === 'code') {
    const { language, ...more } = members
    return { attrs: { language, more: membersOrNull(more) }, isText: language === undefined || typeof language === 'string', isCode: true }
  }
  return { ...plain, isText: false }
}

function listNode({ format, ...more }: Members, children: readonly unknown[], origins: Origins): Node | null {
  if (format !== 'ordered' && format !== 'unordered') return null
  const entries = children.map((stored) => remember(entryNode(stored, origins), stored, origins))
  return schema.node('list', { format, more: membersOrNull(more) }, entries)
}

function entryNode(stored: unknown, origins: Origins): Node {
  if (isObject(stored) && Array.isArray(stored.children)) {
    const { type, children, ...members } = stored
    if (type === 'list-item') return schema.node('list-item', { more: membersOrNull(members) }, children.flatMap(inlineNodes))
    const list = type === 'list' ? listNode(members, children, origins) : null
    if (list !== null) return list
  }
  return schema.node('odd', { value: stored })
}

const isPlainText = (stored: unknown): boolean => isObject(stored) && stored.type === 'text' && typeof stored.text === 'string'

function marksOf(members: Members): Mark[] {
  const isSet = (name: string) => members[name] === true && flags.includes(name as Flag)
  const others = Object.fromEntries(Object.entries(members).filter(([name]) => !isSet(name)))
  const more = membersOrNull(others)
  return [
    ...(more === null ? [] : [schema.mark('more', { more })]),
    ...flags.filter((flag) => members[flag] === true).map((flag) => schema.mark(flag)),
  ]
}

function plainNode(stored: unknown): readonly Node[] {
  const { type: _, text, ...members } = stored as Members
  return text === '' ? [] : [schema.text(text as string, marksOf(members))]
}

function nodesOf(stored: unknown, link: readonly Mark[]): readonly Node[] {
  const { type: _, text, ...members } = stored as Members
  return textNodes(text as string, link.concat(marksOf(members)))
}

function inlineNodes(stored: unknown): readonly Node[] {
  if (isPlainText(stored)) return nodesOf(stored, [])
  if (isObject(stored) && stored.type === 'link' && typeof stored.url === 'string' && Array.isArray(stored.children)) {
    const { type: _, url, children, ...members } = stored
    const link = [schema.mark('link', { url, more: membersOrNull(members) })]
    const nodes = children.every(isPlainText) ? children.flatMap((child) => nodesOf(child, link)) : []
    // A link without text would be invisible, and lost with the next change of its block.
    if (nodes.length > 0) return nodes
  }
  return [schema.node('oddInline', { value: stored })]
}

// To stored nodes.

function storedBlock(node: Node, origins: Origins): unknown {
  if (origins.has(node)) return origins.get(node)
  const { more, ...attrs } = node.attrs
  switch (node.type.name) {
    case 'odd':
      return attrs.value
    case 'image':
      return { type: 'image', image: attrs.image, children: [emptyText], ...more }
    case 'list':
      return { type: 'list', format: attrs.format, ...more, children: node.children.map((entry) => storedBlock(entry, origins)) }
    case 'heading':
      return { type: 'heading', level: attrs.level, ...more, children: storedInline(node) }
    case 'codeBlock': {
      const language = attrs.language === undefined ? {} : { language: attrs.language }
      return { type: 'code', ...language, ...more, children: storedInline(node) }
    }
    default:
      return { type: node.type.name, ...more, children: storedInline(node) }
  }
}

/** Texts, links and unknown nodes. As in Strapi's editor a link has texts on both sides, and a block has at least one text. */
function storedInline(block: Node): readonly unknown[] {
  const found: unknown[] = []
  let isAfterText = false
  for (const run of runsOf(block)) {
    if (!isAfterText && run.link !== null) found.push(emptyText)
    isAfterText = run.link === null
    if (run.link === null) found.push(...storedTexts(run.nodes))
    else {
      const { url, more } = run.link.attrs
      found.push({ type: 'link', url, ...more, children: storedTexts(run.nodes) })
    }
  }
  if (!isAfterText) found.push(emptyText)
  return found
}

/** Neighbours with the same link, or without one. */
function runsOf(block: Node): readonly { readonly link: Mark | null; readonly nodes: readonly Node[] }[] {
  const runs: { link: Mark | null; nodes: Node[] }[] = []
  block.forEach((node) => {
    const link = markOn(node, 'link') ?? null
    const last = runs.at(-1)
    if (last !== undefined && (link === null ? last.link === null : last.link?.eq(link) === true)) last.nodes.push(node)
    else runs.push({ link, nodes: [node] })
  })
  return runs
}

function storedTexts(nodes: readonly Node[]): readonly unknown[] {
  const found: unknown[] = []
  for (let from = 0, to = 0; from < nodes.length; from = to) {
    const first = nodes[from]!
    to = from + 1
    if (first.type.name === 'oddInline') {
      found.push(first.attrs.value)
      continue
    }
    while (to < nodes.length && nodes[to]!.type.name !== 'oddInline' && Mark.sameSet(nodes[to]!.marks, first.marks)) to += 1
    const text = nodes.slice(from, to).map((node) => (node.isText ? node.text! : '\n'))
    found.push(storedText(first, text.join('')))
  }
  return found
}

function storedText(node: Node, text: string): unknown {
  const set = flags.filter((flag) => markOn(node, flag) !== undefined)
  return { type: 'text', text, ...markOn(node, 'more')?.attrs.more, ...Object.fromEntries(set.map((flag) => [flag, true])) }
}
