// The names of the scalar attribute types of schema.json; model/types/attribute-types.ts has a row for each.

export const scalarTypes = [
  'string',
  'text',
  'richtext',
  'email',
  'uid',
  'enumeration',
  'password',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'boolean',
  'date',
  'time',
  'datetime',
  'timestamp',
  'json',
  'blocks',
] as const

export type ScalarType = (typeof scalarTypes)[number]
