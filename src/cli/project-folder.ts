// Checks that a folder is a content project.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
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
  if (isProject(folder)) return
  // A word of another command, such as the role in `octavo roles list public`, is taken for a folder.
  const advice = isProject(process.cwd())
    ? `The current folder is one: leave out "${relative(process.cwd(), folder)}".`
    : "Pass the project's folder: octavo start <folder>"
  throw new ConfigError(
    `${folder} is not a content project: it has none of ${projectMarkers.join(', ')}, and no package.json that depends on @strapi/strapi. ${advice}`,
  )
}

function isProject(folder: string): boolean {
  if (projectMarkers.some((path) => existsSync(join(folder, path)))) return true
  const packageFile = join(folder, 'package.json')
  return existsSync(packageFile) && readFileSync(packageFile, 'utf8').includes('"@strapi/strapi"')
}
