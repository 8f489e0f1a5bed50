// An e-mail that a caller or code of the project gives: addresses and texts, nothing that a mail library would read from elsewhere.
import { bodyMembers } from '../access/body.js'
import type { Email } from './email.js'
import { type FieldError, fieldError, fieldErrors, isEmailAddress } from './input.js'

/** Characters of the longest subject, and of a name before an address. */
const longestSubject = 998
const longestName = 200

const known = ['to', 'cc', 'bcc', 'from', 'replyTo', 'subject', 'text', 'html']

/** Control characters, which would begin another header. */
const controls = /\p{Cc}/u

/** True for `name@example.org` and `Name <name@example.org>`. */
function isMailbox(text: unknown): text is string {
  if (typeof text !== 'string' || controls.test(text)) return false
  const [, name, address] = /^([^<>,;]*)<([^<>]+)>$/.exec(text.trim()) ?? [null, '', text.trim()]
  return name!.length <= longestName && isEmailAddress(address!)
}

/**
 * Reads an e-mail.
 * @param recipients the most addresses of `to`, `cc` and `bcc` together
 * @throws ApiError 400 with all that is wrong
 */
export function readEmail(body: unknown, recipients: number): Email {
  const given = bodyMembers(body)
  const errors: FieldError[] = []
  const wrong = (name: string, message: string): void => void errors.push(fieldError(name, message))
  const list = (name: string): readonly string[] => {
    const value = given[name]
    if (value === undefined || value === null || value === '') return []
    const all: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value]
    if (all.length > recipients) {
      wrong(name, `${name} has more than ${recipients} addresses (limits.mailRecipients)`)
      return []
    }
    if (all.every(isMailbox)) return all.map((one) => one.trim())
    wrong(name, `${name} must be an e-mail address, or several`)
    return []
  }
  const text = (name: string): string | undefined => {
    const value = given[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') return value
    wrong(name, `${name} must be a text`)
    return undefined
  }
  const [to, cc, bcc, replyTo, from] = [list('to'), list('cc'), list('bcc'), list('replyTo'), list('from')]
  const [subject = '', plain, html] = [text('subject'), text('text'), text('html')]
  if (to.length === 0 && !errors.some(({ path }) => path[0] === 'to')) wrong('to', 'to is a required field')
  if (to.length + cc.length + bcc.length > recipients) wrong('to', `An e-mail has at most ${recipients} recipients (limits.mailRecipients)`)
  if (from.length > 1) wrong('from', 'from must be one e-mail address')
  if (subject === '' && !errors.some(({ path }) => path[0] === 'subject')) wrong('subject', 'subject is a required field')
  if (subject.length > longestSubject || controls.test(subject))
    wrong('subject', `subject must be one line of at most ${longestSubject} characters`)
  if (plain === undefined && html === undefined) wrong('text', 'text or html is a required field')
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length > 0)
    wrong(unknown[0]!, `An e-mail has no ${unknown.slice(0, 10).join(', ').slice(0, 200)}; it has ${known.join(', ')}`)
  if (errors.length > 0) throw fieldErrors(errors)
  return {
    ...{ to, cc, bcc, replyTo, from: from[0] ?? null, subject },
    ...(plain === undefined ? {} : { text: plain }),
    ...(html === undefined ? {} : { html }),
  }
}
