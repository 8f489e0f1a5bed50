// The structure of `blocks` (rich text): nodes, their fields, and permitted children.
import { toBoolean, toList, toNumber, toText } from '../../../model/types/casts.js'
import { isObject } from '../../../query/request.js'
import { attributeError, checkEach, choiceError, inFieldOrder, isRequired, typeError, wholeError } from './errors.js'
import type { AttributeError, Checked, ValuePath } from './types.js'

interface BlockField {
  /** `name`: key of the value below `path`. Paths of valid values are never built. */
  (value: unknown, path: ValuePath, name?: string | number): Checked
  /** True for values that need no change: nearly all values from an editor. Every node of a long text must be checked. */
  readonly fits: (value: unknown) => boolean
}
type Node = Readonly<Record<string, BlockField>>

/** A field that is checked in detail only if it does not fit. */
const field = (fits: BlockField['fits'], check: (value: unknown, path: ValuePath) => Checked): BlockField =>
  Object.assign(
    (value: unknown, path: ValuePath, name?: string | number) =>
      fits(value) ? right(value) : check(value, name === undefined ? path : [...path, name]),
    { fits },
  )

const right = (value: unknown): Checked => ({ value, errors: [] })
const wrong = (value: unknown, ...errors: AttributeError[]): Checked => ({ value, errors })
const absent = (path: ValuePath) => wrong(undefined, attributeError(path, 'is a required field', isRequired))

/** A text; unless required, also null or absent. */
const text = (required: boolean): BlockField =>
  field(
    (value) => (typeof value === 'string' && value !== '') || (!required && (value === null || value === undefined || value === '')),
    (sent, path) => {
      const value = toText(sent)
      if (value === undefined || value === '')
        return required ? wrong(value, attributeError(path, 'is a required field', isRequired, value)) : right(value)
      if (value === null && !required) return right(value)
      return typeof value === 'string' ? right(value) : wrong(value, typeError(path, 'string', value, sent))
    },
  )

const count: BlockField = field(
  (value) => typeof value === 'number' && !Number.isNaN(value),
  (sent, path) => {
    if (sent === undefined) return absent(path)
    const value = toNumber(sent)
    return Number.isNaN(value) ? wrong(value, typeError(path, 'number', value, sent)) : right(value)
  },
)

const flag: BlockField = field(
  (value) => value === undefined || typeof value === 'boolean',
  (sent, path) => {
    const value = toBoolean(sent)
    return typeof value === 'boolean' ? right(value) : wrong(value, typeError(path, 'boolean', value, sent))
  },
)

const anything: BlockField = field(() => true, right)

/** One of `choices`, which are all strings or all numbers. */
const choice = (type: 'string' | 'number', choices: readonly unknown[]): BlockField =>
  field(
    (value) => choices.includes(value),
    (sent, path) => {
      if (sent === undefined) return absent(path)
      const value = type === 'number' ? toNumber(sent) : toText(sent)
      const isTyped = typeof value === type && !Number.isNaN(value)
      return wrong(
        value,
        ...(isTyped ? [] : [typeError(path, type, value, sent)]),
        ...(choices.includes(value) ? [] : [choiceError(path, choices, value)]),
      )
    },
  )

const words: BlockField = field(
  (value) => typeof value === 'string',
  (sent, path) => {
    const value = toText(sent)
    if (value === undefined) return wrong(value, wholeError(path, 'Text must be defined with at least an empty string', isRequired))
    return typeof value === 'string' ? right(value) : wrong(value, typeError(path, 'string', value, sent))
  },
)

const address: BlockField = field(
  (value) => typeof value === 'string' && isAddress(value),
  (sent, path) => {
    const value = toText(sent)
    if (value !== undefined && typeof value !== 'string') return wrong(value, typeError(path, 'string', value, sent))
    return isAddress(value ?? '')
      ? right(value)
      : wrong(value, wholeError(path, 'Please specify a valid link.', { code: 'format', params: { expected: 'url' } }, value))
  },
)

const isAddress = (url: string): boolean => URL.canParse(url.startsWith('/') ? `https://octavo.invalid${url}` : url)

/** A list of `entry`; `empty`: error for an empty list. */
const list = (entry: () => BlockField, empty?: string): BlockField =>
  field(
    (value) => Array.isArray(value) && (value.length > 0 || empty === undefined) && value.every(entry().fits),
    (sent, path) => {
      if (sent === undefined) return absent(path)
      const value = toList(sent)
      if (value === null) return wrong(null, typeError(path, 'array', null, sent))
      const { values, errors } = checkEach(value, (node, index) => entry()(node, path, index))
      const own =
        empty !== undefined && value.length === 0
          ? [wholeError(path, empty, { code: 'minItems', params: { min: 1, actual: 0 } }, value)]
          : []
      return { value: values, errors: [...errors, ...own] }
    },
  )

/** An object with the fields of `node`; unknown fields are retained. A missing object counts as empty. */
const object = (node: Node): BlockField => {
  const fieldsOfNode = Object.entries(node)
  return field(
    (value) => isObject(value) && fieldsOfNode.every(([name, one]) => one.fits(value[name])),
    (sent, path) => {
      const given = sent === undefined ? {} : sent
      if (!isObject(given)) return wrong(null, typeError(path, 'object', null, sent))
      const fields = new Map(fieldsOfNode.map(([name, one]) => [name, one(given[name], path, name)] as const))
      const known = [...fields].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]))
      const errors = inFieldOrder(path, new Map([...fields].map(([name, checked]) => [name, checked.errors])))
      return { value: { ...given, ...Object.fromEntries(known) }, errors }
    },
  )
}

/** An object whose `type` selects one of `nodes`. */
const oneOf = (nodes: Readonly<Record<string, Node>>, otherwise: string): BlockField => {
  const fields = new Map(Object.entries(nodes).map(([type, node]) => [type, object(node)]))
  const fieldOf = (sent: unknown): BlockField | undefined =>
    isObject(sent) && typeof sent.type === 'string' ? fields.get(sent.type) : undefined
  return field(
    (value) => isObject(value) && remembered(value, () => fieldOf(value)?.fits(value) === true),
    (sent, path) =>
      fieldOf(sent)?.(sent, path) ??
      wrong(sent, wholeError(path, otherwise, { code: 'enum', params: { allowed: [...fields.keys()] } }, sent)),
  )
}

const textNode: Node = { type: anything, text: words, bold: flag, italic: flag, underline: flag, strikethrough: flag, code: flag }
const plain: BlockField = object({ ...textNode, type: choice('string', ['text']) })
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

/** Memoizes validity per text: without it, the parents of an invalid node would check it again at each level. */
let fitting = new WeakMap<object, boolean>()

function remembered(node: object, fits: () => boolean): boolean {
  const known = fitting.get(node)
  if (known !== undefined) return known
  const found = fits()
  fitting.set(node, found)
  return found
}

/** Validates the nodes of a blocks attribute recursively. Casts numbers to texts where these are required. */
export function checkBlocks(nodes: readonly unknown[], path: ValuePath): Checked {
  fitting = new WeakMap()
  return blocks(nodes, path)
}

const blocks = list(() => block)
