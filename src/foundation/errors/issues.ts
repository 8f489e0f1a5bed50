// The codes of errors about input, and the parameters from which a client builds a sentence in its language.

/** The codes and their meanings; `params` has the members in parentheses. */
export const issueCodes = {
  required: 'There is no value, and there must be one',
  type: 'The value has another type (expected)',
  format: 'The text or number does not have the form of its type (expected)',
  enum: 'The value is none of the allowed ones (allowed)',
  minLength: 'The text is too short (min, actual)',
  maxLength: 'The text is too long (max, actual)',
  min: 'The number is too small (min, actual)',
  max: 'The number is too large (max, actual)',
  minItems: 'The list has too few entries (min, actual)',
  maxItems: 'The list has too many entries (max, actual)',
  pattern: 'The text does not match a regular expression (pattern)',
  unique: 'Another document, user or object has this value',
  notFound: 'The referenced object does not exist',
  unknown: 'There is no attribute, parameter or operator with this name (name)',
  forbidden: 'The attribute may not be given',
  unsupported: 'The attribute or type does not support this',
  cannotSort: 'Lists cannot be sorted by this attribute',
  cursor: 'The cursor is invalid, of another query or of an earlier state of the list',
  conflict: 'The value excludes another one of the same request',
  duplicate: 'The same value is given twice',
  tooMany: 'The request is too large (max)',
  invalid: 'Any other error; the message describes it',
} as const

/** What is wrong with a value of the input. */
export type IssueCode = keyof typeof issueCodes

/** The numbers and texts of a sentence about an error. Only `actual` derives from the value. */
export interface IssueParams {
  readonly min?: number
  readonly max?: number
  /** The length of a text, the number of entries, or the number itself. */
  readonly actual?: number
  /** The type, or the form of a text. */
  readonly expected?: string
  readonly allowed?: readonly unknown[]
  readonly pattern?: string
  readonly name?: string
}

/** The cause of an error about input, without its position. */
export interface Issue {
  readonly code: IssueCode
  readonly params?: IssueParams
}

/** An error at one position of the input, with a sentence in English. */
export interface InputMistake extends Partial<Issue> {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Parameters without those that derive from the value. */
export function withoutActual({ code, params = {} }: Issue): Issue {
  const { actual: _, ...rest } = params
  return { code, params: rest }
}
