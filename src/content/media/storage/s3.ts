// Storage in a bucket of S3 or a compatible service. A single request stores a file, so it is never incomplete.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import aws4 from 'aws4'
import { unavailableError } from '../../../database/errors.js'
import type { S3Config } from '../../../foundation/config/storage.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { isSafeInBrowsers } from '../media-types.js'
import { bucketOf, fileUrl } from './s3-address.js'
import type { ReadingOptions, Storage, StorageLimits } from './storage.js'

/** Milliseconds before each retry of a temporary failure. */
const retryDelays = [100, 500]
/** Maximum number of connections, and maximum bytes read of an error response. */
const connections = 20
const errorBytes = 65_536
const timedOut = 'the storage request timed out'

interface StorageRequest {
  readonly method: 'PUT' | 'DELETE' | 'HEAD' | 'GET'
  readonly name: string
  readonly headers: OutgoingHttpHeaders
  /** Sends the ACL of new objects. */
  readonly withAcl?: boolean
  /** Local file to send. */
  readonly file?: { readonly path: string; readonly bytes: number }
}

interface StorageResponse {
  readonly status: number
  readonly text: string
}

/** The ACL of new objects, sent until the bucket refuses it. Buckets created since April 2023 do; their policy decides who may read. */
function openAcl({ acl }: S3Config, report: (error: unknown) => void) {
  let headers: OutgoingHttpHeaders = acl === 'none' ? {} : { 'X-Amz-Acl': acl }
  const advice = "its policy decides who reads them. Set uploads.storage.acl to 'none'"
  return {
    added: (what: StorageRequest): StorageRequest => (what.withAcl === true ? { ...what, headers: { ...what.headers, ...headers } } : what),
    leaveOut: (): void => {
      if (Object.keys(headers).length > 0) report(new Error(`The bucket refuses ACLs, so files are stored without one and ${advice}`))
      headers = {}
    },
  }
}

/** `report` receives the cause if the service rejects a request. */
export function openS3Storage(config: S3Config, limits: StorageLimits, report: (error: unknown) => void): Storage {
  const client = openClient(config, limits)
  const { root } = bucketOf(config)
  const acl = openAcl(config, report)

  /**
   * Sends a request and retries temporary failures. Returns the status; those in `accepted` count as success.
   * @throws ApiError 503
   */
  async function send(what: StorageRequest, accepted: readonly number[] = []): Promise<number> {
    let failure: unknown
    for (const wait of [0, ...retryDelays]) {
      if (wait > 0) await pause(wait)
      const outcome = await client.attempt(acl.added(what)).catch((error: unknown) => {
        failure = error
        return null
      })
      if (outcome !== null) {
        const { status, text } = outcome
        if (status === 400 && what.withAcl === true && codeIn(text) === 'AccessControlListNotSupported') {
          acl.leaveOut()
          return send({ ...what, withAcl: false }, accepted)
        }
        if (accepted.includes(status) || (status < 300 && !text.includes('<Error>'))) return status
        failure = new Error(`S3 responded to ${what.method} with ${status}: ${codeIn(text)}`)
        if (status >= 300 && status < 500 && status !== 429) break
      } else if (isTimeout(failure)) break
    }
    report(failure)
    throw unavailableError('Files cannot be stored at the moment', failure)
  }

  return {
    provider: 'aws-s3',
    remote: true,
    url: (name) => fileUrl(config, name),
    put: async (file, name, mime) => {
      const { size } = await stat(file)
      const attached = isSafeInBrowsers(mime) ? {} : { 'Content-Disposition': 'attachment' }
      const headers = { 'Content-Type': mime, 'Content-Length': size, ...attached }
      await send({ method: 'PUT', name, headers, withAcl: true, file: { path: file, bytes: size } })
    },
    has: async (name) => (await send({ method: 'HEAD', name, headers: {} }, [404])) !== 404,
    read: (name, options = {}) => readObject(client, config, name, options),
    move: async (from, to) => {
      const source = { 'X-Amz-Copy-Source': `/${config.bucket}/${root}${encodeURIComponent(from)}` }
      await send({ method: 'PUT', name: to, headers: { ...source, 'Content-Length': 0 }, withAcl: true }, [404])
      await send({ method: 'DELETE', name: from, headers: {} }, [404])
    },
    remove: async (name) => void (await send({ method: 'DELETE', name, headers: {} }, [404])),
    flush: async () => {},
    close: client.close,
  }
}

/** @throws ConfigError unless the service returns the object, or reports that it does not exist */
async function readObject(
  client: StorageClient,
  config: S3Config,
  name: string,
  { deniedIsMissing = false }: ReadingOptions,
): Promise<IncomingMessage | null> {
  let failure = ''
  for (const wait of [0, ...retryDelays]) {
    if (wait > 0) await pause(wait)
    const response = await client.respond({ method: 'GET', name, headers: {} }).catch((error: Error) => {
      failure = error.message
      return null
    })
    // Otherwise an error event without a listener would throw; readers get the error from the stream.
    if (response?.statusCode === 200) return response.on('error', () => {})
    if (response === null) continue
    const { status, text } = await readOutcome(response)
    if (status === 404 && codeIn(text) !== 'NoSuchBucket') return null
    if (status === 403 && codeIn(text) === 'AccessDenied' && deniedIsMissing) return null
    failure = `S3 responded with ${status}: ${codeIn(text)}`
    if (status === 403) failure += '. A key that may not list the bucket gets this for objects that do not exist, too'
    if (status < 500 && status !== 429) break
  }
  throw new ConfigError(`The object ${bucketOf(config).root}${name} of the bucket ${config.bucket} cannot be read: ${failure}`)
}

interface StorageClient {
  /** Sends a request once and reads the response. Rejects on timeout. */
  attempt(request: StorageRequest): Promise<StorageResponse>
  /** Sends a request once. Rejects if no response begins in time. */
  respond(request: StorageRequest): Promise<IncomingMessage>
  close(): void
}

function openClient(config: S3Config, limits: StorageLimits): StorageClient {
  const { origin, path } = bucketOf(config)
  const { protocol, hostname, port, host } = new URL(origin)
  const secure = protocol === 'https:'
  const settings = { keepAlive: true, maxSockets: connections }
  const agent = secure ? new HttpsAgent(settings) : new HttpAgent(settings)
  const { accessKeyId, secretAccessKey, sessionToken } = config
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }

  function respond({ method, name, headers, file }: StorageRequest): Promise<IncomingMessage> {
    const key = path + name.split('/').map(encodeURIComponent).join('/')
    const signed = aws4.sign(
      {
        service: 's3',
        region: config.region,
        method,
        path: key,
        headers: { Host: host, ...headers, ...(file === undefined ? {} : { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }) },
      },
      credentials,
    )
    return new Promise((resolve, reject) => {
      const sending = (secure ? httpsRequest : httpRequest)({
        agent,
        hostname,
        method,
        path: key,
        headers: signed.headers as OutgoingHttpHeaders,
        ...(port === '' ? {} : { port }),
      })
      const endsInTime = limitTime(sending, limits)
      sending.on('error', reject)
      sending.on('response', (response) => {
        if (method === 'GET') endsInTime.cancel()
        // If the service responds early with an error, the rest of the file is not sent.
        response.on('close', () => sending.writableFinished || sending.destroy())
        resolve(response)
      })
      if (file === undefined) return void sending.end()
      // An error of the stream also fails the request, which rejects above.
      pipeline(createReadStream(file.path), sending, () => {})
    })
  }

  return { attempt: async (request) => readOutcome(await respond(request)), respond, close: () => agent.destroy() }
}

/** The total timeout divided by the idle timeout. */
const idleDivisor = 6

/** Enforces the total and the idle timeout of a request. `cancel`: only the idle timeout remains. */
function limitTime(sending: ClientRequest, { storageTimeout }: StorageLimits): { cancel(): void } {
  const idleTimeout = Math.round(storageTimeout / idleDivisor)
  let response: IncomingMessage | null = null
  sending.on('response', (begun) => {
    response = begun
  })
  const end = (problem: string): void => void (response ?? sending).destroy(new Error(`${timedOut} ${problem}`))
  const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`
  const timer = setTimeout(() => end(`after ${seconds(storageTimeout)}`), storageTimeout)
  sending.on('close', () => clearTimeout(timer))
  sending.setTimeout(idleTimeout)
  sending.on('timeout', () => {
    // Unread bytes: the reader is slow, not the storage.
    if ((response?.readableLength ?? 0) > 0) sending.setTimeout(idleTimeout)
    else end(`after ${seconds(idleTimeout)} without progress`)
  })
  return { cancel: () => clearTimeout(timer) }
}

/** Timeouts are not retried. */
const isTimeout = (error: unknown): boolean => (error as Error).message.startsWith(timedOut)

const codeIn = (text: string): string => /<Code>([\w.]{1,80})/.exec(text)?.[1] ?? 'no code'

async function readOutcome(response: IncomingMessage): Promise<StorageResponse> {
  let text = ''
  for await (const chunk of response) if (text.length < errorBytes) text += String(chunk)
  return { status: response.statusCode!, text }
}
