// The structure of `blocks`, the rich text of the editor: which nodes there are, what each has, what may stand in what.
import { toBoolean, toList, toNumber, toText } from './input-casts.js'
import { attributeError, choiceError, inFieldOrder, typeError, whole } from './input-messages.js'
import type { AttributeError, Checked, Path } from './input-types.js'

type Field = (value: unknown, path: Path) => Checked
type Node = Readonly<Record<string, Field>>

const right = (value: unknown): Checked => ({ value, errors: [] })
const wrong = (value: unknown, ...errors: AttributeError[]): Checked => ({ value, errors })
const absent = (path: Path) => wrong(undefined, attributeError(path, 'is a required field'))
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text of any kind; `null` where it may be missing. */
const text =
  (required: boolean): Field =>
  (sent, path) => {
    const value = toText(sent)
    if (value === undefined || value === '')
      return required ? wrong(value, attributeError(path, 'is a required field', value)) : right(value)
    if (value === null && !required) return right(value)
    return typeof value === 'string' ? right(value) : wrong(value, typeError(path, 'string', value, sent))
  }

const count: Field = (sent, path) => {
  if (sent === undefined) return absent(path)
  const value = toNumber(sent)
  return Number.isNaN(value) ? wrong(value, typeError(path, 'number', value, sent)) : right(value)
}

const flag: Field = (sent, path) => {
  const value = toBoolean(sent)
  return value === undefined || typeof value === 'boolean' ? right(value) : wrong(value, typeError(path, 'boolean', value, sent))
}

const anything: Field = right

/** One of `choices`, which all are texts or all are numbers. */
const choice =
  (type: 'string' | 'number', choices: readonly unknown[]): Field =>
  (sent, path) => {
    if (sent === undefined) return absent(path)
    const value = type === 'number' ? toNumber(sent) : toText(sent)
    const isTyped = typeof value === type && !Number.isNaN(value)
    return wrong(
      value,
      ...(isTyped ? [] : [typeError(path, type, value, sent)]),
      ...(choices.includes(value) ? [] : [choiceError(path, choices, value)]),
    )
  }

const words: Field = (sent, path) => {
  const value = toText(sent)
  if (value === undefined) return wrong(value, whole(path, 'Text must be defined with at least an empty string'))
  return typeof value === 'string' ? right(value) : wrong(value, typeError(path, 'string', value, sent))
}

const address: Field = (sent, path) => {
  const value = toText(sent)
  if (value !== undefined && typeof value !== 'string') return wrong(value, typeError(path, 'string', value, sent))
  return isAddress(value ?? '') ? right(value) : wrong(value, whole(path, 'Please specify a valid link.', value))
}

const isAddress = (url: string): boolean => URL.canParse(url.startsWith('/') ? `https://octavo.invalid${url}` : url)

/** A list in which every entry is checked by `entry`; `empty` is what an empty one is told. */
const list =
  (entry: () => Field, empty?: string): Field =>
  (sent, path) => {
    if (sent === undefined) return absent(path)
    const value = toList(sent)
    if (value === null) return wrong(null, typeError(path, 'array', null, sent))
    const entries = value.map((node, index) => entry()(node, [...path, index]))
    const own = empty !== undefined && value.length === 0 ? [whole(path, empty, value)] : []
    return { value: entries.map((checked) => checked.value), errors: [...entries.flatMap(({ errors }) => errors), ...own] }
  }

/** An object with the fields of `node`; others are kept as they are. A missing one counts as empty. */
const object =
  (node: Node): Field =>
  (sent, path) => {
    const given = sent === undefined ? {} : sent
    if (!isObject(given)) return wrong(null, typeError(path, 'object', null, sent))
    const fields = new Map(Object.entries(node).map(([name, field]) => [name, field(given[name], [...path, name])] as const))
    const known = [...fields].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]))
    const errors = inFieldOrder(path, new Map([...fields].map(([name, checked]) => [name, checked.errors])))
    return { value: { ...given, ...Object.fromEntries(known) }, errors }
  }

/** An object whose `type` says which of `nodes` it is. */
const oneOf =
  (nodes: Readonly<Record<string, Node>>, otherwise: string): Field =>
  (sent, path) => {
    const type = isObject(sent) ? sent.type : undefined
    if (typeof type !== 'string' || !Object.hasOwn(nodes, type)) return wrong(sent, whole(path, otherwise, sent))
    return object(nodes[type]!)(sent, path)
  }

const textNode: Node = { type: anything, text: words, bold: flag, italic: flag, underline: flag, strikethrough: flag, code: flag }
const plain: Field = object({ ...textNode, type: choice('string', ['text']) })
const linkNode: Node = { type: anything, url: address, children: list(() => plain) }
const inline = oneOf({ text: textNode, link: linkNode }, 'Inline node must be Text or Link')

const listItem: Node = { type: anything, children: list(() => inline) }
const listNode: Node = { type: anything, format: choice('string', ['ordered', 'unordered']), children: list(() => listEntry) }
const listEntry = oneOf({ 'list-item': listItem, list: listNode }, 'Inline node must be list-item or list')

const image = object({
  name: text(true),
  alternativeText: text(false),
  url: text(true),
  caption: text(false),
  width: count,
  height: count,
  formats: anything,
  hash: text(true),
  ext: text(true),
  mime: text(true),
  size: count,
  previewUrl: text(false),
  provider: text(true),
  provider_metadata: anything,
  createdAt: text(true),
  updatedAt: text(true),
})

const block = oneOf(
  {
    paragraph: { type: anything, children: list(() => inline, 'Paragraph node children must have at least one Text or Link node') },
    heading: { type: anything, level: choice('number', [1, 2, 3, 4, 5, 6]), children: list(() => inline) },
    quote: { type: anything, children: list(() => inline) },
    code: { type: anything, syntax: text(false), children: list(() => plain) },
    list: listNode,
    image: { type: anything, image, children: list(() => inline) },
  },
  'Block node is of invalid type',
)

/** Checks the nodes of a blocks attribute, in depth. Numbers in place of texts become texts. */
export function checkBlocks(nodes: readonly unknown[], path: Path): Checked {
  return list(() => block)(nodes, path)
}
