// Errors of fields in the reader's language.
import type { ReactNode } from 'react'
import type { FieldError } from '../form/errors.js'
import { useWords } from '../parts/words.js'
import type { components } from '../server/api.js'
import type { Words } from '../words/catalog.js'

/** Codes that have a text; the message describes an `invalid` value. */
type Code = Exclude<components['schemas']['InputErrorCode'], 'invalid'>
type Errors = Pick<Words['errors'], Code>
type TextError = Pick<FieldError, 'code' | 'params' | 'message'>

/** The form of uids without an expression of their own. */
export const uidPattern = '^[A-Za-z0-9-_.~]*$'

/** Longer texts are left to the service, which stops slow patterns. */
const longestTried = 1_000

/** True if an expression matches a text; null: it is left to the service. */
export function matchesPattern(text: string, source: unknown): boolean | null {
  if (typeof source !== 'string' || text.length > longestTried) return null
  try {
    return new RegExp(source).test(text)
  } catch {
    return null
  }
}

const isKnown = (errors: Errors, code: string): code is Code => Object.hasOwn(errors, code)

/** The text for the code of an error, or the sentence of the service. */
function errorText({ errors }: Words, { code, params, message }: TextError, label: string): string {
  if (code === 'pattern' && params.pattern === uidPattern) return errors.format(label, { expected: 'uid' })
  return isKnown(errors, code) ? errors[code](label, params) : message
}

interface ErrorTextsProps {
  readonly errors: readonly TextError[]
  readonly label: string
  /** An example of the expected format, if it has it. */
  readonly placeholder: unknown
}

/** The errors of a field; expressions say little to editors, so that they are folded, and only shown without an example. */
export function ErrorTexts({ errors, label, placeholder }: ErrorTextsProps): ReactNode {
  const words = useWords()
  const pattern = errors.find(({ code, params }) => code === 'pattern' && params.pattern !== uidPattern)?.params.pattern
  const example =
    typeof placeholder === 'string' && placeholder !== '' && matchesPattern(placeholder, pattern) === true ? placeholder : undefined
  return (
    <>
      {errors.map((error) => errorText(words, { ...error, params: { ...error.params, example } }, label)).join(' ')}
      {typeof pattern === 'string' && example === undefined && (
        <details>
          <summary>{words.fields.expectedFormat}</summary>
          <code>{pattern}</code>
        </details>
      )}
    </>
  )
}
