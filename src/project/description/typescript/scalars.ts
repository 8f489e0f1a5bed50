// The TypeScript type of each scalar attribute type: in responses, in filters and in the data of writes. One row each.

import type { ScalarType } from '../../../foundation/public/attribute-types.js'
import { fileType } from '../../../model/schema/link.js'
import type { Scalar } from '../../../model/schema/types.js'
import type { DescribedShape } from '../view.js'
import { literal, union } from './print.js'

interface Row {
  readonly response: string
  readonly filter: string
  /** Absent: as in responses. */
  readonly input?: string
}

const text: Row = { response: 'string', filter: 'Octavo.TextFilter' }
const number: Row = { response: 'number', filter: 'Octavo.NumberFilter' }
const moment: Row = { response: 'string', filter: 'Octavo.MomentFilter', input: 'string | Date' }

const rows: Readonly<Record<ScalarType, Row>> = {
  string: text,
  text,
  richtext: text,
  email: text,
  uid: text,
  password: text,
  enumeration: text,
  integer: number,
  float: number,
  decimal: number,
  biginteger: { response: 'string', filter: 'Octavo.BigintegerFilter', input: 'string | number | bigint' },
  boolean: { response: 'boolean', filter: 'Octavo.BooleanFilter' },
  date: { response: 'string', filter: 'Octavo.DateFilter', input: 'string | Date' },
  time: { response: 'string', filter: 'Octavo.TimeFilter' },
  datetime: moment,
  timestamp: moment,
  json: { response: 'unknown', filter: 'Octavo.JsonFilter' },
  blocks: { response: 'Octavo.BlocksContent', filter: 'Octavo.JsonFilter' },
}

/** JSON attributes of files whose structure is known. */
const ofFiles: Readonly<Record<string, string>> = { formats: 'Octavo.FileFormats', focalPoint: 'Octavo.FocalPoint' }

const choicesOf = ({ type, source }: Scalar): readonly string[] | null =>
  type === 'enumeration' && Array.isArray(source.enum) && source.enum.length > 0 ? source.enum.map((value) => literal(String(value))) : null

/** The type of a value in responses, without null. */
export function responseType(shape: DescribedShape, attribute: Scalar): string {
  if (shape.uid === fileType && attribute.type === 'json') return ofFiles[attribute.name] ?? 'unknown'
  const choices = choicesOf(attribute)
  return choices === null ? rows[attribute.type].response : union(choices)
}

/** The type of a condition. */
export function filterType(attribute: Scalar): string {
  const choices = choicesOf(attribute)
  return choices === null ? rows[attribute.type].filter : `Octavo.ChoiceFilter<${union(choices)}>`
}

/** The type of a value in the data of a write, without null. */
export function inputType(attribute: Scalar): string {
  const choices = choicesOf(attribute)
  const { input, response } = rows[attribute.type]
  return choices === null ? (input ?? response) : union(choices)
}
