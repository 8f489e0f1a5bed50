// Rich text in the editor: stored blocks are opened and saved without a loss, also those that the editor does not know.
import fc from 'fast-check'
import { Fragment, Node } from 'prosemirror-model'
import { EditorState } from 'prosemirror-state'
import { expect, test } from 'vitest'
import { openBlocks } from '../../admin/blocks/mapping.js'
import { schema } from '../../admin/blocks/schema.js'
import { isSafeLink } from '../../admin/parts/safe-links.js'

type Stored = Record<string, unknown>

const check = <T>(values: fc.Arbitrary<T>, holds: (value: T) => void) =>
  fc.assert(
    fc.property(values, (value) => {
      holds(value)
    }),
    { seed: 290, numRuns: 150 },
  )

/** Members that the editor does not know. */
const members = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.dictionary(fc.constantFrom('id', 'align', 'note', 'x y', 'data'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 }),
)

const words = fc.string({ unit: fc.constantFrom('a', 'ß', '🌙', ' ', '\n', '"', '<b>', 'מ'), minLength: 1, maxLength: 8 })
const setFlags = fc.subarray(['bold', 'italic', 'underline', 'strikethrough', 'code'])
const text = fc
  .tuple(words, setFlags, members)
  .map(([value, set, more]): Stored => ({ type: 'text', text: value, ...more, ...Object.fromEntries(set.map((flag) => [flag, true])) }))

const marksOf = ({ text: _, ...marks }: Stored) => JSON.stringify(Object.entries(marks).sort())
/** Editors join neighbours with the same marks. */
const joined = (texts: readonly Stored[]): readonly Stored[] =>
  texts.filter((one, index) => index === 0 || marksOf(one) !== marksOf(texts[index - 1]!))
const empty: Stored = { type: 'text', text: '' }
const texts = fc.array(text, { minLength: 1, maxLength: 4 }).map(joined)
const link = fc
  .tuple(fc.webUrl(), texts, members)
  .map(([url, children, more]): Stored => ({ type: 'link', url: `${url}`, ...more, children }))

/** As Strapi's editor writes them: links have texts on both sides. */
const inline = fc.oneof(
  fc.constant([empty]),
  texts,
  fc.tuple(texts, link, fc.oneof(texts, fc.constant([empty]))).map(([before, one, after]) => [...before, one, ...after]),
  fc.tuple(link, link).map(([one, other]) => [empty, one, empty, { ...other, url: `${other.url}#other` }, empty]),
)

const image = fc.record({
  ...{ name: fc.string(), url: fc.webPath(), width: fc.nat(), height: fc.nat(), hash: fc.string(), ext: fc.constant('.jpg') },
  ...{ mime: fc.constant('image/jpeg'), size: fc.double({ noNaN: true }), provider: fc.constant('local') },
  ...{ alternativeText: fc.option(fc.string()), formats: fc.jsonValue({ maxDepth: 2 }), createdAt: fc.string(), updatedAt: fc.string() },
})

const { block } = fc.letrec<{ block: Stored; list: Stored }>((tie) => ({
  block: fc.oneof(
    fc.tuple(inline, members).map(([children, more]) => ({ type: 'paragraph', ...more, children })),
    fc
      .tuple(fc.constantFrom(1, 2, 3, 4, 5, 6), inline, members)
      .map(([level, children, more]) => ({ type: 'heading', level, ...more, children })),
    fc.tuple(inline, members).map(([children, more]) => ({ type: 'quote', ...more, children })),
    fc
      .tuple(fc.option(fc.constantFrom('js', 'plaintext'), { nil: undefined }), fc.oneof(texts, fc.constant([empty])), members)
      .map(([language, children, more]) => ({ type: 'code', ...(language === undefined ? {} : { language }), ...more, children })),
    fc.tuple(image, members).map(([picture, more]) => ({ type: 'image', image: picture, ...more, children: [empty] })),
    tie('list'),
  ),
  list: fc
    .tuple(
      fc.constantFrom('ordered', 'unordered'),
      fc.array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.tuple(inline, members).map(([children, more]): Stored => ({ type: 'list-item', ...more, children })),
          tie('list'),
        ),
        { maxLength: 4 },
      ),
      fc.option(fc.nat(3), { nil: undefined }),
      members,
    )
    .map(([format, children, indentLevel, more]) => ({
      ...{ type: 'list', format, ...(indentLevel === undefined ? {} : { indentLevel }), ...more, children },
    })),
}))

const blocks = fc.array(block, { minLength: 1, maxLength: 6 })

/** The document with another paragraph, so that it differs. */
const withParagraph = (doc: Node): Node => doc.copy(doc.content.append(Fragment.from(schema.node('paragraph', null, schema.text('end')))))

/** Nearly blocks: known types with members of any shape. */
const oddBlock = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.record(
    {
      type: fc.constantFrom('paragraph', 'heading', 'quote', 'code', 'list', 'list-item', 'image', 'link', 'text', 'embed'),
      level: fc.oneof(fc.nat(8), fc.constant('2')),
      format: fc.constantFrom('ordered', 'none'),
      language: fc.oneof(fc.string(), fc.constant(null)),
      image: fc.jsonValue({ maxDepth: 1 }),
      children: fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.array(fc.oneof(text, link, block, fc.jsonValue({ maxDepth: 1 })), { maxLength: 3 }),
      ),
    },
    { requiredKeys: [] },
  ),
)

test('a value that is opened and saved is the same object, of any shape', () => {
  check(fc.oneof(blocks, fc.jsonValue(), fc.array(oddBlock)), (value) => {
    const opened = openBlocks(value)
    opened.doc.check()
    expect(opened.valueOf(opened.doc)).toBe(value)
    expect(opened.valueOf(Node.fromJSON(schema, opened.doc.toJSON()))).toBe(value)
  })
})

test('every valid block is written as it is stored, with the members that the editor does not know', () => {
  check(blocks, (value) => {
    const opened = openBlocks(value)
    // A copy: none of its nodes has been opened.
    const saved = opened.valueOf(withParagraph(Node.fromJSON(schema, opened.doc.toJSON()))) as unknown[]
    expect(saved.slice(0, -1)).toStrictEqual(value)
    expect(saved.at(-1)).toEqual({ type: 'paragraph', children: [{ type: 'text', text: 'end' }] })
  })
})

test('blocks of any other shape are opened, and stay as they are when a block is added', () => {
  check(fc.array(oddBlock, { minLength: 1, maxLength: 5 }), (value) => {
    const opened = openBlocks(value)
    const saved = opened.valueOf(withParagraph(opened.doc)) as unknown[]
    value.forEach((one, index) => {
      expect(saved[index]).toBe(one)
    })
  })
})

test('typing in a block leaves every other block as the same object', () => {
  check(fc.tuple(fc.array(fc.oneof(block, oddBlock), { minLength: 1, maxLength: 6 }), fc.nat()), ([value, chosen]) => {
    const opened = openBlocks(value)
    const state = EditorState.create({ doc: opened.doc })
    const at = chosen % value.length
    let position = 1
    for (let index = 0; index < at; index += 1) position += opened.doc.child(index).nodeSize
    if (!opened.doc.child(at).isTextblock) return
    const saved = opened.valueOf(state.apply(state.tr.insertText('new ', position)).doc) as Stored[]
    expect(saved).toHaveLength(value.length)
    saved.forEach((one, index) => {
      if (index === at) expect(JSON.stringify(one)).toContain('new ')
      else expect(one).toBe(value[index])
    })
  })
})

test('an item of a list that is edited leaves its neighbours and nested lists as they are', () => {
  const nested = {
    type: 'list',
    format: 'ordered',
    indentLevel: 1,
    children: [{ type: 'list-item', children: [{ type: 'text', text: 'b' }] }],
  }
  const item = { type: 'list-item', children: [{ type: 'text', text: 'a', bold: true }] }
  const opened = openBlocks([{ type: 'list', format: 'unordered', indentLevel: 0, children: [item, nested, item] }])
  const state = EditorState.create({ doc: opened.doc })
  const [list] = opened.valueOf(state.apply(state.tr.insertText('x', 3)).doc) as [Stored & { children: unknown[] }]
  expect(list).toEqual({
    ...{ type: 'list', format: 'unordered', indentLevel: 0 },
    children: [{ type: 'list-item', children: [{ type: 'text', text: 'ax', bold: true }] }, nested, item],
  })
  expect(list.children[1]).toBe(nested)
  expect(list.children[2]).toBe(item)
})

test('an edited block is written as Strapi writes it: texts around links, one empty text at least, flags only where set', () => {
  const opened = openBlocks([
    { type: 'paragraph', children: [{ type: 'link', url: '/a', children: [{ type: 'text', text: 'a', bold: false }] }] },
  ])
  const state = EditorState.create({ doc: opened.doc })
  const changed = state.apply(state.tr.addMark(1, 2, schema.mark('italic'))).doc
  expect(opened.valueOf(changed)).toEqual([
    {
      type: 'paragraph',
      children: [empty, { type: 'link', url: '/a', children: [{ type: 'text', text: 'a', bold: false, italic: true }] }, empty],
    },
  ])
  expect(opened.valueOf(schema.node('doc', null, [schema.node('quote')]))).toEqual([{ type: 'quote', children: [empty] }])
})

test('a text without content is null; null and an empty list stay as they are until something is written', () => {
  const nothing = schema.node('doc', null, [schema.node('paragraph')])
  for (const value of [null, undefined, []]) expect(openBlocks(value).valueOf(nothing)).toBe(value)
  expect(openBlocks([{ type: 'quote', children: [empty] }]).valueOf(nothing)).toBeNull()
})

test('only web, mail, telephone and relative links can be followed', () => {
  const safe = ['https://a.test', 'HTTP://a.test', 'mailto:a@b.test', 'tel:+49', '/a', 'a/b', '#c', '?q=a:b', '']
  const unsafe = [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:x',
    'data:text/html,x',
    'file:///etc',
    7,
  ]
  expect(safe.filter((url) => !isSafeLink(url))).toEqual([])
  expect(unsafe.filter(isSafeLink)).toEqual([])
})
