// What a folder needs to be a project.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../errors/errors.js'

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
