// Readers and writers of one type, during any changes of its other attributes and of other types: nothing may fail, and every response
// includes the writes before its request.
import type { Served, TestResponse } from '../support/serve.js'
import { type Chances, pluralOf, type RandomModel } from './random-model.js'

/** A document of a writer, with its known values. */
interface Written {
  documentId: string
  /** Number of its changes; label and links follow from it. */
  count: number
  state: 'there' | 'leaving' | 'gone'
}

/** The numbers of documents from here on are those of writers. */
export const firstWritten = 1_000
const mostWritten = 25
/** Leaves some of the processor to the changes. */
const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 3))

export interface Company {
  /** Stops new requests, and resolves to the errors once all have ended. */
  end(): Promise<readonly string[]>
  readonly requests: () => number
}

interface CompanyOptions {
  readonly served: Served
  readonly token: string
  readonly by: Chances
  /** The documents that writers link to, in the order of their numbers. */
  readonly anchors: readonly string[]
  readonly model: () => RandomModel
  /** Changes of the model so far, for messages. */
  readonly history: () => string
}

/** Starts readers and writers. */
export function keepCompany({ served, token, by, anchors, model, history }: CompanyOptions): Company {
  const written = new Map<number, Written>()
  const found: string[] = []
  let [isOver, requests, next] = [false, 0, firstWritten]

  /** The first few messages say enough. */
  const note = (what: string): void => {
    if (found.length < 10) found.push(`${history()}: ${what}`)
  }

  async function request(path: string, method = 'GET', data?: object): Promise<TestResponse | null> {
    const headers = { 'content-type': 'application/json' }
    try {
      const body = data === undefined ? {} : { body: JSON.stringify({ data }), headers }
      const answer = await served.request(path, { method, token, ...body })
      requests++
      if (answer.status >= 500) note(`${method} ${path}: ${answer.text}`)
      return answer
    } catch (error) {
      note(`${method} ${path}: ${String(error)}`)
      return null
    }
  }

  const valuesOf = (number: number, count: number) => ({
    ...{ number, count, label: `${number}, ${count}`, anchor: anchors[count % anchors.length] },
    anchors: [anchors[(count + 1) % anchors.length], anchors[count % anchors.length]],
  })

  /** Sends a write that has to succeed. */
  async function write(method: string, number: number, count: number, id = ''): Promise<TestResponse | null> {
    const answer = await request(
      `/api/bases${id === '' ? '' : `/${id}`}`,
      method,
      method === 'DELETE' ? undefined : valuesOf(number, count),
    )
    if (answer === null || answer.status < 300) return answer
    note(`${method} ${number}: ${answer.text}`)
    return null
  }

  async function create(): Promise<void> {
    const number = next++
    const answer = await write('POST', number, 0)
    if (answer !== null) written.set(number, { documentId: answer.body.data.documentId, count: 0, state: 'there' })
  }

  async function writer(): Promise<void> {
    while (!isOver) {
      const free = [...written].filter(([number, { state }]) => state === 'there' && !busy.has(number))
      if (free.length === 0 || (free.length < mostWritten && by.is(0.3))) await create()
      else await change(...by.pick(free))
      await pause()
    }
  }

  /** The documents that a writer is changing. */
  const busy = new Set<number>()

  async function change(number: number, one: Written): Promise<void> {
    busy.add(number)
    if (by.is(0.1)) {
      one.state = 'leaving'
      if ((await write('DELETE', number, 0, one.documentId)) !== null) one.state = 'gone'
    } else if ((await write('PUT', number, one.count + 1, one.documentId)) !== null) one.count++
    busy.delete(number)
  }

  /** Reports errors in the rows of a response, according to the documents known at its request. */
  function check(query: string, { body, status, text }: TestResponse, known: ReadonlyMap<number, Written>): void {
    if (status !== 200) return void note(text)
    const rows = new Map<number, Record<string, never>>()
    for (const row of body.data) {
      if (rows.has(row.number)) note(`${row.number} twice`)
      rows.set(row.number, row)
      const { label, anchor, anchors: list } = valuesOf(row.number, row.count)
      const shown = [row.label, row.anchor?.documentId, ...(row.anchors ?? []).map(({ documentId }: Written) => documentId)]
      // Without Draft & Publish, relations show the published version; its draft may not be linked after a switch.
      const isAside = query.includes('draft') && row.publishedAt !== null
      const isRight = isAside ? row.label === label : JSON.stringify(shown) === JSON.stringify([label, anchor, ...list])
      if (!isRight) note(`wrong values: ${JSON.stringify(row)}`)
    }
    if (body.meta.pagination.total !== body.data.length) note(`${body.data.length} rows, total ${body.meta.pagination.total}`)
    if (new Set(body.data.map((row: object) => Object.keys(row).sort().join())).size > 1) note('rows of two models')
    for (const [number, { count, state }] of known) {
      const row = rows.get(number)
      // live-model.14: an undone switch of Draft & Publish brings drafts back, also those of documents that were deleted since.
      const isDraft = query.includes('draft') && (row as { publishedAt?: unknown } | undefined)?.publishedAt === null
      if (state === 'gone' && row !== undefined && !isDraft) note(`${number} was deleted`)
      if (state !== 'there' || written.get(number)!.state !== 'there') continue
      if (row === undefined) note(`${number} is not there`)
      else if (Number(row.count) < count) note(`${number} has the count ${String(row.count)}, not ${count}`)
    }
  }

  async function reader(query: string): Promise<void> {
    const path = `/api/bases?filters[number][$gte]=${firstWritten}&sort=number&populate[anchor]=true&populate[anchors]=true&pagination[pageSize]=100${query}`
    while (!isOver) {
      const known = new Map([...written].map(([number, one]) => [number, { ...one }]))
      const answer = await request(path)
      if (answer !== null) check(query, answer, known)
      await pause()
    }
  }

  /** Reads anything that exists or existed just before: refusals are allowed, failures are not. */
  async function wanderer(): Promise<void> {
    while (!isOver) {
      const names = Object.keys(model().types)
      const name = by.pick(names)
      const attribute = by.pick([...Object.keys(model().types[name]!.attributes), 'number'])
      const query = by.pick([
        'populate=*',
        `sort=${attribute}`,
        `filters[${attribute}][$notNull]=true`,
        '_q=one',
        'populate=*&status=draft',
      ])
      await request(`/api/${pluralOf(name)}?${query}`)
      await pause()
    }
  }

  const all = [writer(), writer(), reader(''), reader('&status=draft'), wanderer()]
  return {
    requests: () => requests,
    end: async () => {
      isOver = true
      await Promise.all(all)
      return found
    },
  }
}
