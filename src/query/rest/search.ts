// `_q`: texts that contain the words, numbers whose digits do, in attributes that the caller may read.
import { validationError } from '../../foundation/errors/errors.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import type { ContentType } from '../../model/schema/types.js'
import type { Filter } from '../request.js'
import type { Resolver } from './resolve.js'
import { bind, deferError, isReadable } from './resolve.js'

/** Reads `_q`. Private attributes are never looked into (Strapi does, which tells their values). What is no text is refused. */
export function readSearch(reading: Resolver, type: ContentType, value: unknown): Filter | null {
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') {
    deferError(reading, 'search', validationError('Invalid _q parameter. Expected a string'))
    return null
  }
  const isNumber = value.trim() !== '' && Number.isFinite(Number(value))
  const of = [...type.attributes.values()].flatMap((attribute): Filter[] => {
    if (!isReadable(reading, attribute) || !attribute.searchable) return []
    const { search } = attributeTypes[attribute.type]
    if (search === null || (search === 'number' && !isNumber)) return []
    return [{ kind: 'compare', attribute, operator: '$containsi', values: [bind(reading, value)] }]
  })
  // Nothing to look into finds nothing.
  return of.length === 0
    ? { kind: 'compare', attribute: type.attributes.get('id') as never, operator: '$in', values: [] }
    : { kind: 'any', of }
}
