// Errors of fields in the reader's language.
import type { FieldError } from '../form/errors.js'
import type { Words } from '../words/catalog.js'

type Errors = Words['errors']

const isKnown = (errors: Errors, code: string): code is keyof Errors => Object.hasOwn(errors, code)

/** The text for the code of an error, or the sentence of the service. */
export function errorText({ errors }: Words, { code, params, message }: FieldError, label: string): string {
  return isKnown(errors, code) ? errors[code](label, params) : message
}
