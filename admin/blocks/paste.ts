// Pasted HTML on its way into rich text: what the schema does not know is left out; lists of Word become lists.
import { DOMParser, type ParseOptions, type Slice } from 'prosemirror-model'
import { schema } from './schema.js'

// ProseMirror parses pasted HTML with the default Trusted Types policy, and that of the page refuses markup. Without one in sight, it creates
// its own for a document that is never shown: only what the schema knows is taken from it.
const { trustedTypes } = globalThis as { readonly trustedTypes?: object }
if (trustedTypes !== undefined) Object.defineProperty(trustedTypes, 'defaultPolicy', { value: null })

/** Elements whose text is not content. */
const withoutContent = 'style, script, meta, link, title, template, noscript, iframe, object, svg'

/**
 * Pasted HTML without styles and handlers, which the policy refuses with a report each. Styles are read from another attribute; HTML of
 * this editor has none.
 */
export function withoutInline(html: string): string {
  if (html.includes('data-pm-slice')) return html
  return html
    .replace(/<style[\s>][\s\S]*?<\/style>/gi, '')
    .replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/(\s)(style|on\w+)(\s*=)/gi, '$1data-$2$3'))
}

/** Elements for styles of texts. */
const styled: readonly (readonly [tag: string, style: RegExp])[] = [
  ['strong', /font-weight:\s*(bold|[6-9]00)/i],
  ['em', /font-style:\s*italic/i],
  ['u', /text-decoration[^;]*underline/i],
  ['s', /text-decoration[^;]*line-through/i],
]

const styleOf = (element: Element): string => element.getAttribute('data-style') ?? ''

/** Styles of texts as elements. Google Docs wraps everything in a <b> of normal weight. */
function elementsOfStyles(dom: ParentNode): void {
  for (const element of dom.querySelectorAll('[data-style]')) {
    const style = styleOf(element)
    for (const [tag, pattern] of styled) {
      if (!pattern.test(style) || (tag === 'u' && element.closest('a') !== null)) continue
      const wrapper = document.createElement(tag)
      wrapper.append(...element.childNodes)
      element.append(wrapper)
    }
    if (/^(b|strong)$/i.test(element.tagName) && /font-weight:\s*(normal|400)/i.test(style)) element.replaceWith(...element.childNodes)
  }
}

class PasteParser extends DOMParser {
  override parseSlice(dom: globalThis.Node, options?: ParseOptions): Slice {
    tidyPasted(dom as ParentNode & globalThis.Node)
    return super.parseSlice(dom, options)
  }
}

/** Reads pasted HTML. */
export const pasteParser: DOMParser = new PasteParser(schema, DOMParser.fromSchema(schema).rules)

function tidyPasted(dom: ParentNode & globalThis.Node): void {
  for (const element of dom.querySelectorAll(withoutContent)) element.remove()
  listsOfWord(dom)
  elementsOfStyles(dom)
  // Entries hold one text: paragraphs inside are their lines.
  for (const item of dom.querySelectorAll('li'))
    for (const paragraph of item.querySelectorAll('p')) {
      if (paragraph.previousSibling !== null && paragraph.textContent?.trim() !== '' && hasTextBefore(paragraph))
        paragraph.before(document.createElement('br'))
      paragraph.replaceWith(...paragraph.childNodes)
    }
  for (const cell of dom.querySelectorAll('td, th')) if (cell.nextElementSibling !== null) cell.append(' \t')
  for (const row of dom.querySelectorAll('tr')) {
    const line = document.createElement('p')
    line.append(...[...row.children].flatMap((cell) => [...cell.childNodes]))
    row.replaceWith(line)
  }
}

const hasTextBefore = (element: Element): boolean => {
  for (let before = element.previousSibling; before !== null; before = before.previousSibling)
    if (before.textContent?.trim() !== '') return true
  return false
}

/** Word writes entries as paragraphs with a level and a drawn mark in front of their text. */
function listsOfWord(dom: ParentNode): void {
  const levelOf = (element: Element | null): number =>
    Number(/mso-list:[^;]*level(\d+)/i.exec(element === null ? '' : styleOf(element))?.[1] ?? 0)
  let lists: HTMLElement[] = []
  let last: Element | null = null
  for (const entry of dom.querySelectorAll('p[data-style*="mso-list"]')) {
    const level = levelOf(entry)
    if (level === 0) continue
    const mark = entry.querySelector('[data-style*="mso-list:Ignore" i]')
    const tag = /^[\s\u00a0]*(\w{1,4}[.)])/.test(mark?.textContent ?? '') ? 'ol' : 'ul'
    mark?.remove()
    if (last === null || lists[0]?.nextElementSibling !== entry) lists = []
    lists = lists.slice(0, level)
    while (lists.length < level) {
      const list = document.createElement(tag)
      if (lists.length === 0) entry.before(list)
      else lists.at(-1)!.append(list)
      lists.push(list)
    }
    const item = document.createElement('li')
    item.append(...entry.childNodes)
    lists.at(-1)!.append(item)
    entry.remove()
    last = item
  }
}
