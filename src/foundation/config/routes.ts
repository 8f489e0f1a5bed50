// The routes that a project adds: their form in octavo.config.
import * as z from 'zod'
import type { CustomRoute, ResponsesByStatus, RouteBody, RouteDefinition, RouteMethod, RouteResponse } from '../public/routes.js'
import type { StandardSchema } from '../public/standard-schema.js'

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Schemas are objects, or functions with properties. */
const isSchema = (value: unknown): boolean =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  isFunction((value as Partial<StandardSchema>)['~standard']?.validate)

const schema = () =>
  z.custom<StandardSchema>(isSchema, 'must be a schema of a library that implements Standard Schema, such as Zod or Valibot')

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Responses by their statuses. */
export const isByStatus = (response: RouteResponse): response is ResponsesByStatus => {
  const statuses = Object.keys(response)
  return statuses.length > 0 && statuses.every((status) => /^[2-5]\d\d$/.test(status))
}

const isDescribed = (value: unknown): boolean => isSchema(value) || isObject(value)

const response = () =>
  z.custom<RouteResponse>(
    (value) =>
      isDescribed(value) &&
      (!isByStatus(value as RouteResponse) || Object.values(value as object).every((one) => one === null || isDescribed(one))),
    'must be JSON Schema, a schema of a library, or an object with these by status',
  )

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly RouteMethod[]

/** The most characters and parts of a path. */
const [longestPath, mostParts] = [200, 20]
const literal = /^(?!\.{1,2}$)[\w.~-]+$/
const parameter = /^:(?!__proto__$|constructor$|prototype$)[A-Za-z_]\w*$/

/** What is wrong with a path, as the end of a sentence; null: nothing. */
function problemOf(path: string): string | null {
  if (!path.startsWith('/') || path.length > longestPath) return `must begin with a slash and have at most ${longestPath} characters`
  const [first, ...others] = path.slice(1).split('/')
  if (others.length >= mostParts) return `must have at most ${mostParts} parts`
  if (!literal.test(first!)) return 'must begin with a name, as in /orders/:documentId'
  const wrong = others.find((part) => !literal.test(part) && !parameter.test(part))
  if (wrong !== undefined) return `has the part "${wrong}", which is neither a name nor a :parameter`
  const names = others.filter((part) => part.startsWith(':'))
  return new Set(names).size < names.length ? 'names a parameter twice' : null
}

const action = () => z.string().regex(/^(?:api|plugin)::[\w-]+\.[\w-]+\.[\w-]+$/, 'must have the form api::order.order.checkout')

const routeSettings = () =>
  z
    .strictObject({
      method: z.enum(methods),
      path: z.string().superRefine((path, context) => {
        const problem = problemOf(path)
        if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      }),
      base: z.enum(['api', 'root']).optional(),
      action: action().optional(),
      auth: z.boolean().optional(),
      params: schema().optional(),
      query: schema().optional(),
      body: z.union([z.enum(['json', 'raw', 'stream']), schema()], 'must be "json", "raw", "stream" or a schema').optional(),
      summary: z.string().optional(),
      description: z.string().optional(),
      tags: z.array(z.string().min(1)).readonly().optional(),
      response: response().optional(),
      handle: z.custom<CustomRoute['handle']>(isFunction, 'must be a function'),
    })
    .refine(
      (route) => (route.action === undefined) === (route.auth === false),
      'needs either an action, which roles are granted, or auth: false',
    )
    .refine(({ method, body }) => method !== 'GET' || body === undefined, 'has the method GET, which has no body')

/** The routes of a project. */
export const routesSettings = () =>
  z.array(routeSettings()).readonly() as unknown as z.ZodType<readonly CustomRoute[], readonly CustomRoute[]>

/** Types a route: `defineRoute({ method, path, action, handle })`. Its path and schemas give the argument of `handle` its types. */
export const defineRoute = <
  const Path extends string,
  Params extends StandardSchema | undefined = undefined,
  Query extends StandardSchema | undefined = undefined,
  const Body extends RouteBody = undefined,
>(
  route: RouteDefinition<Path, Params, Query, Body>,
): CustomRoute => route as unknown as CustomRoute
