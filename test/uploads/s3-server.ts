// A server that speaks S3, with a door in front of it that can be slow, silent or in trouble.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { ServeOptions } from '../support/serve.js'

/**
 * Behaviour of the door for a request: lets it through, at once or in pieces with pauses, responds with a status or a redirect, never
 * responds, stops in the middle, responds without end, or breaks off.
 */
export type Trouble = 'none' | 'pieces' | 'silence' | 'ceases' | 'drips' | 'breaks' | number | { readonly location: string }

export interface S3Server {
  readonly origin: string
  /** Behaviour of the door by method; `all` for others. */
  trouble: { all: Trouble; GET?: Trouble; PUT?: Trouble; DELETE?: Trouble }
  /** The door refuses ACLs, as new buckets of Amazon's do. */
  refusesAcls: boolean
  /** Requests at the door, as method and path. */
  readonly seen: string[]
  /** Keys of the objects in the bucket. */
  keys(): readonly string[]
  /** The text of an object, which can be changed or removed directly in the storage. */
  read(key: string): string
  put(key: string, text: string): void
  remove(key: string): void
  /** The metadata that an object was stored with. */
  metadata(key: string): Readonly<Record<string, string>>
  close(): Promise<void>
}

export const bucket = 'pictures'
const credentials = 'S3RVER'
const object = '._S3rver_object'

export async function startS3(): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-s3-'))
  const behind = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: folder, configureBuckets: [{ name: bucket }] })
  const { port } = await behind.run()
  const served: Pick<S3Server, 'trouble' | 'seen' | 'refusesAcls'> = { trouble: { all: 'none' }, seen: [], refusesAcls: false }
  const door = createServer((asked, answer) => {
    served.seen.push(`${asked.method} ${asked.url}`)
    const trouble = served.trouble[asked.method as 'PUT'] ?? served.trouble.all
    if (served.refusesAcls && asked.headers['x-amz-acl'] !== undefined) {
      answer.writeHead(400).end('<Error><Code>AccessControlListNotSupported</Code></Error>')
      return asked.resume()
    }
    if (trouble === 'none') return pass(asked, answer, port)
    if (trouble === 'pieces' || trouble === 'ceases') return pass(asked, answer, port, trouble)
    if (typeof trouble === 'object') return void answer.writeHead(302, trouble).end()
    if (trouble === 'breaks') return asked.socket.destroy()
    if (trouble === 'silence') return asked.resume()
    if (trouble === 'drips') return drip(asked, answer)
    answer.writeHead(trouble, { connection: 'close' }).end('<Error><Code>Trouble</Code></Error>')
    return asked.resume()
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  const root = join(folder, bucket)
  const files = () => readdirSync(root, { recursive: true, encoding: 'utf8' })
  return Object.assign(served, {
    origin: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    keys: () =>
      files()
        .filter((name) => name.endsWith(object))
        .map((name) => name.slice(0, -object.length))
        .sort(),
    read: (key: string) => readFileSync(join(root, key + object), 'utf8'),
    put: (key: string, text: string) => writeFileSync(join(root, key + object), text),
    remove: (key: string) => {
      for (const name of readdirSync(root)) if (name.startsWith(`${key}._S3rver`)) rmSync(join(root, name))
    },
    metadata: (key: string) => JSON.parse(readFileSync(join(root, `${key}._S3rver_metadata.json`), 'utf8')) as Record<string, string>,
    close: async () => {
      door.closeAllConnections()
      await new Promise((resolve) => door.close(resolve))
      await behind.close()
      rmSync(folder, { recursive: true, force: true })
    },
  })
}

function drip(asked: IncomingMessage, answer: ServerResponse): void {
  asked.resume()
  answer.writeHead(200)
  const dripping = setInterval(() => answer.write(' '), 50)
  answer.on('close', () => clearInterval(dripping))
}

/** Milliseconds between pieces, and their number. */
export const [piecePause, pieces] = [300, 20]

async function inPieces(response: IncomingMessage, answer: ServerResponse, how: 'pieces' | 'ceases'): Promise<void> {
  const whole = Buffer.concat(await response.toArray())
  const size = Math.ceil(whole.length / pieces)
  for (let start = 0; start < whole.length; start += size) {
    if (how === 'ceases' && start > 0) return
    answer.write(whole.subarray(start, start + size))
    await new Promise((resolve) => setTimeout(resolve, piecePause))
  }
  answer.end()
}

function pass(asked: IncomingMessage, answer: ServerResponse, port: number, how: 'pieces' | 'ceases' | null = null): void {
  const passed = request({ host: '127.0.0.1', port, method: asked.method, path: asked.url, headers: asked.headers }, (response) => {
    answer.writeHead(response.statusCode!, response.headers)
    if (how === null) response.pipe(answer)
    else inPieces(response, answer, how)
  })
  passed.on('error', () => answer.destroy())
  asked.pipe(passed)
}

/** Options of a service that keeps its files there; the environment names are those of Strapi's scaffold. */
export function storedAt(s3: S3Server, more: Readonly<Record<string, string>> = {}, limits: object = {}): ServeOptions {
  return {
    config: { uploads: { storage: { provider: 'aws-s3' } }, limits },
    environment: {
      AWS_ACCESS_KEY_ID: credentials,
      AWS_ACCESS_SECRET: credentials,
      AWS_REGION: 'eu-west-1',
      AWS_BUCKET: bucket,
      AWS_ENDPOINT: s3.origin,
      AWS_FORCE_PATH_STYLE: 'true',
      ...more,
    },
  }
}
