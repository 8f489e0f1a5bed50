// What browsers load for the pages of the service: scripts, styles and pictures, built from src/browser and read when they are first asked for.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyReply } from 'fastify'

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

/** The folder of built files, beside the bundle. */
const folder = new URL('browser/', import.meta.url)

const loaded = new Map<string, Promise<PageAsset>>()

/** Returns a file of the folder; `name` is never taken from a request. */
export function assetNamed(name: string): Promise<PageAsset> {
  const known = loaded.get(name)
  if (known !== undefined) return known
  const asset = readFile(new URL(name, folder)).then((bytes) => ({
    bytes,
    contentType: contentTypes[name.split('.').at(-1)!]!,
    version: createHash('sha256').update(bytes).digest('base64url').slice(0, 8),
  }))
  loaded.set(name, asset)
  return asset
}

/** Sends a file. Its address contains its version, so browsers may keep it. */
export async function sendAsset(reply: FastifyReply, name: string): Promise<FastifyReply> {
  const { bytes, contentType } = await assetNamed(name)
  return reply.header('cache-control', 'public, max-age=31536000, immutable').type(contentType).send(bytes)
}
