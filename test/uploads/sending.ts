// Sends forms with files to a served project, creates pictures, and lists the files on disk afterwards.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenProject, goldenTokens } from '../support/serve.js'

export const tokens = goldenTokens()

/** A part of a form: a field, or a file with its name and declared type. */
export type Part = readonly [field: string, content: string | Uint8Array, name?: string, type?: string]

export interface Sent {
  readonly path?: string
  readonly as?: string
}

export const sample = (name: string): Uint8Array => new Uint8Array(readFileSync(join(goldenProject, 'samples', name)))
export const file = (content: Uint8Array | string, name: string, type = ''): Part => ['files', Buffer.from(content as string), name, type]

export function formOf(parts: readonly Part[]): FormData {
  const form = new FormData()
  for (const [field, content, name, type = ''] of parts) {
    if (name === undefined) form.append(field, content as string)
    else form.append(field, new Blob([content as Uint8Array<ArrayBuffer>], { type }), name)
  }
  return form
}

/** Posts a form to /api/upload. */
export async function send(
  served: Served,
  parts: readonly Part[],
  { path = '/api/upload', as = 'full' }: Sent = {},
): Promise<TestResponse> {
  const headers: Record<string, string> = as === 'none' ? {} : { authorization: `Bearer ${tokens[as]}` }
  const response = await fetch(served.origin + path, { method: 'POST', headers, body: formOf(parts) })
  const text = await response.text()
  let body: unknown = text
  try {
    body = JSON.parse(text)
  } catch {
    // Not every response is JSON.
  }
  return { status: response.status, headers: response.headers, text, body }
}

/** Posts bytes that claim to be a form. */
export async function sendRaw(served: Served, body: string | Buffer, type: string): Promise<number> {
  const headers = { 'content-type': type, authorization: `Bearer ${tokens.full}` }
  return (await fetch(`${served.origin}/api/upload`, { method: 'POST', headers, body: body as never })).status
}

/** A picture that compresses badly, as photographs do. */
export const noise = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#c33', noise: { type: 'gaussian', mean: 128, sigma: 30 } } })

/** Names in the folder of uploads. */
export const stored = (served: Served): readonly string[] =>
  readdirSync(join(served.folder, 'uploads')).filter((name) => !name.startsWith('.'))

/** Files in the work folders other than the locks of their owners: uploads in progress and notes. */
export function leftovers(served: Served): readonly string[] {
  const workplaces = join(served.folder, 'uploads', '.octavo')
  return readdirSync(workplaces)
    .flatMap((name) => readdirSync(join(workplaces, name)))
    .filter((name) => name !== 'owner')
}
