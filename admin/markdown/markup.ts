// Changes of Markdown by the toolbar and by keys.
import { EditorSelection, type EditorState, type TransactionSpec } from '@codemirror/state'
import type { Command } from '@codemirror/view'

/** Marks around a text. */
export const inlineMarks = { bold: '**', italic: '_', strikethrough: '~~', code: '`' } as const

/** Marks at the start of lines. */
export const lineMarks = { heading: '## ', quote: '> ', unordered: '- ', ordered: '1. ' } as const

const command =
  (change: (state: EditorState) => TransactionSpec): Command =>
  (view) => {
    if (view.state.readOnly) return false
    view.dispatch(view.state.update(change(view.state), { scrollIntoView: true, userEvent: 'input' }))
    view.focus()
    return true
  }

/** Puts marks around each selected text, or takes them away. */
export const toggleMark = (mark: string): Command =>
  command((state) =>
    state.changeByRange(({ from, to }) => {
      const size = mark.length
      const isAround = state.sliceDoc(from - size, from) === mark && state.sliceDoc(to, to + size) === mark
      if (isAround)
        return {
          changes: [
            { from: from - size, to: from },
            { from: to, to: to + size },
          ],
          range: EditorSelection.range(from - size, to - size),
        }
      return {
        changes: [
          { from, insert: mark },
          { from: to, insert: mark },
        ],
        range: EditorSelection.range(from + size, to + size),
      }
    }),
  )

const anyMark = /^(#{1,6} |> |[-*+] |\d+[.)] )/

/** Gives all selected lines a mark, or takes it away if all have it. */
export const toggleLines = (mark: string): Command =>
  command((state) => {
    const { from, to } = state.selection.main
    const lines = []
    for (let at = state.doc.lineAt(from).number; at <= state.doc.lineAt(to).number; at += 1) lines.push(state.doc.line(at))
    const markOf = (index: number) => (mark === lineMarks.ordered ? `${index + 1}. ` : mark)
    const isOn = lines.every(({ text }, index) => text.startsWith(markOf(index)))
    const changes = lines.map((line, index) => ({
      from: line.from,
      to: line.from + (anyMark.exec(line.text)?.[0].length ?? 0),
      insert: isOn ? '' : markOf(index),
    }))
    return { changes }
  })

/** A link on the selected text, with its address selected. */
export const insertLink: Command = command((state) =>
  state.changeByRange(({ from, to }) => {
    const text = state.sliceDoc(from, to)
    const address = 'https://'
    const start = from + text.length + 3
    return { changes: { from, to, insert: `[${text}](${address})` }, range: EditorSelection.range(start, start + address.length) }
  }),
)

/** A fenced block of code around the selected lines. */
export const insertCode: Command = command((state) => {
  const { from, to } = state.selection.main
  const [first, last] = [state.doc.lineAt(from), state.doc.lineAt(to)]
  const end = state.lineBreak
  const text = state.sliceDoc(first.from, last.to)
  return {
    changes: { from: first.from, to: last.to, insert: `\`\`\`${end}${text}${end}\`\`\`` },
    selection: { anchor: first.from + 3 + 1 },
  }
})

/** A picture with its alternative text. */
export const insertPictures = (pictures: readonly { readonly url: string; readonly text: string }[]): Command =>
  command((state) => {
    const { to } = state.selection.main
    const escaped = pictures.map(
      ({ url, text }) => `![${text.replace(/([[\]\\])/g, '\\$1')}](${url.replace(/[()\s]/g, encodeURIComponent)})`,
    )
    const insert = escaped.join(state.lineBreak + state.lineBreak)
    return { changes: { from: to, insert }, selection: { anchor: to + insert.length } }
  })
