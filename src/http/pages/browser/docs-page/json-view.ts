// JSON, formatted and coloured.
import { h } from './elements.js'

/** Characters beyond this are not shown: a browser would not scroll smoothly any more. */
const mostCharacters = 200_000

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g

/** A text as a block; JSON is coloured. */
export function textView(text: string, isJson: boolean): HTMLElement {
  const shown = text.slice(0, mostCharacters)
  const rest = text.length - shown.length
  const note = rest === 0 ? null : h('p', { class: 'soft' }, `${rest.toLocaleString('en')} more characters are not shown.`)
  return h('div', {}, h('pre', { class: 'code', tabindex: 0 }, isJson ? coloured(shown) : shown), note)
}

function coloured(text: string): Node[] {
  const parts: Node[] = []
  let end = 0
  for (const match of text.matchAll(token)) {
    if (match.index > end) parts.push(document.createTextNode(text.slice(end, match.index)))
    const [whole, string, colon = '', word] = match
    const kind = string === undefined ? (word === undefined ? 'number' : 'word') : colon === '' ? 'string' : 'key'
    parts.push(h('span', { class: `json-${kind}` }, string ?? whole), document.createTextNode(colon))
    end = match.index + whole.length
  }
  parts.push(document.createTextNode(text.slice(end)))
  return parts
}
