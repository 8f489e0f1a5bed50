// Names the files of the project whose code may be the cause of a difference that `octavo compare` found.
import type { Group } from '../../../packages/compare/groups.js'
import type { KnownModel } from '../../../packages/compare/known-model.js'
import { codeFilesOf } from '../../../packages/strapi-code/code-files.js'
import type { CodeLine } from '../../../packages/strapi-code/code-report.js'
import { type ProjectCode, readProjectCode } from '../../../packages/strapi-code/read-project-code.js'

/** Files with what they do, by group; empty if the folder has no code, or it cannot be read. */
export async function filesFor(
  groups: readonly Group[],
  { shapes }: KnownModel,
  folder: string,
): Promise<ReadonlyMap<Group, readonly string[]>> {
  if (groups.length === 0 || codeFilesOf(folder).length === 0) return new Map()
  const attributes = [...new Set([...shapes.values()].flatMap((shape) => Object.keys(shape.attributes)))]
  const { lines } = await readProjectCode({
    folder,
    attributes,
    configured: { defaults: {}, selections: [], routes: [], contentRoutes: {} },
  }).catch((): ProjectCode => ({ lines: [], suggestions: [] }))
  // What runs on every request is the less likely cause.
  const inOrder = [...lines].sort((one, other) => Number(isOnAll(one)) - Number(isOnAll(other)))
  return new Map(groups.map((group) => [group, inOrder.flatMap((line) => textOf(line, group.subject))]))
}

const isOnAll = ({ on = [] }: CodeLine): boolean => on.includes('every request')

/** The line of a file that runs on routes of a type or on every request, and does something there. */
function textOf({ path, on = [], does = [], isSettled }: CodeLine, uid: string): readonly string[] {
  const places = on.flatMap((place) =>
    place === 'every request' ? [place] : place.endsWith(` of ${uid}`) ? [place.slice(0, -` of ${uid}`.length)] : [],
  )
  return isSettled || places.length === 0 || does.length === 0 ? [] : [`${path} (${places.join(', ')}): ${does.join(', ')}`]
}
