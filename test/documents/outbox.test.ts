// Events: what Strapi's webhooks would have carried, recorded with the change itself, without gaps, and only where somebody listens.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ContentEvent, EntryEvent } from '../../src/events.js'
import type { Document } from '../../src/interface.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

const token = goldenTokens().full!
const json = { 'content-type': 'application/json' }
const send = (served: Served, method: string, path: string, data?: object) =>
  served.ask(path, { method, token, ...(data === undefined ? {} : { headers: json, body: JSON.stringify({ data }) }) })

/** Values that differ from one run to the next become what they are. */
function steady(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((entry) => steady(entry))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, steady(inner, name)]))
  if (value === null) return null
  if (key === 'id') return '(id)'
  if (key === 'documentId' && value !== 'nobody') return '(documentId)'
  if (key === 'createdAt' || key === 'updatedAt' || key === 'publishedAt') return '(moment)'
  return typeof value === 'string' ? value.replace(/\b([ab])_[0-9a-f]{10}/, '$1_(hash)') : value
}

describe('beside recordings of Strapi', () => {
  interface Step {
    readonly rest?: readonly [method: string, path: string, data?: object]
    readonly service?: readonly [uid: string, method: 'publish', parameters: { documentId: string }]
    readonly upload?: readonly [method: string, path: string, file: string | null, info?: object]
    readonly answer?: unknown
    readonly events: readonly ContentEvent[]
  }
  const lines = readFileSync(join(import.meta.dirname, 'strapi-events.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const made: { documentId?: string; id?: number }[] = []
  let served: Served
  let sequence = 0
  beforeAll(async () => {
    served = await serveGolden({ config: { events: { outbox: true } } })
  })
  afterAll(() => served.close())

  /** `$3` and `@3` stand for the documentId and the id that the fourth step answered. */
  const filled = (line: string): Step =>
    JSON.parse(line.replace(/\$(\d+)/g, (_, step) => made[step]!.documentId!).replace(/@(\d+)/g, (_, step) => String(made[step]!.id)))

  async function perform({ rest, service, upload }: Step): Promise<unknown> {
    if (service !== undefined) return served.service.documents(service[0])[service[1]](service[2])
    if (rest !== undefined) return (await send(served, ...(rest as [string, string]))).body
    const [method, path, file, info] = upload!
    const body = new FormData()
    if (file !== null) body.set('files', new Blob([`content of ${file}`], { type: 'text/plain' }), file)
    if (info !== undefined) body.set('fileInfo', JSON.stringify(info))
    return (await served.ask(path, { method, token, body })).body
  }

  /** Strapi's document service shows passwords and private attributes, and the locale of what has none. Ours does not. */
  const shown = (answer: unknown): unknown =>
    JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
      key === 'secretCode' || key === 'internalNote' || (key === 'locale' && value === null) ? undefined : value,
    )

  test.each(lines.map((line, index) => [index, line.slice(0, 110), line] as const))('%i: %s', async (_, __, line) => {
    const step = filled(line)
    const answer = (await perform(step)) as { data?: Document } & Partial<Document>
    const file = (Array.isArray(answer) ? answer[0] : answer) as { id?: number } | null
    made.push({ documentId: answer?.data?.documentId ?? answer?.documentId, id: file?.id })
    const events = await served.service.events.after(sequence)
    expect(events.map((event) => event.sequence)).toEqual(events.map((_event, index) => sequence + 1 + index))
    sequence += events.length
    expect(steady(events.map(({ sequence: _sequence, ...payload }) => payload))).toEqual(steady(step.events))
    if (step.service !== undefined) expect(steady(answer ?? null)).toEqual(steady(shown(step.answer)))
  })
})
