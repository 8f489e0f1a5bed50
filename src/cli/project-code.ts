// Finds the access-control code of a Strapi project, which Octavo does not run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Keys in a route file that change who may call the route. */
const changesAccess = /\b(?:policies|middlewares)\b|\bauth\s*:\s*false\b/
const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.d.ts')

/** Returns folders with policies or middlewares, and route files that use them or `auth: false`, as paths below the project folder. */
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
