// Finds the resource of a path. A segment that is written out precedes a parameter in its place.
import type { Resource } from './resource.js'

/** A path with its resources by method. */
interface PathPlace {
  readonly parts: readonly string[]
  readonly resources: Map<string, Resource>
}

/** The resources at a path, and the parameters of the path as they were sent. */
export interface FoundPlace {
  readonly resources: ReadonlyMap<string, Resource>
  readonly params: Readonly<Record<string, string>>
}

/** Finds the resources at a path below the prefix; null if there are none. */
export type FindPlace = (path: string) => FoundPlace | null

const partsOf = (path: string): readonly string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/')
const isParameter = (part: string): boolean => part.startsWith(':')

/** Opens the routing of a table of resources. */
export function openRouting(resources: readonly Resource[]): FindPlace {
  const byPath = new Map<string, PathPlace>()
  for (const resource of resources) {
    const place = byPath.get(resource.path) ?? { parts: partsOf(resource.path), resources: new Map<string, Resource>() }
    place.resources.set(resource.method, resource)
    byPath.set(resource.path, place)
  }
  // Where two paths match, the first part in which they differ decides.
  const rank = ({ parts }: PathPlace) => parts.map((part) => (isParameter(part) ? '1' : '0')).join('')
  const places = [...byPath.values()].sort((one, other) => (rank(one) < rank(other) ? -1 : 1))
  return (path) => {
    const asked = partsOf(path)
    const found = places.find(
      ({ parts }) =>
        parts.length === asked.length && parts.every((part, index) => (isParameter(part) ? asked[index] !== '' : part === asked[index])),
    )
    if (found === undefined) return null
    const named = found.parts.flatMap((part, index) => (isParameter(part) ? [[part.slice(1), decoded(asked[index]!)] as const] : []))
    return { resources: found.resources, params: Object.fromEntries(named) }
  }
}

/** A segment of a path as text. The HTTP library has refused URLs that cannot be decoded. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The methods of a place, for `Allow`. */
export const methodsOf = ({ resources }: FoundPlace): readonly string[] => [...(resources.has('GET') ? ['HEAD'] : []), ...resources.keys()]
