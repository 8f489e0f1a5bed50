// All scalar attribute types: Strapi's types and their columns (decision 001). A new one is a name in
// foundation/public/attribute-types.ts, a row here, and a file next to this one.
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { AttributeType } from './attribute-type.js'
import { date, datetime, time, timestamp } from './dates.js'
import { blocks, json } from './json.js'
import { biginteger, boolean, decimal, float, integer } from './numbers.js'
import { email, enumeration, password, richtext, string, text, uid } from './text.js'

export const attributeTypes: Readonly<Record<ScalarType, AttributeType>> = {
  string,
  text,
  richtext,
  email,
  password,
  uid,
  enumeration,
  integer,
  biginteger,
  float,
  decimal,
  boolean,
  date,
  time,
  datetime,
  timestamp,
  json,
  blocks,
}

export function isScalarType(type: string): type is ScalarType {
  return Object.hasOwn(attributeTypes, type)
}
