// Writers and readers of one database through some services, and their responses: nothing acknowledged is lost or doubled, each
// response is true, and a read that begins after a write was acknowledged sees it.
import { pause, range } from '../servers/notes-service.js'
import { requestAt } from '../support/serve.js'

/** Responses to writers and readers. */
export interface History {
  /** The codes of notes, by whether their creation was acknowledged. */
  readonly created: ReadonlyMap<string, boolean>
  /** The titles of memos, each with a component, likewise. */
  readonly memos: ReadonlyMap<string, boolean>
  /** The last number that a writer gave its note and that was acknowledged, and the last that it sent, by the note's code. */
  readonly counters: ReadonlyMap<string, { readonly acknowledged: number; readonly sent: number }>
  /** Answers that are neither success nor 503 with Retry-After. */
  readonly wrong: readonly string[]
  /** Reads that contradict a write acknowledged before they began, or that show a value that was never sent. */
  readonly stale: readonly string[]
  /** Times of acknowledged writes, and of answered reads; `performance.now()`. */
  readonly written: readonly number[]
  readonly read: readonly number[]
  /** Number of 503 responses. */
  readonly refused: number
}

export interface Load {
  /** The history so far. */
  readonly history: History
  /** Waits until all requests are answered. */
  stop(): Promise<History>
}

interface LoadOptions {
  readonly writers: number
  readonly readers: number
  /** Milliseconds that each rests between two requests. */
  readonly rest: number
  /** The beginning of every code. */
  readonly label: string
  /** True if services may end: unanswered requests may have been executed or not, like refused ones. */
  readonly mayEnd?: boolean
}

interface Counter {
  documentId: string
  acknowledged: number
  sent: number
  /** The highest number that a read has shown. */
  seen: number
}

/** Milliseconds after which a request counts as hanging. */
const patience = 30_000

/**
 * Writer i writes through service i, and readers read its documents through another one. The counters of writers are created first.
 */
export async function startLoad(origins: readonly string[], { writers, readers, rest, label, mayEnd = false }: LoadOptions): Promise<Load> {
  const created = new Map<string, boolean>()
  const memos = new Map<string, boolean>()
  const counters = new Map<string, Counter>()
  const history = { created, memos, counters, wrong: [] as string[], stale: [] as string[], written: [] as number[], read: [] as number[] }
  let [isOver, refused] = [false, 0]

  async function request(origin: string, path: string, method = 'GET', data?: object) {
    const began = performance.now()
    const body = data === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) }
    const answer = await requestAt(origin, path, { method, ...body })
    const took = performance.now() - began
    if (took > patience) history.wrong.push(`${method} ${path} took ${Math.round(took)} ms`)
    if (answer.status === 503 && answer.headers.get('retry-after') !== null) refused++
    else if (answer.status >= 300) history.wrong.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    else (method === 'GET' ? history.read : history.written).push(performance.now())
    return answer
  }

  async function write(writer: number, turn: number): Promise<void> {
    const origin = origins[writer % origins.length]!
    const [code, name] = [`${label} ${writer}`, `${label} ${writer} ${turn}`]
    if (turn % 4 === 2) {
      created.set(name, false)
      created.set(name, (await request(origin, '/api/notes', 'POST', { code: name })).status === 201)
    } else if (turn % 4 === 3) {
      memos.set(name, false)
      memos.set(name, (await request(origin, '/api/memos', 'POST', { title: name, part: { name } })).status === 201)
    } else {
      const counter = counters.get(code)!
      const sent = ++counter.sent
      const { status } = await request(origin, `/api/notes/${counter.documentId}`, 'PUT', { text: String(sent) })
      if (status === 200) counter.acknowledged = sent
    }
  }

  async function read(reader: number, turn: number): Promise<void> {
    const writer = (reader + turn) % writers
    // Not the service that wrote it, where there are several.
    const origin = origins[(writer + 1 + (reader % Math.max(1, origins.length - 1))) % origins.length]!
    const counter = counters.get(`${label} ${writer}`)!
    const least = Math.max(counter.acknowledged, counter.seen)
    const { status, body } = await request(origin, `/api/notes/${counter.documentId}`)
    if (status !== 200) return
    const shown = Number(body.data.text)
    if (shown < least || shown > counter.sent)
      history.stale.push(`note ${writer} is ${shown}; between ${least} and ${counter.sent} expected`)
    counter.seen = Math.max(counter.seen, shown)
  }

  async function repeat(work: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !isOver; turn++) {
      await work(turn).catch((error: unknown) => {
        if (mayEnd && error instanceof TypeError) refused++
        else history.wrong.push(String((error as Error).cause ?? error))
      })
      await pause(rest)
    }
  }

  for (const writer of range(writers)) {
    const code = `${label} ${writer}`
    const { body, status, text } = await request(origins[writer % origins.length]!, '/api/notes', 'POST', { code, text: '0' })
    if (status !== 201) throw new Error(text)
    created.set(code, true)
    counters.set(code, { documentId: body.data.documentId, acknowledged: 0, sent: 0, seen: 0 })
  }
  const running = [
    ...range(writers).map((writer) => repeat((turn) => write(writer, turn))),
    ...range(readers).map((reader) => repeat((turn) => read(reader, turn))),
  ]
  const now = (): History => ({ ...history, refused })
  return {
    get history() {
      return now()
    },
    stop: async () => {
      isOver = true
      await Promise.all(running)
      return now()
    },
  }
}

type Run = (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/** Contradictions between a history and the database: writes lost or doubled, halves of documents, numbers that went back. */
export async function contradictions({ created, memos, counters }: History, run: Run): Promise<readonly string[]> {
  const notes = await run('select code, text from notes')
  const parts = await run(
    `select m.title, c.name from memos m left join memos_cmps j on j.entity_id = m.id left join components_desk_parts c on c.id = j.cmp_id`,
  )
  const count = (names: readonly unknown[], name: string) => names.filter((one) => one === name).length
  const codes = notes.map(({ code }) => code)
  const titles = parts.map(({ title }) => title)
  /** A row for each of `rows`, where it was acknowledged; otherwise the same or none. */
  const misplaced = (kind: string, sent: ReadonlyMap<string, boolean>, names: readonly unknown[], rows: number) =>
    [...sent].flatMap(([name, isAcknowledged]) => {
      const found = count(names, name)
      if (found === rows || (found === 0 && !isAcknowledged)) return []
      return [`${kind} ${name}, ${isAcknowledged ? 'acknowledged' : 'refused'}, has ${found} rows instead of ${rows}`]
    })
  return [
    ...misplaced('note', created, codes, 1),
    // A draft, and its publication.
    ...misplaced('memo', memos, titles, 2),
    ...parts.filter(({ title, name }) => title !== name).map(({ title, name }) => `memo ${title} has the part ${name}`),
    ...[...counters].flatMap(([code, { acknowledged, sent }]) => {
      const number = Number(notes.find((note) => note.code === code)?.text)
      return number >= acknowledged && number <= sent ? [] : [`note ${code} is ${number}; ${acknowledged} was acknowledged, ${sent} sent`]
    }),
  ]
}

/** Milliseconds from `since` until the first success after it in `moments`; null: there is none. */
export const firstAfter = (moments: readonly number[], since: number): number | null => {
  const first = moments.find((moment) => moment > since)
  return first === undefined ? null : first - since
}

/** The longest time between two successes after `since`; milliseconds. */
export function longestGap(moments: readonly number[], since: number): number {
  const after = [since, ...moments.filter((moment) => moment > since)]
  return Math.max(0, ...after.slice(1).map((moment, index) => moment - after[index]!))
}
