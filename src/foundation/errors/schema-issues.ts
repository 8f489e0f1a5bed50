// Errors of a zod schema with the codes of `issues.ts`.
import type * as z from 'zod'
import type { InputMistake, Issue } from './issues.js'

type ZodIssue = z.core.$ZodIssue

/** The options of a refinement whose error has a code. */
export const refusal = (error: string, issue: Issue) => ({ error, params: { issue } })

/** The errors of `value`, at most `most`: one for each unknown key. */
export function toMistakes(issues: readonly ZodIssue[], value: unknown, most = 100): readonly InputMistake[] {
  return issues.flatMap((issue): readonly InputMistake[] => located(issue, value)).slice(0, most)
}

function located(issue: ZodIssue, value: unknown): readonly InputMistake[] {
  const { message } = issue
  const path = issue.path.map(toStep)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((name) => ({ path: [...path, name], message: `Unrecognized key: "${name}"`, code: 'unknown', params: { name } }))
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? message, code: 'unknown' }]
  return [{ path, message, ...toIssue(issue, valueAt(value, issue.path)) }]
}

const toStep = (step: PropertyKey): string | number => (typeof step === 'symbol' ? String(step) : step)

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((above, step) => (typeof above === 'object' && above !== null ? (above as never)[step] : undefined), value)

function toIssue(issue: ZodIssue, value: unknown): Issue {
  switch (issue.code) {
    case 'invalid_type':
      return value === undefined || value === null
        ? { code: 'required', params: { expected: issue.expected } }
        : { code: 'type', params: { expected: issue.expected } }
    case 'invalid_value':
      return value === undefined ? { code: 'required' } : { code: 'enum', params: { allowed: issue.values } }
    case 'invalid_union':
      return { code: value === undefined ? 'required' : 'type' }
    case 'invalid_format':
      return issue.format === 'regex'
        ? { code: 'pattern', ...(issue.pattern === undefined ? {} : { params: { pattern: issue.pattern } }) }
        : { code: 'format', params: { expected: issue.format } }
    case 'too_small':
      return limited(issue.origin, 'min', Number(issue.minimum), value)
    case 'too_big':
      return limited(issue.origin, 'max', Number(issue.maximum), value)
    case 'custom':
      return (issue.params?.issue as Issue | undefined) ?? { code: 'invalid' }
    default:
      return { code: 'invalid' }
  }
}

/** A limit of a text, a list or a number. */
function limited(origin: string, side: 'min' | 'max', limit: number, value: unknown): Issue {
  const kind = origin === 'string' ? 'Length' : ['array', 'set', 'map', 'object'].includes(origin) ? 'Items' : ''
  const actual = kind === '' ? Number(value) : typeof value === 'string' || Array.isArray(value) ? value.length : Number.NaN
  return { code: `${side}${kind}`, params: { [side]: limit, ...(Number.isNaN(actual) ? {} : { actual }) } }
}
