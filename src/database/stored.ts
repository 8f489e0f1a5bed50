// What a column may hold, in the forms that the service knows: moments as milliseconds since 1970, booleans as 0 and 1, JSON as text.
import type { ScalarType } from '../foundation/public/attribute-types.js'

export type Stored = string | number | bigint | null

/** Why a column does not give a moment back as it was written, as the end of a sentence; null: it does. */
export type MomentFault = (milliseconds: number, type: ScalarType) => string | null
