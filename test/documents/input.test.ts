// Checks what bodies are refused for, without a server: every recorded write is read again, and refused exactly where
// Strapi refused it for the body's own sake, with the same error. What only the database knows is left out, by name.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { attributeErrors, documentErrors, readInput } from '../../src/content/documents/input/input.js'
import type { Input } from '../../src/content/documents/input/types.js'
import { ApiError } from '../../src/foundation/errors/errors.js'
import { fullAccess } from '../../src/foundation/grants.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Attribute, ContentType, Model } from '../../src/model/schema/types.js'
import { type ContractName, contracts } from '../../src/query/contract.js'
import { firstDifference } from '../golden/compare.js'

type Body = Record<string, unknown>

interface Step {
  readonly request: { readonly method?: string; readonly path: string; readonly body?: unknown; readonly rawBody?: string }
  readonly response: { readonly status: number; readonly body: unknown }
}
interface Conversation {
  readonly name: string
  readonly steps: readonly Step[]
}
interface Compared {
  readonly name: string
  readonly recorded: unknown
  readonly answered: unknown
}

const golden = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden')
let model: Model
beforeAll(async () => {
  model = await loadModel({ folder: join(golden, 'project') })
})

const conversations = (file: string): readonly Conversation[] =>
  gunzipSync(readFileSync(join(golden, file)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Conversation)

/** Refusals that need the database, or that come before the body is looked at. */
const beyond =
  /must be unique|relation\(s\) of type|^Document with id|not related to the entity|already connected|circular reference|problem connecting|Invalid locale param/
const before = /^Missing "data" payload/

const errorOf = (step: Step) => (step.response.body as { error?: { name: string; message: string; details?: Body } } | null)?.error

/** Why a step says nothing about its body; null where it does. */
function outOfScope(step: Step): string | null {
  const error = errorOf(step)
  if (error === undefined) return step.response.status < 300 ? null : 'no error body'
  if (error.name === 'ValidationError' && error.details?.source !== 'query' && !before.test(error.message)) {
    const messages = [error.message, ...((error.details?.errors as { message: string }[] | undefined) ?? []).map(({ message }) => message)]
    return messages.some((message) => beyond.test(message)) ? 'database' : null
  }
  return error.name === 'ApplicationError' || error.name === 'Error' ? 'database' : 'before the body'
}

/** `{{0.body.data.id}}` is replaced by a value of an earlier response. */
function filled(value: unknown, steps: readonly Step[]): unknown {
  const text = JSON.stringify(value)
  if (text === undefined) return undefined
  const known = text.replace(/"\{\{(\d+)\.([\w.]+)\}\}( ?)"/g, (_, index: string, path: string, space: string) => {
    const found = path.split('.').reduce<unknown>((inner, key) => (inner as Body | undefined)?.[key], steps[Number(index)]!.response)
    return JSON.stringify(space === '' ? (found ?? null) : `${found}${space}`)
  })
  return JSON.parse(known)
}

function bodyOf(step: Step, steps: readonly Step[]): unknown {
  if (step.request.body !== undefined) return filled(step.request.body, steps)
  try {
    return JSON.parse(step.request.rawBody ?? '')
  } catch {
    return undefined
  }
}

/** A document as publishing finds it: all that was given, the rest null, lists empty, relations untouched. */
function stored(attributes: ReadonlyMap<string, Attribute>, checked: Readonly<Body>): Body {
  const below = (uid: string, entry: Body): Body => stored(model.components.get(uid)!.attributes, entry)
  const storedValue = (attribute: Attribute): unknown => {
    const value = checked[attribute.name]
    if (attribute.kind === 'scalar') return value ?? null
    if (attribute.kind === 'dynamiczone') {
      const entries = (value ?? []) as (Body & { __component: string })[]
      return entries.map((entry) => ({ ...below(entry.__component, entry), __component: entry.__component }))
    }
    if (attribute.kind !== 'component') return attribute.many ? { set: [] } : null
    if (attribute.repeatable) return ((value ?? []) as Body[]).map((entry) => below(attribute.component, entry))
    return value === null || value === undefined ? null : below(attribute.component, value as Body)
  }
  return Object.fromEntries([...attributes.values()].map((attribute) => [attribute.name, storedValue(attribute)]))
}

/**
 * The documents that a conversation's writes created, by path and locale. Null: deleted. Earlier ones are
 * not known, nor can those be whose components keep their ids: they are not validated.
 */
type Known = Map<string, Readonly<Body> | 'unknown' | null>

/** A caller who may name everything. */
const everybody = { grants: fullAccess, addedByHooks: new Set<string>() }

/** No other document has any of the values. */
const noneTaken = () => Promise.resolve(new Set<string>())

/** Reads the body as the service would: the draft leniently, then, if it is published, the whole document. */
async function write(type: ContentType, step: Step, data: unknown, known: Known, made: string): Promise<void> {
  const url = new URL(step.request.path, 'http://localhost')
  const locale = (type.localized && url.searchParams.get('locale')) || 'en'
  const path = step.request.method === 'POST' ? made : decodeURI(url.pathname)
  const place = `${path} ${locale}`
  const isMade = step.request.method === 'POST' || known.get(place) === null || (type.localized && path.includes('{{') && !known.has(place))
  const before = isMade ? null : (known.get(place) ?? 'unknown')
  const isCreation = before === null
  const added = { publishedAt: type.draftAndPublish ? null : 'now', ...(type.localized && { locale }) }
  const context = { model, contract: contracts.strapi }
  const options = { writer: everybody, isDraft: type.draftAndPublish, isCreation, added }
  const { checked } = await readInput(context, type, data, options, noneTaken)
  const whole = before === 'unknown' || JSON.stringify(data).includes('"id":') ? 'unknown' : { ...before, ...checked }
  const isPublished = type.draftAndPublish && url.searchParams.get('status') !== 'draft'
  if (isPublished && whole !== 'unknown') {
    const reader = { grants: fullAccess, seesDrafts: true }
    const errors = await documentErrors(context, type, stored(type.attributes, whole), reader, noneTaken)
    if (errors.length > 0) throw attributeErrors(errors)
  }
  known.set(place, whole)
}

/** The error without values that differ between runs: the time of publication, and ids of new rows. */
function comparable(error: unknown): unknown {
  const shown = (key: string, value: unknown) => {
    if (key === 'publishedAt' && value !== null) return 'now'
    return key === 'id' && (value === null || (typeof value === 'number' && value > 300 && value < 9999)) ? undefined : value
  }
  return JSON.parse(JSON.stringify(error, shown))
}

async function thrown(run: () => Promise<unknown>): Promise<unknown> {
  try {
    await run()
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { status: error.status, name: error.name, message: error.message, details: error.details }
  }
}

interface Outcome {
  readonly compared: Compared[]
  readonly database: string[]
}

/** Compares the writes of `files` that `wanted` picks. */
async function compare(files: readonly string[], wanted: (type: ContentType, step: Step, index: number) => boolean): Promise<Outcome> {
  const outcome: Outcome = { compared: [], database: [] }
  for (const { name, steps } of files.flatMap(conversations)) {
    const known: Known = new Map()
    for (const [index, step] of steps.entries()) {
      const { method = 'GET', path } = step.request
      const type = model.paths.get(/^\/api\/([^/?]+)/.exec(path)?.[1] ?? '')
      if (method === 'DELETE') known.set(`${path.replace(/\?.*/, '')} en`, null)
      if (type === undefined || !['POST', 'PUT'].includes(method) || !wanted(type, step, index)) continue
      const scope = outOfScope(step)
      if (scope === 'database') outcome.database.push(name)
      const body = bodyOf(step, steps) as { data?: unknown } | undefined
      if (scope !== null || body?.data === undefined) continue
      const made = `${path.replace(/\?.*/, '')}/{{${index}.body.data.documentId}}`
      const answered = await thrown(() => write(type, step, body.data, known, made))
      outcome.compared.push({ name, recorded: comparable(errorOf(step) ?? null), answered: comparable(answered) })
    }
  }
  return outcome
}

/** Recordings with refusals that are cut in messages. */
const cut: ReadonlySet<string> = new Set(
  (JSON.parse(readFileSync(join(golden, 'differences.json'), 'utf8'))['write-bad-bodies.jsonl.gz'] as { name: string }[]).map(
    ({ name }) => name,
  ),
)

const differences = ({ compared }: Outcome): string[] =>
  compared.flatMap(({ name, recorded, answered }) => {
    if (cut.has(name)) return []
    const difference =
      recorded === null || answered === null
        ? recorded === answered
          ? null
          : JSON.stringify({ recorded, answered })
        : firstDifference(recorded, answered)
    return difference === null ? [] : [`${name}: ${difference}`]
  })

describe('recorded bodies are refused for the same reasons', () => {
  test('creations of types without drafts', async () => {
    const files = ['write-validation.jsonl.gz', 'write-bad-bodies.jsonl.gz', 'write-blocks.jsonl.gz']
    const outcome = await compare(files, (type, step, index) => index === 0 && step.request.method === 'POST' && !type.draftAndPublish)
    expect(differences(outcome)).toEqual([])
    expect(outcome.compared.length).toBeGreaterThanOrEqual(259)
    expect(outcome.database).toEqual([
      'validation/bound uid "taken"',
      'validation/unique uText',
      'validation/unique uInteger',
      'validation/unique uFloat',
      'validation/unique uDecimal',
      'validation/unique uDatetime',
      'validation/unique uTimestamp',
      'validation/unique uEmail',
    ])
  })

  test('all writes of all recordings, published documents included', async () => {
    const files = readdirSync(golden).filter((file) => /^write-.*\.jsonl\.gz$/.test(file))
    const outcome = await compare(files, () => true)
    expect(differences(outcome)).toEqual([])
    expect(outcome.compared.length).toBeGreaterThanOrEqual(1492)
    expect(outcome.database.length).toBeLessThanOrEqual(61)
  })
})

const read = (path: string, data: unknown, { contract = 'strapi', isDraft = false, isCreation = true }: Options = {}): Promise<Input> =>
  readInput({ model, contract: contracts[contract] }, model.paths.get(path)!, data, { writer: everybody, isDraft, isCreation }, noneTaken)
interface Options {
  readonly contract?: ContractName
  readonly isDraft?: boolean
  readonly isCreation?: boolean
}
const refusal = async (path: string, data: unknown, options?: Options) =>
  ((await thrown(() => read(path, data, options))) as Body | null)?.message
const scalars = (input: Input) => Object.fromEntries([...input.scalars].map(([{ name }, value]) => [name, value]))
const relation = (input: Input, wanted: string) => [...input.relations, ...input.media].find(([{ name }]) => name === wanted)?.[1]

describe('storage forms', () => {
  test('are those of the layout', async () => {
    const input = await read('samples', {
      big: '-9223372036854775808',
      boolean: '0',
      json: { a: [true] },
      date: '2024-01-01T23:59:59+05:00',
      time: '10:00:00.1',
      datetime: '2024-01-01T02:00:00+02:00',
      timestamp: 5,
      blocks: '[{"type":"paragraph","children":[{"type":"text","text":5}]}]',
    })
    expect(scalars(input)).toEqual({
      big: -9223372036854775808n,
      boolean: 0,
      json: '{"a":[true]}',
      date: '2024-01-01',
      time: '10:00:00.100',
      datetime: Date.UTC(2024, 0, 1),
      timestamp: 5,
      blocks: '[{"type":"paragraph","children":[{"type":"text","text":"5"}]}]',
    })
  })

  test('take defaults on creation alone, and none where null is written', async () => {
    expect(scalars(await read('bounds', { dInteger: null }))).toMatchObject({
      dString: 'hello',
      dBoolean: 1,
      dJson: '{"a":1}',
      dInteger: null,
    })
    expect(scalars(await read('bounds', {}, { isCreation: false }))).toEqual({})
  })

  test('refuse what no date and no time is, also where it must be unique', async () => {
    expect(await refusal('bounds', { uTime: 'noon' })).toBe('Invalid time format, expected HH:mm:ss.SSS')
    expect(await refusal('bounds', { uTime: ['10:00:00'] })).toBe('Expected a string, got a object')
    expect(await refusal('bounds', { uDatetime: 1e300 })).toBe('Invalid format, expected a timestamp or an ISO date')
    expect(await refusal('bounds', { uDate: {} })).toBe('Invalid format, expected yyyy-MM-dd')
  })
})

describe('blocks', () => {
  const text = { type: 'text', text: 'x' }
  const cases: readonly (readonly [unknown, string])[] = [
    [{ type: 'nope' }, 'Block node is of invalid type'],
    [null, 'Block node is of invalid type'],
    [{ type: 'paragraph' }, 'blocks[0].children is a required field'],
    [{ type: 'paragraph', children: [] }, 'Paragraph node children must have at least one Text or Link node'],
    [
      { type: 'quote', children: 'x' },
      'blocks[0].children must be a `array` type, but the final value was: `null` (cast from the value `"x"`).',
    ],
    [
      { type: 'quote', children: [{ ...text, bold: 'yes' }] },
      'blocks[0].children[0].bold must be a `boolean` type, but the final value was: `"yes"`.',
    ],
    [{ type: 'quote', children: [{ type: 'link', url: 'x y', children: [text] }] }, 'Please specify a valid link.'],
    [{ type: 'code', children: [{ type: 'link' }] }, '2 errors occurred'],
    [{ type: 'heading', level: 7, children: [text] }, 'blocks[0].level must be one of the following values: 1, 2, 3, 4, 5, 6'],
    [{ type: 'list', format: 'ordered', children: [{ type: 'paragraph', children: [text] }] }, 'Inline node must be list-item or list'],
    [{ type: 'list', format: 'x', children: [] }, 'blocks[0].format must be one of the following values: ordered, unordered'],
  ]
  test.each(cases)('%j', async (node, message) => {
    expect(await refusal('samples', { blocks: [node] })).toBe(message)
  })

  test('are lists in depth, and further members of their nodes are allowed', async () => {
    const item = { type: 'list-item', children: [text] }
    const nested = { type: 'list', format: 'ordered', foo: 1, children: [item, { type: 'list', format: 'unordered', children: [item] }] }
    expect(JSON.parse(String(scalars(await read('samples', { blocks: [nested] })).blocks))).toEqual([nested])
    expect(scalars(await read('samples', { blocks: `${'['.repeat(9000)}${']'.repeat(9000)}` })).blocks).toBeNull()
  })
})

describe('relations', () => {
  const articles = (tags: unknown, options: Options = {}) => read('articles', { tags }, { isDraft: true, ...options })

  test('come in every form and leave in one', async () => {
    expect(relation(await articles('abc'), 'tags')).toEqual({ set: [{ documentId: 'abc' }], besideSet: [], connect: [], disconnect: [] })
    expect(relation(await articles([{ id: '7' }, 8, null, '9']), 'tags')?.set).toEqual([{ id: 7 }, { id: 8 }, { id: 9 }])
    expect(relation(await articles(null), 'tags')?.set).toEqual([])
    expect(relation(await articles({ set: null }), 'tags')).toEqual({ set: null, besideSet: [], connect: [], disconnect: [] })
    expect(relation(await articles({ set: ['a'], connect: ['b'] }), 'tags')).toEqual({
      set: [{ documentId: 'a' }],
      besideSet: [{ documentId: 'b' }],
      connect: [],
      disconnect: [],
    })
    const connect = [{ documentId: 'a', position: { before: 'b', end: true, foo: 1 } }, 'a', 'a']
    expect(relation(await articles({ connect }), 'tags')?.connect).toEqual([
      { documentId: 'a', position: { before: 'b', end: true } },
      { documentId: 'a' },
    ])
  })

  test('are held to the letter by the specification', async () => {
    const strict = { contract: 'specification', isDraft: true } as const
    const twice = { connect: ['a', { documentId: 'a', position: { start: true } }] }
    expect(await refusal('articles', { tags: twice }, strict)).toBe('You cannot connect the same relation twice.')
    expect(await refusal('articles', { tags: { set: [], connect: [] } }, strict)).toMatch(/^set cannot be combined/)
    for (const position of ['start', {}, { start: true, end: true }, { start: 1 }, { before: 5, foo: 1 }, { after: null }])
      expect(await refusal('articles', { tags: { connect: [{ documentId: 'a', position }] } }, strict)).toMatch(/^position must have/)
    expect(await refusal('articles', { cover: { connect: [1] } }, strict)).toMatch(/cannot be used on media$/)
    expect(await refusal('articles', { tags: { connect: ['a'], disconnect: ['b'] }, cover: 1 }, strict)).toBeUndefined()
  })
})

test('too deeply nested or too long values are refused with a short response', async () => {
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  expect(await refusal('samples', { json: nested(5000) })).toBe('The data is nested too deeply')
  const wide = { string: Array.from({ length: 100_000 }, () => [1]) }
  expect(await refusal('samples', wide)).toBe('string must be a `string` type, but the final value was: `[…]`.')
})
