// Content of a new database before it changes hands: a token, locales, files and first documents.

import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fullKey } from './handover-servers.mjs'
import { locales, writeFirst } from './handover-writes.mjs'

/** Documents that are written first. */
const firstWrites = 120

/**
 * @param {string} octavo
 * @param {string} project
 * @param {Record<string, string>} environment
 */
export function giveToken(octavo, project, environment) {
  const options = ['--name', 'handover', '--type', 'full-access', '--key', fullKey]
  execFileSync(process.execPath, [octavo, 'tokens', 'create', ...options, project], { env: { ...process.env, ...environment } })
}

/**
 * @param {string} octavo
 * @param {string} project
 * @param {Record<string, string>} environment
 */
export function giveLocales(octavo, project, environment) {
  for (const code of locales.slice(1))
    execFileSync(process.execPath, [octavo, 'locales', 'add', code, project], { env: { ...process.env, ...environment } })
}

const types = new Map([
  ['png', 'image/png'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['jpg', 'image/jpeg'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
])

/**
 * Uploads the files of a folder, but for formats of images.
 * @param {import('./handover-servers.mjs').Started} server
 * @param {string} folder
 */
export async function giveUploads(server, folder) {
  for (const name of readdirSync(folder).filter((file) => !/^(large|medium|small|thumbnail)_/.test(file))) {
    const type = types.get(name.split('.').at(-1) ?? '')
    if (type === undefined) continue
    const form = new FormData()
    form.append('files', new Blob([readFileSync(join(folder, name))], { type }), name)
    const { status, body } = await server.send('/api/upload', form)
    if (status !== 201) throw new Error(`${server.name} refused ${name}: ${status} ${JSON.stringify(body)}`)
  }
}

/**
 * Moves what Strapi stored to the folder that Octavo serves.
 * @param {string} strapiFolder
 * @param {string} uploads
 */
export function takeUploads(strapiFolder, uploads) {
  const stored = join(strapiFolder, 'public', 'uploads')
  for (const file of readdirSync(stored).filter((name) => !name.startsWith('.'))) {
    cpSync(join(stored, file), join(uploads, file))
    rmSync(join(stored, file))
  }
}

/**
 * @param {import('./handover-servers.mjs').Started} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {import('./handover-writes.mjs').Random} random
 */
export async function fillAtRandom(server, shapes, random) {
  return { ...(await writeFirst(server, shapes, random, firstWrites)), total: firstWrites }
}
