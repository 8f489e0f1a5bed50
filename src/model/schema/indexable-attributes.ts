// Which attributes are worth an index of ours.

import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { Scalar } from './types.js'

/** Long texts and structures are not worth an index; two values do not tell rows apart. */
const unindexedTypes: ReadonlySet<ScalarType> = new Set(['text', 'richtext', 'json', 'blocks', 'password', 'boolean'])

/** Whether an attribute is worth an index; ids have theirs, and locales begin those of others. */
export const isWorthAnIndex = ({ type, name }: Scalar): boolean => !unindexedTypes.has(type) && name !== 'id' && name !== 'locale'
