// The project's hooks. Hooks around writes run before the transaction and after its commit, in the main thread, so that no project code
// runs while the writer is occupied. Hooks around reads may change the query before, and the response after.
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { CodeLog, ContentService } from '../../../foundation/public/content-service.js'
import type { Data, Document } from '../../../foundation/public/documents.js'
import type { AfterCall, BeforeCall, Hook } from '../../../foundation/public/hooks.js'
import type { ReadBeforeCall, ReadHooks, ReadResponse, TypeSettings } from '../../../foundation/public/type-settings.js'
import { runCode } from '../../../foundation/runtime/project-code.js'
import type { Model } from '../../../model/schema/types.js'
import type { Parameters } from '../../../query/request.js'
import type { Hooks, WriteOperation, WriteResult } from '../operation.js'
import type { CodeRequest, FindReadHooks, Policies, TypeReadHooks } from '../read/plans.js'
import { type TypeCodeOptions, toCodeCall, toResponseError } from './policies.js'

/** Maximum nesting depth of operations started by hooks. */
const maxHookDepth = 5

interface HookOptions {
  /** Time limit of each hook, in milliseconds. */
  readonly hookTimeout: number
  /** The services for hooks of an operation at this depth, for this request. */
  services(depth: number, requestId: string | null): ContentService
  log(hook: string, requestId: string | null): CodeLog
  /** Reports an after-hook that failed or timed out, with the id of its request, if any. */
  failed(hook: string, error: unknown, requestId: string | null): void
}

interface NamedHook {
  readonly name: string
  readonly hook: Hook
}

/** Returns null if there are none, so that they cost nothing. */
export function createHooks(hooks: readonly Hook[], options: HookOptions): Hooks | null {
  if (hooks.length === 0) return null
  const { hookTimeout, failed, log } = options
  const named: readonly NamedHook[] = hooks.map((hook, index) => ({ name: hook.name ?? `hooks[${index}]`, hook }))

  async function before(operation: WriteOperation): Promise<WriteOperation> {
    if (operation.write.depth > maxHookDepth)
      throw new Error(`Hooks start operations inside of each other, more than ${maxHookDepth} levels deep`)
    const isSeen = matching(named, 'after', operation).length > 0
    const { data } = operation
    const { requestId } = operation.write
    // Invalid data is refused when it is read.
    const isData = data === null || !Array.isArray(data)
    const sent = new Set(Object.keys(data ?? {}))
    const call = { ...toHookCall(operation, options), documentId: operation.documentId, data: data as BeforeCall['data'] }
    for (const { name, hook } of isData ? matching(named, 'before', operation) : []) {
      try {
        // All hooks share one object, so each sees the changes of its predecessors.
        await runCode({ name, requestId }, hookTimeout, (signal) =>
          hook.before!(Object.assign(call, { signal, log: log(name, requestId) })),
        )
      } catch (error) {
        throw toResponseError(name, error)
      }
    }
    if (data === null) return { ...operation, isSeen }
    return { ...operation, data: call.data, addedByHooks: new Set(Object.keys(call.data ?? {}).filter((key) => !sent.has(key))), isSeen }
  }

  async function after(operation: WriteOperation, { documentId, entries }: WriteResult): Promise<void> {
    const called = matching(named, 'after', operation)
    const { requestId } = operation.write
    if (called.length === 0) return
    const shown = entries.map(({ whole }) => JSON.parse(whole!) as Document)
    const data = operation.data as Data | null
    const call: Omit<AfterCall, 'signal' | 'log'> = { ...toHookCall(operation, options), documentId, data, entries: shown }
    for (const { name, hook } of called) {
      try {
        await runCode({ name, requestId }, hookTimeout, (signal) => hook.after!({ ...call, signal, log: log(name, requestId) }))
      } catch (error) {
        failed(name, error, requestId)
      }
    }
  }
  return { before, after }
}

/** The hooks with this part that apply to an operation. */
const matching = (hooks: readonly NamedHook[], part: 'before' | 'after', { action, write: { type } }: WriteOperation) =>
  hooks.filter(
    ({ hook }) =>
      hook[part] !== undefined && (hook.types?.includes(type.uid) ?? true) && (hook.actions === undefined || hook.actions.includes(action)),
  )

/** Describes an operation to hooks. */
function toHookCall(operation: WriteOperation, { services }: HookOptions) {
  const { action, write, locale, everywhere } = operation
  const publishes = action === 'publish' || (action !== 'delete' && operation.publishes && operation.data !== null)
  return {
    action,
    uid: write.type.uid,
    locale: everywhere && write.type.localized ? '*' : locale,
    status: publishes ? ('published' as const) : ('draft' as const),
    caller: write.caller,
    ...services(write.depth + 1, write.requestId),
  }
}

/** @throws ConfigError for hooks of types that the model lacks */
export function checkHooks(hooks: readonly Hook[], model: Model): void {
  for (const [index, { name = `hooks[${index}]`, types = [] }] of hooks.entries()) {
    const unknown = types.find((uid) => !model.types.has(uid))
    if (unknown !== undefined) throw new ConfigError(`Invalid configuration (octavo.config): ${name}: there is no type ${unknown}.`)
    const silent = types.find((uid) => model.types.get(uid)?.exposed === false)
    if (silent !== undefined)
      throw new ConfigError(
        `Invalid configuration (octavo.config): ${name}: hooks run for content-types of the project alone, never for ${silent}. Accounts and files are written through separate routes; events report them (docs/guide/code.md).`,
      )
  }
}

/** Policies and hooks around reads; null if there are none, so that they cost nothing. */
export function createReadHooks(
  types: Readonly<Record<string, TypeSettings>>,
  policies: Policies | null,
  options: TypeCodeOptions,
): FindReadHooks | null {
  const around = new Map(
    Object.entries(types).flatMap(([uid, { policies: own, reads }]) =>
      reads === undefined && own?.find === undefined && own?.findOne === undefined
        ? []
        : [[uid, createAroundReads(uid, reads ?? {}, policies, options)] as const],
    ),
  )
  return around.size === 0 ? null : (uid) => around.get(uid) ?? null
}

function createAroundReads(uid: string, { before, after }: ReadHooks, policies: Policies | null, options: TypeCodeOptions): TypeReadHooks {
  async function run(name: string, { requestId }: CodeRequest, work: (signal: AbortSignal) => unknown): Promise<void> {
    try {
      await runCode({ name, requestId }, options.hookTimeout, async (signal) => void (await work(signal)))
    } catch (error) {
      throw toResponseError(name, error)
    }
  }

  return {
    before: async (asked) => {
      await policies?.check(asked)
      if (before === undefined) return asked.parameters
      const call = { ...toCodeCall(asked, options), query: structuredClone(asked.parameters) as ReadBeforeCall['query'] }
      const name = `the hook before reads of ${uid}`
      let query: Parameters = {}
      await run(name, asked, async (signal) => {
        await before(Object.assign(call, { signal }) as ReadBeforeCall)
        query = toPlainQuery(name, call.query)
      })
      return query
    },
    after:
      after === undefined
        ? null
        : async (asked, answer, format) => {
            if (answer === null) return null
            const response = JSON.parse(Buffer.from(answer.bytes).toString('utf8')) as ReadResponse['body']
            answer.release()
            const call = { ...toCodeCall(asked, options), query: structuredClone(asked.parameters), response: { format, body: response } }
            await run(`the hook after reads of ${uid}`, asked, (signal) => after({ ...call, signal }))
            const text = JSON.stringify(call.response.body)
            if (text === undefined) throw new Error(`the hook after reads of ${uid} left no response`)
            return { bytes: Buffer.from(text), release: () => {} }
          },
  }
}

/** Copies a query as plain data. @throws Error for a nested parameter without a value: dropping it would drop a condition */
function toPlainQuery(name: string, query: unknown): Parameters {
  if (typeof query !== 'object' || query === null || Array.isArray(query)) throw new Error(`${name} left a query that is not an object`)
  const text = JSON.stringify(query, function (this: unknown, key: string, value: unknown) {
    const isValue = value !== undefined && typeof value !== 'function' && !(typeof value === 'number' && !Number.isFinite(value))
    if (!isValue && this !== query) throw new Error(`${name} left no value at ${key}`)
    return value
  })
  return JSON.parse(text) as Parameters
}
