// Where a name stands inside of a populate: errors about its fields, filters and orders begin their path there.
import type { Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/rest/parameters.js'
import { populatedBy } from './populated.js'

/** One level of a populate that has a name. */
export interface LevelOfName {
  /** `populate[author][populate][portrait]`. */
  readonly written: string
  /** The attributes that lead to it. */
  readonly above: readonly string[]
  readonly shapes: readonly Schema[]
  readonly param: LevelParameter
}

const levelParameters = ['fields', 'filters', 'sort', 'populate'] as const
type LevelParameter = (typeof levelParameters)[number]

/** The first level whose fields, filters, sort or populate has these steps; null if none has. */
export function levelWith(model: Model, type: Schema, populate: unknown, steps: readonly string[]): LevelOfName | null {
  for (const { path, shapes, value } of populatedBy(model, type, populate)) {
    if (!isObject(value)) continue
    const above = path.split('.')
    const written = `populate[${above.join('][populate][')}]`
    const fragments = Object.entries(isObject(value.on) ? value.on : {}).flatMap(([uid, level]) => {
      const shape = model.components.get(uid) ?? model.types.get(uid)
      return shape === undefined || !isObject(level) ? [] : [{ level, shapes: [shape], written: `${written}[on][${uid}]` }]
    })
    for (const one of [{ level: value, shapes, written }, ...fragments]) {
      const param = levelParameters.find((name) => has(name, one.level[name], steps))
      if (param !== undefined) return { written: one.written, above, shapes: one.shapes, param }
    }
  }
  return null
}

function has(param: LevelParameter, node: unknown, steps: readonly string[]): boolean {
  if (param === 'filters') return hasPath(node, steps)
  return textsOf(node, param === 'populate').some((text) => {
    const name = param === 'sort' ? text.split(':')[0] : text
    return name === steps.join('.')
  })
}

/** The names of a list in any of its forms; of an object, its keys too. */
function textsOf(node: unknown, withKeys: boolean): readonly string[] {
  if (typeof node === 'string') return node.split(',').map((text) => text.trim())
  if (Array.isArray(node)) return node.flatMap((entry) => textsOf(entry, withKeys))
  if (!isObject(node)) return []
  return withKeys ? Object.keys(node) : Object.values(node).flatMap((entry) => textsOf(entry, false))
}

function hasPath(node: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true
  if (Array.isArray(node)) return node.some((entry) => hasPath(entry, [step, ...rest]))
  if (!isObject(node)) return false
  return Object.entries(node).some(([name, value]) =>
    name === step ? hasPath(value, rest) : /^(?:\$(?:and|or|not)|\d+)$/.test(name) && hasPath(value, [step, ...rest]),
  )
}
