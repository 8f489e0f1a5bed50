// Keys and typed shortcuts of the editor of rich text.
import { baseKeymap, chainCommands, deleteSelection, joinBackward, selectNodeBackward, toggleMark } from 'prosemirror-commands'
import { redo, undo } from 'prosemirror-history'
import { InputRule, inputRules, textblockTypeInputRule } from 'prosemirror-inputrules'
import { keymap } from 'prosemirror-keymap'
import { type Command, Plugin, type Transaction } from 'prosemirror-state'
import {
  append,
  enter,
  indentCode,
  insertBreak,
  type ListFormat,
  leaveCodeDown,
  liftItem,
  loosen,
  setKind,
  sinkItem,
  type TextKind,
  toggleList,
} from './commands.js'
import { type Flag, flags, levels, schema } from './schema.js'

/** Turns a flag of the selected text on or off; texts of code blocks have none. */
export const toggleFlag =
  (flag: Flag): Command =>
  (state, dispatch) =>
    state.selection.$from.parent.type.name !== 'codeBlock' && toggleMark(schema.marks[flag]!)(state, dispatch)

/** Keys of kinds and flags, for tooltips and for the editor. */
export const keysOf = {
  bold: 'Mod-b',
  italic: 'Mod-i',
  underline: 'Mod-u',
  strikethrough: 'Mod-Shift-x',
  code: 'Mod-e',
  link: 'Mod-k',
  ordered: 'Mod-Shift-7',
  unordered: 'Mod-Shift-8',
  undo: 'Mod-z',
  redo: 'Mod-Shift-z',
} as const

// Ctrl+Enter publishes, and Ctrl+A within a field is the browser's.
const { 'Mod-Enter': _, Enter: __, Backspace: ___, 'Mod-a': ____, ...base } = baseKeymap

const kinds: readonly (readonly [key: string, kind: TextKind])[] = [
  ['Mod-Alt-0', 'paragraph'],
  ...levels.map((level) => [`Mod-Alt-${level}`, `heading-${level}`] as const),
  ['Mod-Alt-q', 'quote'],
  ['Mod-Alt-c', 'codeBlock'],
]

/** Plugins for keys; `openLink` shows the panel of links and returns whether there is something to link. */
export function keyPlugins(openLink: () => boolean): readonly Plugin[] {
  // After Escape, Tab leaves the text instead of indenting.
  let isLeaving = false
  const unlessLeaving =
    (command: Command): Command =>
    (...given) =>
      !isLeaving && command(...given)
  return [
    new Plugin({
      props: {
        handleKeyDown: (_view, { key }) => {
          if (key !== 'Tab' && key !== 'Shift') isLeaving = key === 'Escape'
          return false
        },
        handleDOMEvents: {
          blur: () => {
            isLeaving = false
          },
        },
      },
    }),
    keymap({
      ...Object.fromEntries(flags.map((flag) => [keysOf[flag], toggleFlag(flag)])),
      ...Object.fromEntries(kinds.map(([key, kind]) => [key, setKind(kind)])),
      [keysOf.link]: () => openLink(),
      [keysOf.ordered]: toggleList('ordered'),
      [keysOf.unordered]: toggleList('unordered'),
      [keysOf.undo]: undo,
      [keysOf.redo]: redo,
      'Mod-y': redo,
      Enter: enter,
      'Shift-Enter': insertBreak,
      Backspace: chainCommands(deleteSelection, loosen, joinBackward, selectNodeBackward),
      ArrowDown: leaveCodeDown,
      Tab: unlessLeaving(chainCommands(sinkItem, indentCode)),
      'Shift-Tab': unlessLeaving(liftItem),
    }),
    keymap(base),
    inputRules({ rules: [...textRules, listRule(/^\s*[-*+]\s$/, 'unordered'), listRule(/^\s*1[.)]\s$/, 'ordered')] }),
  ]
}

const textRules = [
  textblockTypeInputRule(/^(#{1,6})\s$/, schema.nodes.heading!, (match) => ({ level: match[1]!.length })),
  textblockTypeInputRule(/^\s*>\s$/, schema.nodes.quote!),
  textblockTypeInputRule(/^```$/, schema.nodes.codeBlock!),
]

/** Typed in an empty paragraph, a mark of an entry makes a list. */
const listRule = (mark: RegExp, format: ListFormat): InputRule =>
  new InputRule(mark, (state, _match, start, end) => {
    const $start = state.doc.resolve(start)
    if ($start.depth !== 1 || $start.parent.type.name !== 'paragraph') return null
    const tr = state.tr.delete(start, end)
    let made: Transaction | null = null
    toggleList(format)(state.apply(tr), (change) => {
      made = change
    })
    if (made === null) return null
    append(tr, made)
    return tr
  })
