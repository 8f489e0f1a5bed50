// The parameters of each method of `documents(uid)`: what is not among them is refused by its name, as a slip must not read or
// write something else than was meant.
import { outsideOfCode } from '../../foundation/runtime/project-code.js'

const version = ['locale', 'status', 'fields', 'populate'] as const
const criteria = [...version, 'filters', 'sort', '_q'] as const
const act = ['documentId', 'locale', 'fields', 'populate'] as const

const known = {
  findMany: [...criteria, 'start', 'limit', 'pagination'],
  findFirst: criteria,
  findOne: ['documentId', ...version],
  count: ['locale', 'status', 'filters', '_q'],
  create: ['data', ...version],
  update: ['documentId', 'data', ...version],
  delete: act,
  publish: act,
  unpublish: act,
  discardDraft: act,
  createMany: ['data', ...version],
  updateMany: ['documentIds', 'filters', 'data', ...version],
  deleteMany: ['documentIds', 'filters', 'locale', 'fields', 'populate'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The names of the methods. */
export type Method = keyof typeof known

/** Methods that nothing can be meant by without parameters. */
const needing: ReadonlySet<Method> = new Set(['create', 'update', 'createMany', 'updateMany', 'deleteMany'])

/** @throws TypeError for anything but an object of the method's parameters, and those in `also`. What is undefined counts as absent. */
export function checkParameters(uid: string, method: Method, given: unknown, also: readonly string[] = []): void {
  const names = [...known[method], ...also]
  const there = `there are ${names.join(', ')}`
  if (given === undefined && !needing.has(method)) return
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`documents('${uid}').${method} takes an object of parameters: ${there}`)
  }
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`documents('${uid}').${method} has no parameter ${unknown[0]}: ${there}`)
}

/** Makes a method that checks its parameters before it does anything. */
export type CheckedMethods = <Parameters, Result>(
  method: Method,
  perform: (given: Parameters) => Promise<Result>,
) => (given?: Parameters) => Promise<Result>

/** The methods of a type's documents. What they do is the service's own work, whichever code of the project calls them. */
export const checkedMethods =
  (uid: string): CheckedMethods =>
  (method, perform) =>
  async (given) => {
    checkParameters(uid, method, given)
    return outsideOfCode(() => perform(given ?? ({} as NonNullable<typeof given>)))
  }
