// Errors of fields in the reader's language.
import type { FieldError } from '../form/errors.js'
import type { Words } from '../words/catalog.js'

type ErrorText = (label: string, params: Readonly<Record<string, unknown>>) => string

/** The text for the code of an error, or the sentence of the service. */
export function errorText({ errors }: Words, { code, params, message }: FieldError, label: string): string {
  const text = (errors as Readonly<Record<string, unknown>>)[code]
  if (typeof text === 'function') return (text as ErrorText)(label, params)
  return typeof text === 'string' ? text : message
}
