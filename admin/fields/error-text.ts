// Errors of fields in the reader's language.
import type { FieldError } from '../form/errors.js'
import type { components } from '../server/api.js'
import type { Words } from '../words/catalog.js'

/** Codes that have a text; the message describes an `invalid` value. */
type Code = Exclude<components['schemas']['InputErrorCode'], 'invalid'>
type Errors = Pick<Words['errors'], Code>

/** The form of uids without an expression of their own. */
export const uidPattern = '^[A-Za-z0-9-_.~]*$'

const isKnown = (errors: Errors, code: string): code is Code => Object.hasOwn(errors, code)

/** The text for the code of an error, or the sentence of the service. */
export function errorText(
  { errors }: Words,
  { code, params, message }: Pick<FieldError, 'code' | 'params' | 'message'>,
  label: string,
): string {
  if (code === 'pattern' && params.pattern === uidPattern) return errors.format(label, { expected: 'uid' })
  return isKnown(errors, code) ? errors[code](label, params) : message
}
