// What a custom route returns becomes a reply: a value as JSON, a `Response`, a stream, bytes, or nothing.
import type { ByteSource, Reply } from '../../request-context.js'

const octets = 'application/octet-stream'

/** Headers of a connection, and those that the service sets itself. */
const connectionHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'proxy-connection', 'x-request-id']
/** Headers about a content that `fetch` has decoded. */
const decodedHeaders = ['content-encoding', 'content-length']

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Converts what a route returned. @throws Error for what cannot be sent; `name` is the route's */
export function replyOf(name: string, result: unknown, answerBytes: number): Reply {
  if (result === undefined) return { status: 204 }
  if (result instanceof Response) return responseReply(name, result)
  if (result instanceof Uint8Array) return bytesReply(result, { 'content-type': octets })
  if (isAsyncIterable(result)) return { status: 200, headers: { 'content-type': octets }, source: sourceOf(result) }
  const text = textOf(name, result)
  if (Buffer.byteLength(text) > answerBytes) throw new Error(`${name} returned more than limits.answerBytes`)
  return bytesReply(Buffer.from(text), {})
}

/** Ends what is not sent: the stream of a result that came too late, or to which a request with HEAD leads. */
export function discardResult(result: unknown): void {
  const source =
    result instanceof Response
      ? result.body === null || result.bodyUsed
        ? null
        : sourceOf(result.body)
      : isAsyncIterable(result)
        ? sourceOf(result)
        : null
  source?.cancel()
}

const bytesReply = (bytes: Uint8Array, headers: Readonly<Record<string, string>>): Reply => ({
  ...{ status: 200, headers },
  bytes: { bytes, release: () => {} },
})

function responseReply(name: string, response: Response): Reply {
  const { status, body, url } = response
  if (status < 200) throw new Error(`${name} returned a Response with the status ${status}`)
  if (response.bodyUsed) throw new Error(`${name} returned a Response whose body was already read`)
  // A response that came from `fetch` is decoded already.
  const left = new Set(url === '' ? connectionHeaders : [...connectionHeaders, ...decodedHeaders])
  const headers: Record<string, string | string[]> = {}
  for (const [key, value] of response.headers) if (!left.has(key) && key !== 'set-cookie') headers[key] = value
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (body === null || bodiless.has(status)) {
    discardResult(response)
    return { status, headers }
  }
  return { status, headers, source: sourceOf(body) }
}

function textOf(name: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown)))
  } catch (error) {
    throw new Error(`${name} returned a value that cannot be sent as JSON`, { cause: error })
  }
  if (text === undefined) throw new Error(`${name} returned a value that cannot be sent as JSON: a ${typeof value}`)
  return text
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'

/** The chunks of a stream. */
function sourceOf(stream: AsyncIterable<unknown>): ByteSource {
  if (stream instanceof ReadableStream) {
    const reader = stream.getReader()
    return sourceFrom(
      () => reader.read(),
      () => reader.cancel(),
    )
  }
  const iterator = stream[Symbol.asyncIterator]()
  const { destroy } = stream as { destroy?: unknown }
  // A stream of Node's ends at once; a generator that waits for something ends when it goes on.
  return sourceFrom(
    () => iterator.next(),
    typeof destroy === 'function' ? () => destroy.call(stream) as unknown : () => iterator.return?.(),
  )
}

/** A failure of what ends a stream has no consequences, and is not waited for. */
const sourceFrom = (read: () => Promise<{ readonly done?: boolean; readonly value?: unknown }>, end: () => unknown): ByteSource => ({
  next: async () => {
    const { done, value } = await read()
    return done === true ? null : bytesOf(value)
  },
  cancel: () => {
    Promise.resolve()
      .then(end)
      .catch(() => {})
  },
})

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk)
  throw new TypeError(`a stream yielded a value of the type ${typeof chunk}, which is neither a text nor bytes`)
}
