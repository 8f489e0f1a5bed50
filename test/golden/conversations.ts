// Recorded conversations: read from their files, held again with a service, compared step by step.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenProject, goldenTokens } from '../support/serve.js'
import { firstDifference, madeUpValues, ordered } from './compare.js'

interface FormPart {
  readonly name: string
  readonly value?: string
  /** A file of the golden project. */
  readonly file?: string
  readonly filename?: string
  readonly type?: string
}

interface Request {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly rawBody?: string
  readonly form?: readonly FormPart[]
}

export interface Step {
  readonly request: Request
  readonly response: { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string | null> }
}

export interface Conversation {
  readonly name: string
  readonly steps: readonly Step[]
  /** Strapi wrote no order: lists are compared as sets. */
  readonly unordered?: boolean
  /** Ids and times are the server's own. */
  readonly writes?: boolean
}

const folder = dirname(fileURLToPath(import.meta.url))
const tokens = goldenTokens()

/** Differences from the recordings that are meant, by file. */
export const allowed = JSON.parse(readFileSync(join(folder, 'differences.json'), 'utf8')) as Record<
  string,
  readonly { readonly name: string; readonly why: string }[]
>

export function conversationsOf(file: string, database: RecordedDatabase = 'sqlite'): readonly Conversation[] {
  const common = read(join(folder, file))
  if (database === 'sqlite') return common
  const own = existsSync(join(folder, database, file)) ? read(join(folder, database, file)) : []
  const order = JSON.parse(readFileSync(join(folder, database, 'order.json'), 'utf8')) as Record<'skip' | 'unordered', readonly Named[]>
  const isIn = (list: readonly Named[], { name }: Conversation) => list.some((one) => one.name === name && `${one.file}.gz` === file)
  return common
    .filter((conversation) => !isIn(order.skip, conversation))
    .map((conversation) => own.find(({ name }) => name === conversation.name) ?? conversation)
    .map((conversation) => (isIn(order.unordered, conversation) ? { ...conversation, unordered: true } : conversation))
}

/** The database that Strapi was recorded on. Results specific to another one replace those of SQLite. */
export type RecordedDatabase = 'sqlite' | 'postgres' | 'mariadb'

interface Named {
  readonly file: string
  readonly name: string
}

const read = (path: string): readonly Conversation[] =>
  gunzipSync(readFileSync(path))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Conversation)

/** Sends the request of a step; `earlier` are the responses that its `{{…}}` refer to. */
export async function hold(served: Served, { request }: Step, earlier: readonly TestResponse[] = []): Promise<TestResponse> {
  const filled = fill(request, earlier) as Request
  const { method = 'GET', path, token, body, rawBody, form } = filled
  const bearer = token === undefined || token === 'none' ? undefined : (tokens[token] ?? token)
  const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
  return served.request(path, {
    method,
    headers: { 'accept-encoding': 'gzip, br', ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...filled.headers },
    ...(bearer === undefined ? {} : { token: bearer }),
    ...(form === undefined ? (text === undefined ? {} : { body: text }) : { body: formData(form) }),
  })
}

function formData(parts: readonly FormPart[]): FormData {
  const form = new FormData()
  for (const { name, value, file, filename, type } of parts) {
    if (file === undefined) form.append(name, value ?? '')
    else
      form.append(name, new Blob([readFileSync(join(goldenProject, file))], type === undefined ? {} : { type }), filename ?? basename(file))
  }
  return form
}

/** Replaces `{{0.body.data.id}}` by the value in the first response. */
function fill(value: unknown, earlier: readonly TestResponse[]): unknown {
  if (typeof value === 'string') {
    const whole = /^\{\{([^}]+)\}\}$/.exec(value)
    return whole === null
      ? value.replace(/\{\{([^}]+)\}\}/g, (_, path: string) => String(lookUp(path, earlier)))
      : lookUp(whole[1]!, earlier)
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, earlier))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, earlier)]))
}

function lookUp(path: string, earlier: readonly TestResponse[]): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], earlier)
}

/** The names of the conversations that differ from the recording. */
export async function differing(served: Served, file: string, database: RecordedDatabase = 'sqlite'): Promise<string[]> {
  const names: string[] = []
  for (const conversation of conversationsOf(file, database))
    if ((await difference(served, conversation)) !== null) names.push(conversation.name)
  return names
}

async function difference(served: Served, { steps, unordered = false, writes = false }: Conversation): Promise<string | null> {
  const fixed = new Set(JSON.stringify(steps.map(({ request }) => request)).match(/\b[a-z][a-z0-9]{23}\b/g))
  const madeUp = writes ? madeUpValues(fixed) : null
  const answers: TestResponse[] = []
  for (const step of steps) {
    const got = await hold(served, step, answers)
    answers.push(got)
    const { status, body, headers = {} } = step.response
    // Where Strapi fails, any response without a failure is accepted.
    if (status >= 500 && got.status < 500) continue
    if (got.status !== status) return `status ${got.status} in place of ${status}`
    for (const [name, value] of Object.entries(headers)) {
      if (got.headers.get(name) !== value) return `header ${name} is ${got.headers.get(name)} in place of ${value}`
    }
    const found = unordered
      ? firstDifference(ordered(body, writes), ordered(got.body, writes), madeUp)
      : firstDifference(body, got.body, madeUp)
    if (found !== null) return found
  }
  return null
}
