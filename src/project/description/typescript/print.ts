// How names, texts and values of a project are written in TypeScript. Whatever a schema contains stays a name, a literal or a comment.

/** A text as a literal. */
export const literal = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

/** The name of a property, quoted if necessary. */
export const property = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name))

/** A comment of one line. */
export const comment = (text: string): string => `/** ${text.replaceAll(/[\r\n\u2028\u2029]+/g, ' ').replaceAll('*/', '*\\/')} */`

/** Several types as a union; `never` for none. */
export const union = (types: readonly string[]): string => (types.length === 0 ? 'never' : types.join(' | '))

/** A type that may also be null. */
export const orNull = (type: string, isNullable: boolean): string => (isNullable && type !== 'unknown' ? `${type} | null` : type)

/** A property with its type. */
export interface TypeMember {
  readonly name: string
  readonly type: string
  readonly isOptional?: boolean
}

/** The members of an object type, one a line. */
export const members = (list: readonly TypeMember[], indent: string): string =>
  list.map(({ name, type, isOptional }) => `${indent}${property(name)}${isOptional ? '?' : ''}: ${type}\n`).join('')

/** Properties that are read as unknown, and take values of their type. */
export const accessors = (list: readonly TypeMember[], indent: string): string =>
  list.map(({ name, type }) => `${indent}get ${property(name)}(): unknown\n${indent}set ${property(name)}(value: ${type})\n`).join('')

/** An exported interface. */
export const printInterface = (name: string, list: readonly TypeMember[], parent = ''): string =>
  `export interface ${name}${parent === '' ? '' : ` extends ${parent}`} {\n${members(list, '  ')}}\n`

/** A JSON value as the type that has only this value. */
export function valueType(value: unknown): string {
  if (typeof value === 'string') return literal(value)
  if (Array.isArray(value)) return `readonly [${value.map(valueType).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return entries.length === 0 ? '{}' : `{ ${entries.map(([key, inner]) => `${property(key)}: ${valueType(inner)}`).join('; ')} }`
}
