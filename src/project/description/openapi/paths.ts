// The paths of a description: operations by path and method. Routes below nothing have a server of their own.
import type { ApiOperation } from './operation.js'
import type { DescriptionObject } from './schema.js'

/** Paths that differ in names of parameters alone are the same. */
const shapeOf = (path: string): string => path.toLowerCase().replaceAll(/\{\w+\}/g, '{}')

/**
 * Returns the path items. `root`: the server of routes below nothing. Such a route may have the path of another one that is below the
 * prefix; it is then described with a slash at its end, which has no meaning to the service.
 */
export function pathItems(
  operations: readonly ApiOperation[],
  root: string,
  print: (operation: ApiOperation) => DescriptionObject,
): Readonly<Record<string, DescriptionObject>> {
  const items: Record<string, Record<string, unknown>> = {}
  const taken = new Set(operations.filter(({ isAtRoot }) => isAtRoot !== true).map(({ path }) => shapeOf(path)))
  for (const operation of operations) {
    const { isAtRoot, path, method } = operation
    const key = isAtRoot === true && taken.has(shapeOf(path)) ? `${path}/` : path
    items[key] ??= isAtRoot === true ? { servers: [{ url: root }] } : {}
    items[key][method] = print(operation)
  }
  return items
}
