// What browsers load for the pages of the service: scripts, styles and pictures, built from src/http/pages/browser and read when they are first asked for.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyReply } from 'fastify'
import { onceDone } from '../../foundation/runtime/once-done.js'

/** A file for browsers. */
export interface PageAsset {
  readonly bytes: Buffer
  readonly contentType: string
  /** Changes with the bytes. */
  readonly version: string
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The path of the files of pages that have no folder of their own. */
export const assetFolder = '/_octavo'

/** The folder of built files, beside the bundle. */
const folder = new URL('browser/', import.meta.url)

const loaded = new Map<string, () => Promise<PageAsset>>()

async function load(name: string): Promise<PageAsset> {
  const bytes = await readFile(new URL(name, folder))
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 8)
  return { bytes, contentType: contentTypes[name.split('.').at(-1)!]!, version }
}

/** Returns a file of the folder; `name` is never taken from a request. */
export function assetNamed(name: string): Promise<PageAsset> {
  const asset = loaded.get(name) ?? onceDone(() => load(name))
  loaded.set(name, asset)
  return asset()
}

/** Where a file is, with its version. */
export const assetAddress = async (name: string): Promise<string> => `${assetFolder}/${name}?${(await assetNamed(name)).version}`

/** Sends a file. Its address contains its version, so browsers may keep it. */
export async function sendAsset(reply: FastifyReply, name: string): Promise<FastifyReply> {
  const { bytes, contentType } = await assetNamed(name)
  return reply.header('cache-control', 'public, max-age=31536000, immutable').type(contentType).send(bytes)
}
