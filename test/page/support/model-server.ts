// A small server for tests of the form: it carries out PATCH bodies on one document, as rules administration-saving.1 to 6 say.
import type { ServerError } from '../../../admin/form/errors.js'
import type { ListOperation, PatchBody } from '../../../admin/form/patch.js'
import type { Outcome, ServerDocument } from '../../../admin/form/saver.js'
import type { Shape } from '../../../admin/form/values.js'

type Row = Record<string, unknown>

/** The type of all tests of the form. */
export const shape: Shape = {
  attributes: {
    title: { type: 'string' },
    kicker: { type: 'string' },
    summary: { type: 'text' },
    note: { type: 'text' },
    data: { type: 'json' },
    seo: { type: 'component', component: 'shared.seo' },
    sections: { type: 'dynamiczone', components: ['block.text', 'block.quote'] },
    links: { type: 'component', component: 'shared.link', repeatable: true },
    tags: { type: 'relation', relation: 'manyToMany' },
    author: { type: 'relation', relation: 'manyToOne' },
    gallery: { type: 'media', multiple: true },
  },
  components: {
    'shared.seo': { attributes: { metaTitle: { type: 'string' }, metaDescription: { type: 'text' } } },
    'shared.link': { attributes: { label: { type: 'string' }, url: { type: 'string' } } },
    'block.text': {
      attributes: {
        heading: { type: 'string' },
        text: { type: 'text' },
        links: { type: 'component', component: 'shared.link', repeatable: true },
      },
    },
    'block.quote': { attributes: { text: { type: 'text' }, data: { type: 'json' } } },
  },
}

/** Texts with this letter are refused. */
export const refusedLetter = '✗'

/** A server with one document. */
export interface ModelServer {
  document(): ServerDocument | null
  create(data: Row, idempotencyKey: string): Outcome
  change(body: PatchBody, revision: string | null): Outcome
  /** A change by another administrator. */
  edit(change: (draft: Row) => void): void
  delete(): void
  /** Gives an entry an id. */
  withIds(entry: Row): Row
}

/** Creates the server; `draft` null: without the document. */
export function createModelServer(draft: Row | null): ModelServer {
  let lastId = 100
  let revision = 1
  let isDeleted = false
  const keys = new Map<string, Outcome>()
  const withIds = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withIds)
    return value
  }
  const newEntry = (given: Row): Row => {
    const members = Object.entries(given).map(([name, value]) => [
      name,
      isEntryList(name) && Array.isArray(value) ? value.map(newEntry) : withIds(value),
    ])
    return { id: ++lastId, ...Object.fromEntries(members) }
  }
  let stored: Row | null = draft === null ? null : structuredClone(draft)
  const present = (): ServerDocument | null =>
    stored === null || isDeleted ? null : { documentId: 'doc', revision: `r${revision}`, draft: structuredClone(stored) }

  const create = (data: Row, idempotencyKey: string): Outcome => {
    const earlier = keys.get(idempotencyKey)
    if (earlier !== undefined) return earlier
    if (stored !== null) throw new Error('The document is created twice')
    const refused: ServerError[] = []
    stored = toStored(newEntry(keep(data, [], refused)))
    const document = present()!
    const outcome: Outcome = { kind: 'stored', documentId: 'doc', revision: document.revision, document, refused }
    keys.set(idempotencyKey, outcome)
    return structuredClone(outcome)
  }

  const change = ({ changes, lists }: PatchBody, expected: string | null): Outcome => {
    if (stored === null || isDeleted) return { kind: 'gone' }
    if (expected !== `r${revision}`) return { kind: 'stale', document: present()! }
    const refused: ServerError[] = []
    const ids: Record<string, number> = {}
    const next = structuredClone(stored)
    // Positions are those before the operations.
    const resolve = resolver(stored, next)
    for (const [path, operations] of Object.entries(lists)) {
      const { owner, name } = resolve(path)
      owner[name] = applyOperations((owner[name] ?? []) as Row[], operations, (given, key) => {
        const entry = newEntry(keep(given, [...path.split('/'), key], refused))
        noteIds(ids, `${path}/${key}`, entry)
        return entry
      })
    }
    for (const [path, value] of Object.entries(changes)) {
      if (isRefused(value)) refused.push({ path: path.split('/'), message: 'refused', code: 'invalid' })
      else {
        const { owner, name } = resolve(path)
        owner[name] = applyValue(name, owner[name], value, (given) => newEntry(keep(given, path.split('/'), refused)))
      }
    }
    stored = next
    revision += 1
    return { kind: 'stored', revision: `r${revision}`, refused, ids }
  }
  return {
    document: present,
    create,
    change,
    withIds: newEntry,
    edit(work) {
      if (stored === null || isDeleted) return
      const before = JSON.stringify(stored)
      work(stored)
      if (JSON.stringify(stored) !== before) revision += 1
    },
    delete() {
      isDeleted = true
    },
  }
}

const entryLists = new Set(['sections', 'links'])
const isEntryList = (name: string) => entryLists.has(name)
const isRefused = (value: unknown) => typeof value === 'string' && value.includes(refusedLetter)

/** An entry without the values that are refused, which are noted. */
function keep(entry: Row, path: readonly string[], refused: ServerError[]): Row {
  const members = Object.entries(entry).flatMap(([name, value]): [string, unknown][] => {
    if (isRefused(value)) {
      refused.push({ path: [...path, name], message: 'refused', code: 'invalid' })
      return []
    }
    if (isEntryList(name) && Array.isArray(value))
      return [[name, value.map((item, index) => keep(item, [...path, name, String(index)], refused))]]
    return [[name, name === 'seo' && value !== null ? keep(value as Row, [...path, name], refused) : value]]
  })
  return Object.fromEntries(members)
}

function noteIds(ids: Record<string, number>, path: string, entry: Row): void {
  ids[path] = entry.id as number
  for (const [name, value] of Object.entries(entry))
    if (isEntryList(name) && Array.isArray(value))
      for (const [index, item] of value.entries()) noteIds(ids, `${path}/${name}/${index}`, item as Row)
}

const nameOf = ({ id, __component: uid }: Row): string => `${uid === undefined ? '' : String(uid)}#${String(id)}`
const find = (list: readonly Row[], name: string): Row | undefined =>
  /^\d+$/.test(name) ? list[Number(name)] : list.find((item) => nameOf(item) === name)

/** Finds the owner of a value in the next document; entries are those that the stored one has by the same name. */
function resolver(stored: Row, next: Row) {
  const byId = new Map<string, Row>()
  const collect = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) collect(item, path)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (isEntryList(name) && Array.isArray(inner)) for (const item of inner as Row[]) byId.set(`${path}/${name}/${nameOf(item)}`, item)
        collect(inner, `${path}/${name}`)
      }
    }
  }
  collect(next, '')
  return (path: string): { readonly owner: Row; readonly name: string } => {
    const parts = path.split('/')
    const name = parts.pop()!
    let [old, at, kind] = [stored as unknown, next as unknown, '']
    for (const part of parts) {
      if (Array.isArray(old)) {
        const entry = find(old as Row[], part)
        if (entry === undefined) throw new Error(`${path} leads nowhere`)
        at = byId.get(`${kind}/${nameOf(entry)}`)
        old = entry
      } else {
        kind = `${kind}/${part}`
        old = (old as Row)[part]
        at = (at as Row)[part]
      }
    }
    if (typeof at !== 'object' || at === null) throw new Error(`${path} leads nowhere`)
    return { owner: at as Row, name }
  }
}

function applyOperations(list: readonly Row[], operations: readonly ListOperation[], create: (given: Row, key: string) => Row): Row[] {
  const order = [...list]
  const inserted = new Map<string, Row>()
  const concerned = new Set<Row>()
  const stored = (name: string): Row => {
    const found = find(list, name)
    if (found === undefined) throw new Error(`The list has no entry ${name}`)
    return found
  }
  for (const operation of operations) {
    const item =
      'insert' in operation
        ? create(operation.insert as Row, operation.key)
        : stored('move' in operation ? operation.move : operation.remove)
    if (concerned.has(item)) throw new Error('The entry has two operations')
    concerned.add(item)
    if (!('insert' in operation)) order.splice(order.indexOf(item), 1)
    if ('insert' in operation) inserted.set(operation.key, item)
    if ('remove' in operation) continue
    const neighbour = operation.after === undefined ? null : (inserted.get(operation.after) ?? stored(operation.after))
    if (neighbour !== null && !order.includes(neighbour)) throw new Error('The same request removes the neighbour')
    order.splice(neighbour === null ? (operation.at === 'start' ? 0 : order.length) : order.indexOf(neighbour) + 1, 0, item)
  }
  return order
}

const linkName = ({ documentId, locale }: Row) => `${String(documentId)}:${String(locale)}`

function applyValue(name: string, stored: unknown, value: unknown, create: (given: Row) => Row): unknown {
  if (name === 'seo') return value === null ? null : create(value as Row)
  if (name === 'gallery') return (value as readonly number[]).map((id) => ({ id }))
  if (name === 'author') return value === null ? null : ((value as { set: Row[] }).set[0] ?? null)
  if (name !== 'tags') return value
  const { connect = [], disconnect = [] } = value as { readonly connect?: readonly Row[]; readonly disconnect?: readonly Row[] }
  const gone = new Set(disconnect.map(linkName))
  const list = ((stored ?? []) as Row[]).filter((link) => !gone.has(linkName(link)))
  for (const { position, ...link } of connect) {
    const at = list.findIndex((one) => linkName(one) === linkName(link))
    if (at >= 0) list.splice(at, 1)
    const { after, start } = position as { readonly after?: string; readonly start?: boolean }
    const neighbour = list.findIndex(({ documentId }) => documentId === after)
    if (after !== undefined && neighbour < 0) throw new Error('The neighbour is not linked')
    list.splice(start === true ? 0 : after === undefined ? list.length : neighbour + 1, 0, link)
  }
  return list
}

/** A document that is made has all attributes. */
function toStored(data: Row): Row {
  const tags = (data.tags as { set?: Row[] } | undefined)?.set ?? []
  const gallery = ((data.gallery ?? []) as readonly number[]).map((id) => ({ id }))
  const author = (data.author as { set?: Row[] } | null | undefined)?.set?.[0] ?? null
  return { ...data, tags, gallery, author, sections: data.sections ?? [], links: data.links ?? [] }
}
