// Markdown as elements, from its syntax tree: no markup is made of strings, HTML is shown as text, and only safe links can be followed.
import type { SyntaxNode, Tree } from '@lezer/common'
import { GFM, parser } from '@lezer/markdown'
import { createElement, Fragment, type ReactNode, useMemo } from 'react'
import { isSafeLink } from '../parts/safe-links.js'
import styles from './preview.module.css'

const markdown = parser.configure(GFM)

/** Longer texts are previewed in part. */
const maxLength = 200_000

/** A text of Markdown as it may look. */
export function Preview({ text }: { readonly text: string }) {
  const shown = text.slice(0, maxLength)
  const tree = useMemo(() => markdown.parse(shown), [shown])
  const definitions = useMemo(() => linkDefinitions(tree, shown), [tree, shown])
  return <>{childrenOf({ text: shown, definitions }, tree.topNode)}</>
}

interface Source {
  readonly text: string
  /** Addresses of links by their labels. */
  readonly definitions: ReadonlyMap<string, string>
}

const labelKey = (label: string): string =>
  label
    .replace(/^\[|\]$/g, '')
    .trim()
    .replace(/\s+/g, ' ')
    .toLowerCase()

function linkDefinitions(tree: Tree, text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  tree.iterate({
    enter: ({ node }) => {
      if (node.name !== 'LinkReference') return
      const [label, url] = [node.getChild('LinkLabel'), node.getChild('URL')]
      if (label !== null && url !== null && !found.has(labelKey(text.slice(label.from, label.to))))
        found.set(labelKey(text.slice(label.from, label.to)), text.slice(url.from, url.to))
    },
  })
  return found
}

/** Marks and addresses, which are not part of the text. */
const hidden = /Mark$|^(URL|LinkTitle|LinkLabel|LinkReference|CodeInfo|TableDelimiter)$/

const elements: Readonly<Record<string, string>> = {
  ...{ Paragraph: 'p', Blockquote: 'blockquote', BulletList: 'ul', OrderedList: 'ol', ListItem: 'li' },
  ...{ Emphasis: 'em', StrongEmphasis: 'strong', Strikethrough: 's', InlineCode: 'code', Subscript: 'sub', Superscript: 'sup' },
  ...{ TableHeader: 'tr', TableRow: 'tr' },
  // Below the headings of the page.
  ...{ ATXHeading1: 'h3', ATXHeading2: 'h4', ATXHeading3: 'h5', ATXHeading4: 'h6', ATXHeading5: 'h6', ATXHeading6: 'h6' },
  ...{ SetextHeading1: 'h3', SetextHeading2: 'h4' },
}

/** Blocks whose text between nodes is space. */
const spaced = /^(Document|BulletList|OrderedList|ListItem|Blockquote|Table|TableHeader|TableRow)$/

function childrenOf(source: Source, node: SyntaxNode): readonly ReactNode[] {
  const found: ReactNode[] = []
  let at = node.from
  const addText = (to: number) => {
    if (to > at && !spaced.test(node.name)) found.push(plain(source.text.slice(at, to)))
  }
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    addText(child.from)
    found.push(<Fragment key={child.from}>{elementOf(source, child)}</Fragment>)
    at = child.to
  }
  addText(node.to)
  return /^(ATX|Setext)Heading/.test(node.name) ? trimmed(found) : found
}

/** Headings have a space between their mark and their text. */
function trimmed(nodes: readonly ReactNode[]): readonly ReactNode[] {
  const first = nodes.findIndex((node) => typeof node === 'string')
  return nodes.map((node, index) => (typeof node === 'string' && index === first ? node.trimStart() : node))
}

/** Marks of quotes and indents of continued lines are no text. */
const plain = (text: string): string => text.replace(/\n[ \t>]+/g, '\n')

function elementOf(source: Source, node: SyntaxNode): ReactNode {
  const raw = source.text.slice(node.from, node.to)
  if (hidden.test(node.name))
    return node.name === 'URL' && node.parent?.name !== 'Link' && node.parent?.name !== 'Image' ? link(raw, raw) : null
  switch (node.name) {
    case 'Link':
    case 'Autolink':
      return linkOf(source, node)
    case 'Image':
      return imageOf(source, node)
    case 'FencedCode':
    case 'CodeBlock':
      return (
        <pre>
          <code>
            {node
              .getChildren('CodeText')
              .map(({ from, to }) => source.text.slice(from, to))
              .join('')}
          </code>
        </pre>
      )
    case 'InlineCode':
      return <code>{raw.replace(/^`+|`+$/g, '')}</code>
    case 'HorizontalRule':
      return <hr />
    case 'HardBreak':
      return <br />
    case 'Escape':
      return raw.slice(1)
    case 'HTMLBlock':
    case 'CommentBlock':
    case 'ProcessingInstructionBlock':
      return <pre className={styles.html}>{raw}</pre>
    case 'TaskMarker':
      return <input type="checkbox" disabled checked={/x/i.test(raw)} aria-label={raw} readOnly />
    case 'Table':
      return <TableOf source={source} node={node} />
    default:
      return elements[node.name] === undefined
        ? inlineOf(source, node, raw)
        : createElement(elements[node.name]!, null, ...childrenOf(source, node))
  }
}

/** A known wrapper is looked into; HTML, entities and everything unknown are text. */
const inlineOf = (source: Source, node: SyntaxNode, raw: string): ReactNode =>
  node.name === 'Task' || node.name === 'TableCell' ? childrenOf(source, node) : raw

function link(url: string, content: ReactNode): ReactNode {
  const address = url.replace(/^<|>$/g, '')
  if (!isSafeLink(address)) return <span>{content}</span>
  return (
    <a href={address} target="_blank" rel="noreferrer">
      {content}
    </a>
  )
}

const addressOf = ({ text, definitions }: Source, node: SyntaxNode): string | undefined => {
  const url = node.getChild('URL')
  if (url !== null) return text.slice(url.from, url.to)
  const label = node.getChild('LinkLabel')
  const named = label === null ? contentText({ text, definitions }, node) : text.slice(label.from, label.to)
  return definitions.get(labelKey(named === '[]' ? contentText({ text, definitions }, node) : named))
}

/** The text between the first two marks. */
function contentText({ text }: Source, node: SyntaxNode): string {
  const [open, close] = node.getChildren('LinkMark')
  return open === undefined || close === undefined ? '' : text.slice(open.to, close.from)
}

function linkOf(source: Source, node: SyntaxNode): ReactNode {
  const url = addressOf(source, node)
  if (node.name === 'Autolink') return link(url ?? '', (url ?? '').replace(/^<|>$/g, ''))
  return url === undefined ? source.text.slice(node.from, node.to) : link(url, withoutAddress(source, node))
}

function withoutAddress(source: Source, node: SyntaxNode): readonly ReactNode[] {
  const close = node.getChildren('LinkMark')[1]
  const found: ReactNode[] = []
  let at = node.from + 1
  const end = close?.from ?? node.to
  for (let child = node.firstChild; child !== null && child.from < end; child = child.nextSibling) {
    if (child.from > at) found.push(source.text.slice(at, child.from))
    found.push(<Fragment key={child.from}>{elementOf(source, child)}</Fragment>)
    at = child.to
  }
  if (end > at) found.push(source.text.slice(at, end))
  return found
}

function imageOf(source: Source, node: SyntaxNode): ReactNode {
  const url = addressOf(source, node)
  const text = contentText(source, node)
  if (url === undefined || !/^(https?:|\/|[^:]*$)/i.test(url)) return text
  return <img src={url} alt={text} loading="lazy" />
}

function TableOf({ source, node }: { readonly source: Source; readonly node: SyntaxNode }) {
  const row = (one: SyntaxNode, tag: 'td' | 'th') => (
    <tr key={one.from}>
      {one.getChildren('TableCell').map((cell) => createElement(tag, { key: cell.from }, ...childrenOf(source, cell)))}
    </tr>
  )
  return (
    <table>
      <thead>{node.getChildren('TableHeader').map((one) => row(one, 'th'))}</thead>
      <tbody>{node.getChildren('TableRow').map((one) => row(one, 'td'))}</tbody>
    </table>
  )
}
