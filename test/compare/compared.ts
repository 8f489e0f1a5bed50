// Runs `octavo compare` between two services and reads its report.
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { octavo, project } from '../start/command.js'

/** A report as `--json` prints it. */
export interface Report {
  readonly status: number | null
  readonly err: string
  readonly same: number
  readonly documented: number
  readonly different: number
  readonly failed: Readonly<Record<string, number>>
  readonly leftOut: Readonly<Record<string, number>>
  readonly times: { readonly strapi: { readonly median: number }; readonly octavo: { readonly median: number } }
  readonly groups: readonly {
    readonly cause: string
    readonly subject: string
    readonly advice: string
    readonly exposes: boolean
    readonly requests: number
    readonly config?: unknown
    readonly verified?: string
    readonly files: readonly string[]
    readonly examples: readonly {
      readonly method: string
      readonly path: string
      readonly as: string
      readonly differences: readonly { readonly path: string; readonly count: number; readonly strapi: string; readonly octavo: string }[]
    }[]
  }[]
  readonly documentedDifferences: readonly {
    readonly section: string
    readonly row: string
    readonly requests: number
    readonly example: { readonly path: string }
  }[]
}

/** Runs the command, as fast as the services allow. */
export const compare = (strapi: string, ours: string, ...words: string[]) => octavo(['compare', strapi, ours, '--rate', '10000', ...words])

/** Compares these requests, lines of a file. */
export async function report(strapi: string, ours: string, requests: readonly (string | object)[], ...words: string[]): Promise<Report> {
  const { out, err, status } = await compare(strapi, ours, '--json', '--requests', fileOf(requests), ...words)
  if (out === '') throw new Error(err)
  return { ...(JSON.parse(out) as Report), err, status }
}

/** A file with these lines, in a temporary folder. */
export function fileOf(lines: readonly (string | object)[], name = 'requests.txt'): string {
  const file = join(project({}), name)
  writeFileSync(file, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
  return file
}

/** Requests to a server, and its responses. */
export interface Stand {
  readonly origin: string
  readonly got: IncomingMessage[]
  answer(request: IncomingMessage): { readonly status?: number; readonly body: unknown }
  close(): void
}

/** A list with one document. */
export const documents = { data: [{ id: 1, documentId: 'a', name: 'One' }], meta: {} }

/** Starts a server that plays one of the services. */
export async function stand(): Promise<Stand> {
  const got: IncomingMessage[] = []
  const made: { -readonly [Key in keyof Stand]: Stand[Key] } = {
    origin: '',
    got,
    answer: () => ({ body: documents }),
    close: () => server.close(),
  }
  const server: Server = createServer((request, response) => {
    if (request.url === '/_health') return void response.writeHead(204).end()
    if (request.url!.includes('/content-type-builder/')) return void response.writeHead(403).end()
    got.push(request)
    const { status = 200, body } = made.answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  made.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return made
}
