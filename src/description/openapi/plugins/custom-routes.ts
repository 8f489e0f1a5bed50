// The operations of the routes that a project adds. What they take and return is known to their code alone, but for what the definition says.
import type { CustomRoute } from '../../../public/routes.js'
import { type ApiOperation, type HttpMethod, inPath } from '../operation.js'

/** The routes below the prefix of the API. */
export const customOperations = (routes: readonly CustomRoute[]): readonly ApiOperation[] =>
  routes.filter(({ base }) => base !== 'root').map(operationOf)

function operationOf({ method, path, action, summary, description, body }: CustomRoute): ApiOperation {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const mediaType = body === 'raw' || body === 'stream' ? 'application/octet-stream' : 'application/json'
  return {
    ...{ method: method.toLowerCase() as HttpMethod, path: path.replaceAll(/:(\w+)/g, '{$1}') },
    ...{ action: action ?? null, tag: 'routes', summary: summary ?? `${method} ${path}` },
    ...(description === undefined ? {} : { description }),
    parameters: names.map((name) => inPath(name, 'A part of the path.')),
    ...(body === undefined ? {} : { body: { required: true, content: { [mediaType]: { schema: {} } } } }),
    success: { status: 200, description: 'What the function of the project returns.', schema: {} },
    errors: [404, 503],
  }
}
