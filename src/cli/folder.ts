// What a folder needs to be a project, and what a project gets before its first use.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../errors.js'

const projectSigns = [
  'src/api',
  'src/components',
  'octavo.config.json',
  'octavo.config.js',
  'octavo.config.mjs',
  'octavo.config.cjs',
  'octavo.config.ts',
]

/** Refuses a folder that is no project, before anything is made in it. */
export function checkProject(folder: string): void {
  if (projectSigns.some((path) => existsSync(join(folder, path)))) return
  const packageFile = join(folder, 'package.json')
  if (existsSync(packageFile) && readFileSync(packageFile, 'utf8').includes('"@strapi/strapi"')) return
  throw new ConfigError(
    `${folder} is no content project: it has no ${projectSigns.join(', no ')} and no package.json with @strapi/strapi. Name the project's folder: octavo start <folder>`,
  )
}

/** Secrets that the project lacked are written to its .env, so that tokens stay valid after a restart; gives a line that says so. */
export function keepSecrets(folder: string, missing: Readonly<Record<string, string>>): string {
  const lines = Object.entries(missing).map(([name, value]) => `${name}=${value}\n`)
  if (lines.length === 0) return ''
  appendFileSync(join(folder, '.env'), `${lines.join('')}`)
  return `Made ${Object.keys(missing).join(' and ')} and kept them in .env.\n`
}
