// Commands of the editor of rich text: kinds of blocks, lists, links and breaks, on top of ProseMirror's own.
import { chainCommands, createParagraphNear, exitCode, newlineInCode, setBlockType, splitBlockKeepMarks } from 'prosemirror-commands'
import { type Attrs, Fragment, type Mark, type Node, type NodeRange } from 'prosemirror-model'
import { type Command, type EditorState, Selection, TextSelection, type Transaction } from 'prosemirror-state'
import { canJoin } from 'prosemirror-transform'
import { isSafeLink } from '../parts/safe-links.js'
import { levels, markOn, schema, textNodes } from './schema.js'

/** Formats of a list. */
export type ListFormat = 'ordered' | 'unordered'

/** Kinds of blocks with text outside of lists, in the order of menus. */
export const textKinds = ['paragraph', ...levels.map((level) => `heading-${level}` as const), 'quote', 'codeBlock'] as const
export type TextKind = (typeof textKinds)[number]

const { list, 'list-item': listItem, paragraph, codeBlock } = schema.nodes as Record<string, import('prosemirror-model').NodeType>

/** The selected entries of one list. */
function itemRange({ selection: { $from, $to } }: EditorState): NodeRange | null {
  return $from.blockRange($to, (node) => node.type === list)
}

/** The kind of the block at the start of the selection: of a list its format. */
export function kindAt(state: EditorState): TextKind | ListFormat | 'other' {
  const range = itemRange(state)
  if (range !== null) return range.parent.attrs.format as ListFormat
  const { parent } = state.selection.$from
  if (parent.type.name === 'heading') return `heading-${parent.attrs.level as 1}`
  return parent.isTextblock && parent.type !== listItem ? (parent.type.name as TextKind) : 'other'
}

/** Appends the steps and the selection of a following transaction. */
export function append(tr: Transaction, { steps, selection }: Transaction): void {
  for (const step of steps) tr.step(step)
  tr.setSelection(Selection.fromJSON(tr.doc, selection.toJSON()))
}

/** Runs commands in sequence as one transaction; fails with the first that fails. */
const sequence =
  (...commands: readonly Command[]): Command =>
  (state, dispatch) => {
    let current = state
    const { tr } = state
    for (const command of commands) {
      let made: Transaction | null = null
      if (!command(current, (one) => (made = one))) return false
      const change: Transaction = made ?? current.tr
      append(tr, change)
      current = current.apply(change)
    }
    dispatch?.(tr.scrollIntoView())
    return true
  }

/** Indents entries below the previous one. */
export const sinkItem: Command = (state, dispatch) => {
  const range = itemRange(state)
  if (range === null || range.startIndex === 0) return false
  const { parent, depth, start } = range
  // A list right after an entry is nested in it.
  const below = parent.maybeChild(range.endIndex)
  const end = range.end + (below !== null && below.type === list ? below.nodeSize : 0)
  const wrapped = range.$from.doc.resolve(start + 1).blockRange(range.$from.doc.resolve(end - 1), (node) => node === parent)
  if (wrapped === null) return false
  const tr = state.tr.wrap(wrapped, [{ type: list!, attrs: { format: parent.attrs.format, more: { indentLevel: depth } } }])
  if (tr.doc.resolve(start).nodeBefore?.type === list && canJoin(tr.doc, start)) tr.join(start)
  dispatch?.(tr.scrollIntoView())
  return true
}

/** Outdents entries; those of the outermost list become paragraphs. */
export const liftItem: Command = (state, dispatch) => {
  const range = itemRange(state)
  if (range === null) return false
  if (range.depth > 1) {
    dispatch?.(state.tr.lift(range, range.depth - 1).scrollIntoView())
    return true
  }
  const { parent, startIndex, endIndex } = range
  const entries = parent.children
  const part = (from: number, to: number) => (from < to ? [parent.copy(Fragment.from(entries.slice(from, to)))] : [])
  const lifted = entries
    .slice(startIndex, endIndex)
    .map((entry) => (entry.type === listItem ? paragraph!.create({ more: entry.attrs.more }, entry.content) : entry))
  const before = range.$from.before(1)
  const nodes = [...part(0, startIndex), ...lifted, ...part(endIndex, entries.length)]
  replaceBlocks(state, dispatch, { from: before, to: before + parent.nodeSize, nodes, by: startIndex > 0 ? 1 : -1 })
  return true
}

interface Replacement {
  readonly from: number
  readonly to: number
  readonly nodes: readonly Node[]
  /** Offset of the selection. */
  readonly by: number
}

function replaceBlocks(state: EditorState, dispatch: ((tr: Transaction) => void) | undefined, { from, to, nodes, by }: Replacement) {
  if (dispatch === undefined) return
  const { anchor, head } = state.selection
  const tr = state.tr.replaceWith(from, to, nodes)
  tr.setSelection(TextSelection.between(tr.doc.resolve(anchor + by), tr.doc.resolve(head + by)))
  dispatch(tr.scrollIntoView())
}

/** In code, lines are separated by characters; elsewhere, by breaks. */
function withBreaks(block: Node): Fragment {
  if (block.type !== codeBlock) return block.content
  return Fragment.from(block.children.flatMap((node) => textNodes(node.text!, node.marks)))
}

/** Makes a list of the selected blocks, changes its format, or takes its entries out. */
export const toggleList =
  (format: ListFormat): Command =>
  (state, dispatch) => {
    const inside = itemRange(state)
    if (inside !== null) {
      if (inside.parent.attrs.format === format) return liftItem(state, dispatch)
      dispatch?.(state.tr.setNodeMarkup(inside.$from.before(inside.depth), null, { ...inside.parent.attrs, format }))
      return true
    }
    const { $from, $to } = state.selection
    const range = $from.blockRange($to, (node) => node.type === schema.topNodeType)
    if (range === null) return false
    const blocks = range.parent.children.slice(range.startIndex, range.endIndex)
    if (!blocks.every((block) => block.isTextblock)) return false
    const items = blocks.map((block) => listItem!.create({ more: block.attrs.more }, withBreaks(block)))
    const made = list!.create({ format, more: { indentLevel: 0 } }, items)
    replaceBlocks(state, dispatch, { from: range.start, to: range.end, nodes: [made], by: 1 })
    return true
  }

/** Gives the selected blocks a kind; entries of lists leave their list. */
export const setKind =
  (kind: TextKind): Command =>
  (state, dispatch) => {
    const [name = '', level] = kind.split('-')
    const attrs = (node: Node): Attrs => ({ more: node.attrs.more, ...(level === undefined ? {} : { level: Number(level) }) })
    const change = setBlockType(schema.nodes[name]!, attrs as never)
    const depth = itemRange(state)?.depth ?? 0
    if (depth === 0) return change(state, dispatch)
    const outside = Array.from({ length: depth }, () => liftItem)
    return sequence(...outside, ...(kind === 'paragraph' ? [] : [change]))(state, dispatch)
  }

/** Names the language of the code at the selection. */
export const setLanguage =
  (language: string): Command =>
  (state, dispatch) => {
    const { $from } = state.selection
    if ($from.parent.type !== codeBlock) return false
    dispatch?.(state.tr.setNodeMarkup($from.before(), null, { ...$from.parent.attrs, language }))
    return true
  }

const isEmptyCursor = ({ selection }: EditorState): boolean => selection.empty && selection.$from.parent.content.size === 0

const liftEmptyItem: Command = (state, dispatch) =>
  isEmptyCursor(state) && state.selection.$from.parent.type === listItem && liftItem(state, dispatch)

/** Enter in an empty last line of code leaves it. */
const leaveCode: Command = (state, dispatch) => {
  const { $from, empty } = state.selection
  if (
    !empty ||
    $from.parent.type !== codeBlock ||
    !/\n$/.test($from.parent.textContent) ||
    $from.parentOffset !== $from.parent.content.size
  )
    return false
  return sequence((one, then) => {
    then?.(one.tr.delete($from.pos - 1, $from.pos))
    return true
  }, exitCode)(state, dispatch)
}

/** A new block, entry or line. */
export const enter: Command = chainCommands(liftEmptyItem, leaveCode, newlineInCode, createParagraphNear, splitBlockKeepMarks)

/** A new line in the same block. */
export const insertBreak: Command = (state, dispatch) => {
  const { parent } = state.selection.$from
  if (!parent.inlineContent) return false
  if (parent.type === codeBlock) return newlineInCode(state, dispatch)
  dispatch?.(state.tr.replaceSelectionWith(schema.node('break'), true).scrollIntoView())
  return true
}

/** At the start of a block: entries move out, and other kinds become paragraphs. */
export const loosen: Command = (state, dispatch) => {
  const { $from, empty } = state.selection
  if (!empty || $from.parentOffset > 0) return false
  if ($from.parent.type === listItem) return liftItem(state, dispatch)
  return $from.parent.isTextblock && $from.parent.type !== paragraph && setKind('paragraph')(state, dispatch)
}

/** Arrow down at the end of a last block of code adds a paragraph below. */
export const leaveCodeDown: Command = (state, dispatch) => {
  const { $from, empty } = state.selection
  const isLast =
    $from.parent.type === codeBlock && $from.parentOffset === $from.parent.content.size && $from.indexAfter(0) === state.doc.childCount
  return empty && isLast && exitCode(state, dispatch)
}

/** Tab in code. */
export const indentCode: Command = (state, dispatch) => {
  if (state.selection.$from.parent.type !== codeBlock) return false
  dispatch?.(state.tr.insertText('  ').scrollIntoView())
  return true
}

/** A link with its span in the document. */
interface LinkSpan {
  readonly from: number
  readonly to: number
  readonly mark: Mark
}

/** The link at the start of the selection. */
export function linkAt({ selection: { $from } }: EditorState): LinkSpan | null {
  const { parent } = $from
  const around = [parent.childAfter($from.parentOffset), parent.childBefore($from.parentOffset)]
  const mark = around.map(({ node }) => (node === null ? undefined : markOn(node, 'link'))).find((found) => found !== undefined)
  if (mark === undefined) return null
  const hasMark = (index: number) => index >= 0 && index < parent.childCount && mark.isInSet(parent.child(index).marks)
  const at = around.find(({ node }) => node !== null && mark.isInSet(node.marks))!
  let [first, last] = [at.index, at.index]
  while (hasMark(first - 1)) first -= 1
  while (hasMark(last + 1)) last += 1
  const sizeTo = (index: number) => parent.children.slice(0, index).reduce((sum, { nodeSize }) => sum + nodeSize, 0)
  return { from: $from.start() + sizeTo(first), to: $from.start() + sizeTo(last + 1), mark }
}

/** Sets the address of the link at the selection, makes one, or removes it (null). Without selected text, the address is the text. */
export const setLink =
  (url: string | null, text = url): Command =>
  (state, dispatch) => {
    const existing = linkAt(state)
    const { from, to } = existing ?? state.selection
    if (!state.selection.$from.parent.inlineContent || (url === null && existing === null)) return false
    const { tr } = state
    if (url === null) tr.removeMark(from, to, schema.marks.link)
    else {
      const mark = schema.mark('link', { url, more: existing?.mark.attrs.more ?? null })
      if (from === to) tr.insert(from, schema.text(text || url, [...state.selection.$from.marks(), mark]))
      else tr.removeMark(from, to, schema.marks.link).addMark(from, to, mark)
      tr.removeStoredMark(schema.marks.link!)
    }
    dispatch?.(tr.scrollIntoView())
    return true
  }

/** The address of a typed link: schemes are completed. Null: one that is unsafe or that would be refused. */
export function completedLink(typed: string): string | null {
  const text = typed.trim()
  if (text === '' || !isSafeLink(text)) return null
  if (text.startsWith('/')) return text
  if (/^[^\s/:@]+@[^\s/:@]+\.\w+$/.test(text)) return `mailto:${text}`
  if (URL.canParse(text) && !/^[\w.-]+:\d/.test(text)) return text
  return /^[^\s/]+\.[^\s/]+/.test(text) && URL.canParse(`https://${text}`) ? `https://${text}` : null
}

/** Inserts blocks after the selected one, or in place of an empty paragraph. */
export const insertBlocks =
  (nodes: readonly Node[]): Command =>
  (state, dispatch) => {
    const { $from } = state.selection
    const isEmpty = $from.depth === 1 && $from.parent.type === paragraph && $from.parent.content.size === 0
    const from = $from.depth === 0 ? state.selection.to : isEmpty ? $from.before(1) : $from.after(1)
    const to = isEmpty ? $from.after(1) : from
    const isEnd = to === state.doc.content.size
    const tr = state.tr.replaceWith(from, to, [...nodes, ...(isEnd ? [paragraph!.create()] : [])])
    const end = from + nodes.reduce((sum, { nodeSize }) => sum + nodeSize, 0)
    tr.setSelection(Selection.near(tr.doc.resolve(end), 1))
    dispatch?.(tr.scrollIntoView())
    return true
  }
