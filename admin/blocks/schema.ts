// The document of the editor of rich text, in the shape of stored blocks. A node and a mark cannot share a name, so a block of code
// is `codeBlock`. Members that the editor does not know are in `more`; nodes that it cannot edit are `odd`.
import { type Attrs, type DOMOutputSpec, type Mark, type MarkSpec, type Node, type NodeSpec, Schema } from 'prosemirror-model'
import { isSafeLink } from '../parts/safe-links.js'

/** Members of a stored node that the editor does not know. */
export type Members = Readonly<Record<string, unknown>>

const more = { more: { default: null } }

/** Flags of a stored text. */
export const flags = ['bold', 'italic', 'underline', 'strikethrough', 'code'] as const
export type Flag = (typeof flags)[number]

const textBlock = (tag: string, spec: Partial<NodeSpec> = {}): NodeSpec => ({
  group: 'block',
  content: 'inline*',
  attrs: more,
  defining: true,
  parseDOM: [{ tag }],
  toDOM: () => [tag, { dir: 'auto' }, 0],
  ...spec,
})

/** Levels of headings. */
export const levels = [1, 2, 3, 4, 5, 6] as const

const nodes: Record<string, NodeSpec> = {
  doc: { content: 'block+' },
  paragraph: textBlock('p', { defining: false }),
  heading: textBlock('h1', {
    attrs: { ...more, level: { default: 2 } },
    parseDOM: levels.map((level) => ({ tag: `h${level}`, attrs: { level } })),
    toDOM: ({ attrs }) => [`h${attrs.level}`, { dir: 'auto' }, 0],
  }),
  quote: textBlock('blockquote', { parseDOM: [{ tag: 'blockquote', getAttrs: (element) => (hasBlocks(element) ? false : null) }] }),
  codeBlock: textBlock('pre', {
    content: 'text*',
    attrs: { ...more, language: { default: undefined } },
    marks: 'bold italic underline strikethrough code more',
    code: true,
    parseDOM: [{ tag: 'pre', preserveWhitespace: 'full', getAttrs: (element) => ({ language: languageOf(element) }) }],
    toDOM: ({ attrs }) => ['pre', { dir: 'ltr', ...(attrs.language ? { 'data-language': attrs.language } : {}) }, ['code', 0]],
  }),
  list: {
    group: 'block entry',
    content: 'entry*',
    attrs: { ...more, format: { default: 'unordered' } },
    parseDOM: [
      { tag: 'ol', attrs: { format: 'ordered' } },
      { tag: 'ul', attrs: { format: 'unordered' } },
    ],
    toDOM: ({ attrs }): DOMOutputSpec => [attrs.format === 'ordered' ? 'ol' : 'ul', 0],
  },
  'list-item': textBlock('li', { group: 'entry' }),
  image: {
    group: 'block',
    attrs: { ...more, image: { default: null } },
    atom: true,
    draggable: true,
    parseDOM: [{ tag: 'figure[data-image]', getAttrs: (element) => parsedImage(element) }],
    toDOM: ({ attrs }) => [
      'figure',
      { 'data-image': JSON.stringify(attrs.image) },
      ['img', { src: String(attrs.image?.url ?? ''), alt: String(attrs.image?.alternativeText ?? '') }],
    ],
  },
  odd: {
    group: 'block entry',
    attrs: { value: { default: null } },
    atom: true,
    toDOM: ({ attrs }) => ['div', { 'data-odd': kindOf(attrs.value) }],
  },
  text: { group: 'inline' },
  break: { group: 'inline', inline: true, selectable: false, linebreakReplacement: true, parseDOM: [{ tag: 'br' }], toDOM: () => ['br'] },
  oddInline: {
    group: 'inline',
    inline: true,
    attrs: { value: { default: null } },
    atom: true,
    toDOM: ({ attrs }) => ['span', { 'data-odd': kindOf(attrs.value) }],
  },
}

const flagMark = (tag: string, ...parsed: NonNullable<MarkSpec['parseDOM']>): MarkSpec => ({
  parseDOM: [{ tag }, ...parsed],
  toDOM: () => [tag, 0],
})

const marks: Record<string, MarkSpec> = {
  // First, so that one element holds all texts of a link.
  link: {
    attrs: { ...more, url: {} },
    inclusive: false,
    parseDOM: [
      {
        tag: 'a[href]',
        getAttrs: (element) => {
          const url = element.getAttribute('href') ?? ''
          return isSafeLink(url) ? { url } : false
        },
      },
    ],
    // Without an href where the address is not safe: the text is shown, and nothing can be followed.
    toDOM: ({ attrs }) => ['a', isSafeLink(attrs.url) ? { href: attrs.url, rel: 'noreferrer' } : {}, 0],
  },
  more: { attrs: { more: {} }, toDOM: () => ['span', 0] },
  bold: flagMark('strong', { tag: 'b' }),
  italic: flagMark('em', { tag: 'i' }),
  underline: flagMark('u'),
  strikethrough: flagMark('s', { tag: 'del' }, { tag: 'strike' }),
  code: flagMark('code'),
}

/** Node and mark types of the editor. */
export const schema = new Schema({ nodes, marks })

/** The `type` of a stored node that the editor does not know, to show it. */
export function kindOf(value: unknown): string {
  const type = typeof value === 'object' && value !== null ? (value as Members).type : undefined
  return typeof type === 'string' ? type : typeof value
}

/** Word processors put whole documents into quotes; these are not one text. */
const hasBlocks = (element: HTMLElement): boolean => element.querySelector('p + p, ul, ol, table, h1, h2, h3') !== null

const languageOf = (element: HTMLElement): string | undefined =>
  element.dataset.language ?? /\blanguage-([\w+#-]+)/.exec(element.querySelector('code')?.className ?? '')?.[1]

function parsedImage(element: HTMLElement): Attrs | false {
  try {
    const image: unknown = JSON.parse(element.dataset.image ?? '')
    return typeof image === 'object' && image !== null ? { image, more: { children: [{ type: 'text', text: '' }] } } : false
  } catch {
    return false
  }
}

/** The nodes of a text: its lines with breaks between them. */
export const textNodes = (text: string, marks: readonly Mark[]): readonly Node[] =>
  text
    .split('\n')
    .flatMap((line, index) => [
      ...(index > 0 ? [schema.node('break', null, undefined, marks)] : []),
      ...(line === '' ? [] : [schema.text(line, marks)]),
    ])

/** The mark of a type on a node. */
export const markOn = (node: Node, name: string): Mark | undefined => schema.marks[name]!.isInSet(node.marks)
