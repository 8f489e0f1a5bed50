// How much one body may write: entries of components and targets of relations, each of which becomes rows, and passwords.
import { validationError } from '../../../foundation/errors/errors.js'
import type { ContentType, Model, Schema } from '../../../model/schema/types.js'

export interface SizeLimits {
  /** Entries of components and dynamic zones in one document. */
  readonly componentEntries: number
  /** Targets of its relations and media, those of its components included. */
  readonly relationTargets: number
  /** Its passwords: each takes tens of milliseconds. */
  readonly documentPasswords: number
}

interface Sizes {
  entries: number
  targets: number
  readonly passwords: string[]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Returns the passwords that data gives. @throws ApiError 400 for data with more entries, targets or passwords than that */
export function checkSize(model: Model, type: ContentType, data: unknown, limits: SizeLimits): readonly string[] {
  const sizes: Sizes = { entries: 0, targets: 0, passwords: [] }
  for (const body of listed(data)) {
    measure(model, type, body, sizes)
    if (sizes.entries > limits.componentEntries)
      throw validationError(`The data has more than ${limits.componentEntries} entries of components`)
    if (sizes.targets > limits.relationTargets)
      throw validationError(`The data names more than ${limits.relationTargets} targets of relations`)
    if (sizes.passwords.length > limits.documentPasswords)
      throw validationError(`The data has more than ${limits.documentPasswords} passwords`)
  }
  return sizes.passwords
}

function measure(model: Model, shape: Schema, body: unknown, sizes: Sizes): void {
  if (!isObject(body)) return
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    if (attribute?.kind === 'scalar' && attribute.type === 'password' && typeof value === 'string') sizes.passwords.push(value)
    if (attribute === undefined || attribute.kind === 'scalar' || !isObject(value)) continue
    if (attribute.kind === 'component' || attribute.kind === 'dynamiczone') {
      for (const entry of listed(value)) {
        sizes.entries++
        const uid = attribute.kind === 'component' ? attribute.component : isObject(entry) ? entry.__component : undefined
        const component = typeof uid === 'string' ? model.components.get(uid) : undefined
        if (component !== undefined) measure(model, component, entry, sizes)
      }
    } else {
      const lists = Array.isArray(value) ? [value] : [value.set, value.connect, value.disconnect]
      for (const list of lists) sizes.targets += Array.isArray(list) ? list.length : 0
    }
  }
}
