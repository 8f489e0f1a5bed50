// Permitted headers of a webhook: those that Node sends.
import { validateHeaderName, validateHeaderValue } from 'node:http'

/** True for a name and a value that a request can carry as a header. */
export function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
