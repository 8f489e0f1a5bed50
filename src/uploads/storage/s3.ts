// A bucket of S3, or of a service that speaks like it. One request stores a file, so it is there as a whole or not at all.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import aws4 from 'aws4'
import type { S3Config } from '../../config/storage.js'
import { unavailable } from '../../database/unavailable.js'
import { isShownByBrowsers } from '../media-types.js'
import { addressOf, bucketOf } from './s3-address.js'
import type { Storage, StorageLimits } from './storage.js'

/** Waits before an act that failed in passing is tried again, in milliseconds. */
const pauses = [100, 500]
/** Connections to the service, and bytes of an error that are read. */
const connections = 20
const errorBytes = 65_536

interface Act {
  readonly method: 'PUT' | 'DELETE'
  readonly name: string
  readonly headers: OutgoingHttpHeaders
  /** A file of the local disk to send. */
  readonly file?: { readonly path: string; readonly bytes: number }
}

interface Outcome {
  readonly status: number
  readonly text: string
}

/** `report` hears what the service said where it refused. */
export function openS3Storage(config: S3Config, limits: StorageLimits, report: (error: unknown) => void): Storage {
  const { origin, path, root } = bucketOf(config)
  const { protocol, hostname, port, host } = new URL(origin)
  const secure = protocol === 'https:'
  const settings = { keepAlive: true, maxSockets: connections }
  const agent = secure ? new HttpsAgent(settings) : new HttpAgent(settings)
  const acl = config.acl === 'none' ? {} : { 'X-Amz-Acl': config.acl }
  const { accessKeyId, secretAccessKey, sessionToken } = config
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }

  function attempt({ method, name, headers, file }: Act): Promise<Outcome> {
    const signed = aws4.sign(
      {
        service: 's3',
        region: config.region,
        method,
        path: path + name,
        headers: { Host: host, ...headers, ...(file === undefined ? {} : { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }) },
      },
      credentials,
    )
    return new Promise((resolve, reject) => {
      const sending = (secure ? httpsRequest : httpRequest)({
        ...{ agent, hostname, method, path: path + name, headers: signed.headers as OutgoingHttpHeaders },
        ...(port === '' ? {} : { port }),
        signal: AbortSignal.timeout(limits.storageTimeout),
      })
      sending.setTimeout(limits.storageIdleTimeout, () => sending.destroy(new Error('the storage was silent for too long')))
      sending.on('error', reject)
      sending.on('response', (response) => {
        const outcome = readOutcome(response)
        outcome.then(resolve, reject)
        // A service that refuses early does not want the rest.
        outcome.catch(() => {}).finally(() => sending.writableFinished || sending.destroy())
      })
      if (file === undefined) return void sending.end()
      // What breaks the stream breaks the request, which says so above.
      pipeline(createReadStream(file.path), sending, () => {})
    })
  }

  /** Tries again what failed in passing. `fine` statuses beside those of success are no failure. @throws ApiError 503 */
  async function act(what: Act, fine: readonly number[] = []): Promise<void> {
    let failure: unknown
    for (const wait of [0, ...pauses]) {
      if (wait > 0) await pause(wait)
      const outcome = await attempt(what).catch((error: unknown) => {
        failure = error
        return null
      })
      if (outcome !== null) {
        const { status, text } = outcome
        if (fine.includes(status) || (status < 300 && !text.includes('<Error>'))) return
        failure = new Error(`S3 answered ${status} to ${what.method}: ${/<Code>([\w.]{1,80})/.exec(text)?.[1] ?? 'no code'}`)
        if (status >= 300 && status < 500 && status !== 429) break
      } else if (tookTooLong(failure)) break
    }
    report(failure)
    throw unavailable('Files cannot be stored at the moment', failure)
  }

  return {
    provider: 'aws-s3',
    remote: true,
    url: (name) => addressOf(config, name),
    put: async (file, name, mime) => {
      const { size } = await stat(file)
      const attached = isShownByBrowsers(mime) ? {} : { 'Content-Disposition': 'attachment' }
      const headers = { 'Content-Type': mime, 'Content-Length': size, ...attached, ...acl }
      await act({ method: 'PUT', name, headers, file: { path: file, bytes: size } })
    },
    move: async (from, to) => {
      const source = { 'X-Amz-Copy-Source': `/${config.bucket}/${root}${from}` }
      await act({ method: 'PUT', name: to, headers: { ...source, ...acl, 'Content-Length': 0 } }, [404])
      await act({ method: 'DELETE', name: from, headers: {} }, [404])
    },
    remove: (name) => act({ method: 'DELETE', name, headers: {} }, [404]),
    settle: async () => {},
    close: () => agent.destroy(),
  }
}

/** Who waited that long will not wait again. */
const tookTooLong = (error: unknown): boolean =>
  (error as Error).name === 'AbortError' || (error as Error).name === 'TimeoutError' || /silent for too long/.test((error as Error).message)

async function readOutcome(response: IncomingMessage): Promise<Outcome> {
  let text = ''
  for await (const chunk of response) if (text.length < errorBytes) text += String(chunk)
  return { status: response.statusCode!, text }
}
