// Scripts, styles and pictures for the pages of the service, built from src/http/pages/browser and read with their first request.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FastifyReply } from 'fastify'
import { onceDone } from '../../foundation/runtime/coalesce.js'

interface PageAsset {
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

/** The path of files of pages without a separate folder. */
export const assetFolder = '/_octavo'

/** The folder of built files, next to the bundle. */
const folder = new URL('browser/', import.meta.url)

const loaded = new Map<string, () => Promise<PageAsset>>()

async function load(name: string): Promise<PageAsset> {
  const bytes = await readFile(new URL(name, folder))
  const version = createHash('sha256').update(bytes).digest('base64url').slice(0, 8)
  return { bytes, contentType: contentTypes[name.split('.').at(-1)!]!, version }
}

/** Returns a file of the folder; `name` is never taken from a request. */
export function getAsset(name: string): Promise<PageAsset> {
  const asset = loaded.get(name) ?? onceDone(() => load(name))
  loaded.set(name, asset)
  return asset()
}

/** The URL of a file, with its version. */
export const getAssetUrl = async (name: string): Promise<string> => `${assetFolder}/${name}?${(await getAsset(name)).version}`

/** Sends a file. Its address contains its version, so browsers may keep it. */
export async function sendAsset(reply: FastifyReply, name: string): Promise<FastifyReply> {
  const { bytes, contentType } = await getAsset(name)
  return reply.header('cache-control', 'public, max-age=31536000, immutable').type(contentType).send(bytes)
}

/** Escapes a text for the contents of an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
