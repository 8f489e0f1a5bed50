// Asks Octavo in the background what clients asked Strapi, and compares: a bounded queue, at a bounded rate, with nothing that writes.
import { credentialHeaders } from './callers.js'
import { isAccepted } from './judge.js'
import type { Exchange } from './proxy.js'
import { type ComparedRequest, get } from './request.js'
import { type PairResult, type RunOptions, resultOf } from './run.js'
import type { Server } from './server.js'

/** Bounds of what waits. */
export interface ShadowOptions extends RunOptions {
  /** Responses that may wait to be compared, and their total size in bytes. */
  readonly queue: number
  readonly queuedBytes: number
  /** The name of a caller by the value of its Authorization header. */
  readonly nameOf: (authorization: string | undefined) => string
}

/** Compares exchanges in the background. */
export interface Shadow {
  /** Adds an exchange; it is dropped, and counted, if too many wait. */
  add(exchange: Exchange): void
  /** Resolves when nothing waits any more, or after that many milliseconds. */
  idle(milliseconds: number): Promise<void>
  /** What was not compared, by reason. */
  readonly leftOut: ReadonlyMap<string, number>
}

/** Request headers that do not go to Octavo: of the connection, of the body, of conditions, and what may change the method. */
const notSent = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'transfer-encoding', 'content-length', 'expect'],
  ...['te', 'trailer', 'upgrade', 'accept-encoding', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range'],
  ...['range', 'idempotency-key', 'x-http-method-override', 'x-http-method', 'x-method-override'],
])

/** Statuses that say nothing about the content. */
const incomparable = new Map([
  [206, 'parts of files'],
  [304, 'responses that were not modified'],
])

/** Opens the background comparison. */
export function openShadow(octavo: Server, options: ShadowOptions, report: (result: PairResult) => void): Shadow {
  const waiting: Exchange[] = []
  const leftOut = new Map<string, number>()
  let [bytes, running] = [0, 0]
  let becameIdle = (): void => {}
  const leave = (reason: string): void => void leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)

  const compare = async (exchange: Exchange): Promise<void> => {
    await options.pace()
    const result = await compared(exchange, octavo, options)
    if (result.kind === 'compared' && !isAccepted(result.judgement) && isNewer(result, exchange)) leave('content that changed meanwhile')
    else report(result)
  }
  const work = async (): Promise<void> => {
    running++
    for (let exchange = waiting.shift(); exchange !== undefined; exchange = waiting.shift()) {
      bytes -= exchange.body?.length ?? 0
      await compare(exchange).catch((error: Error) => leave(`failures of the comparison (${error.message})`))
    }
    running--
    if (running === 0) becameIdle()
  }
  return {
    leftOut,
    add(exchange) {
      const reason = incomparable.get(exchange.status) ?? (exchange.body === null ? 'responses that are too large' : null)
      if (reason !== null) return leave(reason)
      const size = exchange.body!.length
      if (waiting.length >= options.queue || bytes + size > options.queuedBytes) return leave('the queue was full')
      waiting.push(exchange)
      bytes += size
      if (running < options.concurrency) void work()
    },
    async idle(milliseconds) {
      if (running === 0) return
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        becameIdle = resolve
        timer = setTimeout(resolve, milliseconds)
      })
      clearTimeout(timer)
      if (waiting.length > 0) leftOut.set('not compared before the end', waiting.length)
      waiting.length = 0
    },
  }
}

async function compared(
  { method, path, requestHeaders, ...answer }: Exchange,
  octavo: Server,
  options: ShadowOptions,
): Promise<PairResult> {
  const headers = Object.fromEntries(
    Object.entries(requestHeaders).flatMap(([name, value]) =>
      notSent.has(name) || value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
  const caller = options.nameOf(requestHeaders.authorization)
  const given = await octavo.ask({ method, path, headers, body: null })
  // Examples are printed and recorded: they have no credentials.
  const request: ComparedRequest = { ...get(path, caller), method, headers: withoutCredentials(headers) }
  return resultOf(request, caller, { strapi: { kind: 'answer', ...answer }, octavo: given }, options)
}

const withoutCredentials = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !credentialHeaders.has(name)))

/** Whether Octavo's response contains something that was written after Strapi got the request. */
function isNewer({ judgement }: Extract<PairResult, { kind: 'compared' }>, { startedAt }: Exchange): boolean {
  const { content } = judgement.pair.octavo
  if (content.kind !== 'json') return false
  const since = new Date(startedAt).toISOString()
  const times = JSON.stringify(content.value).match(/(?<="(?:updatedAt|publishedAt|createdAt)":")[^"]+/g) ?? []
  return times.some((time) => time > since)
}
