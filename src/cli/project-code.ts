// Finds the code of a Strapi project that decides who may do what and that Octavo does not run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a route's file says when it changes who may call it. */
const changesAccess = /\b(?:policies|middlewares)\b|\bauth\s*:\s*false\b/
const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.d.ts')

/** Folders with policies or middlewares, and files of routes that name them or `auth: false`; paths below the project's folder. */
export function codeNotRun(folder: string): readonly string[] {
  const apis = list(folder, 'src/api').map((api) => `src/api/${api}`)
  const folders = ['src', ...apis].flatMap((path) => [`${path}/policies`, `${path}/middlewares`])
  const routes = apis.flatMap((api) => list(folder, `${api}/routes`).map((name) => `${api}/routes/${name}`))
  return [
    ...folders.filter((path) => list(folder, path).some((name) => !name.startsWith('.'))),
    ...routes.filter((path) => isCode(path) && changesAccess.test(readFileSync(join(folder, path), 'utf8'))),
  ]
}

function list(folder: string, path: string): readonly string[] {
  const whole = join(folder, path)
  return existsSync(whole) ? readdirSync(whole).sort() : []
}
