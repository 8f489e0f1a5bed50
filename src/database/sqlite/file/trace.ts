// The trace that a database leaves beside it once it is complete: where it is there and the database is not, the database was
// lost, or is looked for in the wrong place.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const ending = '.octavo'
const privateFile = 0o600

/** The file that says that the database at `filename` was complete once. */
export const traceOf = (filename: string): string => `${filename}${ending}`

/** Leaves the trace of a complete database, unless it is there; a folder that takes no file has none. */
export function leaveTrace(filename: string, project: string): void {
  const path = traceOf(filename)
  if (existsSync(path)) return
  const about = 'Octavo has served the database beside this file. Where that is gone, a start ends instead of making an empty one.'
  try {
    writeFileSync(path, `${JSON.stringify({ project, about }, null, 2)}\n`, { mode: privateFile, flag: 'wx' })
  } catch {
    // Read-only, or another process was faster.
  }
}

/** The database that the project had, as its trace tells: the one at `filename`, or another one beside it; null without a trace. */
export function tracedDatabase(filename: string, project: string): string | null {
  if (existsSync(traceOf(filename))) return filename
  for (const folder of new Set([dirname(filename), join(project, '.tmp')])) {
    const traces = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)) : []
    const own = traces.find((name) => projectOf(join(folder, name)) === project)
    if (own !== undefined) return join(folder, basename(own, ending))
  }
  return null
}

function projectOf(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { readonly project?: unknown }).project
  } catch {
    return null
  }
}
