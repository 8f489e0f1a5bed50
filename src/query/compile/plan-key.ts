// The shape of a request: everything but its values. Two requests of one shape share a plan.
import type { ReadRequest } from '../request.js'

/** A text that is equal for requests of the same shape, under one model and one contract. */
export function planKey({ values: _values, page, ...rest }: ReadRequest): string {
  return JSON.stringify({ ...rest, page: [page.style, page.withCount] }, namesOnly)
}

/** Types and components stand for their uid, attributes for their name: the path to them tells the rest. The model is the same for all. */
function namesOnly(key: string, value: unknown): unknown {
  if (key === 'model') return undefined
  if (typeof value !== 'object' || value === null || !('source' in value)) return value
  return 'uid' in value ? value.uid : (value as unknown as { name: string }).name
}
