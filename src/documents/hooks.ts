// The project's hooks around every write: before-hooks ahead of the transaction, after-hooks behind its commit, each within its
// time. Both run in the main thread: no code of a project runs while the writer is occupied.

import { ApiError, ConfigError, type ErrorName } from '../errors/errors.js'
import type { Model } from '../model/types.js'
import type { AfterCall, BeforeCall, Data, Document, DocumentService, Hook } from '../public/documents.js'
import { withTimeout } from '../runtime/timeout.js'
import type { Hooks, WriteOperation, WriteResult } from './operation.js'

export interface HookOptions {
  /** Milliseconds for each hook. */
  readonly hookTimeout: number
  /** Operations that hooks may start inside of each other. */
  readonly hookDepth: number
  /** The documents for hooks of an operation at this depth. */
  documents(depth: number): DocumentService
  /** Told of hooks that fail or take too long. */
  failed(hook: string, error: unknown): void
}

/** Null where there are no hooks: then they cost nothing. */
export function openHooks(hooks: readonly Hook[], options: HookOptions): Hooks | null {
  if (hooks.length === 0) return null
  const { hookTimeout, hookDepth, failed } = options
  const named = hooks.map((hook, index) => ({ name: hook.name ?? `hooks[${index}]`, hook }))

  /** The hooks with this part that an operation meets. */
  const meeting = (part: 'before' | 'after', { action, write: { type } }: WriteOperation) =>
    named.filter(
      ({ hook }) =>
        hook[part] !== undefined &&
        (hook.types?.includes(type.uid) ?? true) &&
        (hook.actions === undefined || hook.actions.includes(action)),
    )

  function callOf(operation: WriteOperation) {
    const { action, write, locale, everywhere } = operation
    const publishes = action === 'publish' || (action !== 'delete' && operation.publishes && operation.data !== null)
    return {
      action,
      uid: write.type.uid,
      locale: everywhere && write.type.localized ? '*' : locale,
      status: publishes ? ('published' as const) : ('draft' as const),
      caller: write.caller,
      documents: options.documents(write.depth + 1),
    }
  }

  async function before(operation: WriteOperation): Promise<WriteOperation> {
    if (operation.write.depth > hookDepth)
      throw new Error(`Hooks start operations inside of each other, beyond limits.hookDepth (${hookDepth})`)
    const isSeen = meeting('after', operation).length > 0
    const { data } = operation
    // What is no object is refused when the data is read.
    const isData = data === null || !Array.isArray(data)
    const call = { ...callOf(operation), documentId: operation.documentId, data: data as BeforeCall['data'] }
    for (const { name, hook } of isData ? meeting('before', operation) : []) {
      try {
        // One object for all: what a hook assigns is what the next one sees.
        await withTimeout(hookTimeout, name, (signal) => hook.before!(Object.assign(call, { signal })))
      } catch (error) {
        throw answerOf(name, error)
      }
    }
    return { ...operation, data: data === null ? null : call.data, isSeen }
  }

  async function after(operation: WriteOperation, { documentId, entries }: WriteResult): Promise<void> {
    const called = meeting('after', operation)
    if (called.length === 0) return
    const shown = entries.map(({ whole }) => JSON.parse(whole!) as Document)
    const call: Omit<AfterCall, 'signal'> = { ...callOf(operation), documentId, data: operation.data as Data | null, entries: shown }
    for (const { name, hook } of called) {
      try {
        await withTimeout(hookTimeout, name, (signal) => hook.after!({ ...call, signal }))
      } catch (error) {
        failed(name, error)
      }
    }
  }
  return { before, after }
}

/** Names under which a hook's error is an answer. Built-in errors have none of them: those are bugs. */
const answers: ReadonlySet<string> = new Set<ErrorName>([
  'ApplicationError',
  'BadRequestError',
  'ValidationError',
  'UnauthorizedError',
  'ForbiddenError',
  'PolicyError',
  'NotFoundError',
  'PayloadTooLargeError',
  'RateLimitError',
  'NotImplementedError',
  'ServiceUnavailableError',
])

/** A hook's error as the answer, or as a bug of the hook. */
function answerOf(hook: string, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`${hook} has thrown what is no error: ${String(error)}`)
  if (!answers.has(error.name)) return error
  if (error instanceof ApiError) return error
  const { details } = error as { details?: unknown }
  const isDetails = typeof details === 'object' && details !== null
  return new ApiError(error.name as ErrorName, error.message, isDetails ? (details as Record<string, unknown>) : {})
}

/** @throws ConfigError for hooks of types that the model lacks */
export function checkHooks(hooks: readonly Hook[], model: Model): void {
  for (const [index, { name = `hooks[${index}]`, types = [] }] of hooks.entries()) {
    const unknown = types.find((uid) => !model.types.has(uid))
    if (unknown !== undefined) throw new ConfigError(`octavo.config is not right: ${name}: there is no type ${unknown}.`)
  }
}
