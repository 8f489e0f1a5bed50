// The project's hooks around reads of the API: before one its query may change, after it the response may.
import type { ReadBeforeCall, ReadHooks, ReadResponse, TypeSettings } from '../../foundation/public/type-settings.js'
import { runCode } from '../../foundation/runtime/project-code.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { answerOf } from './code-errors.js'
import { callOf, type TypeCodeOptions } from './policies.js'
import type { AroundReads, AskedOperation, FindAroundReads, Policies } from './read/around.js'

/** Opens the policies and hooks around reads; null if there are none, so that they cost nothing. */
export function openReadHooks(
  types: Readonly<Record<string, TypeSettings>>,
  policies: Policies | null,
  options: TypeCodeOptions,
): FindAroundReads | null {
  const around = new Map(
    Object.entries(types).flatMap(([uid, { policies: own, reads }]) =>
      reads === undefined && own?.find === undefined && own?.findOne === undefined
        ? []
        : [[uid, aroundOf(uid, reads ?? {}, policies, options)] as const],
    ),
  )
  return around.size === 0 ? null : (uid) => around.get(uid) ?? null
}

function aroundOf(uid: string, { before, after }: ReadHooks, policies: Policies | null, options: TypeCodeOptions): AroundReads {
  async function run(name: string, { requestId }: AskedOperation, work: (signal: AbortSignal) => unknown): Promise<void> {
    try {
      await runCode({ name, requestId }, options.hookTimeout, async (signal) => void (await work(signal)))
    } catch (error) {
      throw answerOf(name, error)
    }
  }

  return {
    before: async (asked) => {
      await policies?.check(asked)
      if (before === undefined) return asked.parameters
      const call = { ...callOf(asked, options), query: structuredClone(asked.parameters) as ReadBeforeCall['query'] }
      const name = `the hook before reads of ${uid}`
      let query: Parameters = {}
      await run(name, asked, async (signal) => {
        await before(Object.assign(call, { signal }) as ReadBeforeCall)
        query = plainOf(name, call.query)
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
            const call = { ...callOf(asked, options), query: structuredClone(asked.parameters), response: { format, body: response } }
            await run(`the hook after reads of ${uid}`, asked, (signal) => after({ ...call, signal }))
            const text = JSON.stringify(call.response.body)
            if (text === undefined) throw new Error(`the hook after reads of ${uid} left no response`)
            return { bytes: Buffer.from(text), release: () => {} }
          },
  }
}

/** A query as plain data. @throws Error for what would make a condition vanish: a parameter without a value may only be at the top */
function plainOf(name: string, query: unknown): Parameters {
  if (typeof query !== 'object' || query === null || Array.isArray(query)) throw new Error(`${name} left a query that is no object`)
  const text = JSON.stringify(query, function (this: unknown, key: string, value: unknown) {
    const isValue = value !== undefined && typeof value !== 'function' && !(typeof value === 'number' && !Number.isFinite(value))
    if (!isValue && this !== query) throw new Error(`${name} left no value at ${key}`)
    return value
  })
  return JSON.parse(text) as Parameters
}
