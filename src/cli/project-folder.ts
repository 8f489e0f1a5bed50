// Checks that a folder is a content project.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../errors/errors.js'

const projectMarkers = [
  'src/api',
  'src/components',
  'octavo.config.json',
  'octavo.config.js',
  'octavo.config.mjs',
  'octavo.config.cjs',
  'octavo.config.ts',
]

/** Refuses a folder that is not a project, before any file is created in it. @throws ConfigError */
export function checkProject(folder: string): void {
  if (projectMarkers.some((path) => existsSync(join(folder, path)))) return
  const packageFile = join(folder, 'package.json')
  if (existsSync(packageFile) && readFileSync(packageFile, 'utf8').includes('"@strapi/strapi"')) return
  throw new ConfigError(
    `${folder} is not a content project: it has none of ${projectMarkers.join(', ')}, and no package.json that depends on @strapi/strapi. Pass the project's folder: octavo start <folder>`,
  )
}
