// The preferences of a request, in `Prefer` (RFC 7240).
import type { IncomingHttpHeaders } from 'node:http'

/** The preferences that resources may honour, by name and value. */
const preferences = {
  'return=minimal': 'the response has no values of the document',
  'handling=lenient': 'values that cannot be stored are left out, and listed in `refused`',
} as const

export type Preference = keyof typeof preferences

/** The preferences in `offered` that a request has. Of several values of a preference the first one counts. */
export function readPreferences({ prefer }: IncomingHttpHeaders, offered: readonly Preference[]): ReadonlySet<Preference> {
  const given = new Map<string, string>()
  for (const part of String(prefer ?? '').split(',')) {
    const [, name, value] = /^\s*([\w-]+)\s*=\s*"?([\w-]+)"?\s*(?:;|$)/.exec(part) ?? []
    if (name !== undefined && !given.has(name.toLowerCase())) given.set(name.toLowerCase(), value!.toLowerCase())
  }
  return new Set(offered.filter((one) => given.get(one.split('=')[0]!) === one.split('=')[1]))
}

/** The response header that names the honoured preferences. */
export const appliedHeader = (preferred: ReadonlySet<Preference>): Readonly<Record<string, string>> =>
  preferred.size === 0 ? {} : { 'preference-applied': [...preferred].join(', ') }

/** The description of `Prefer`. */
export const describePreferences = (offered: readonly Preference[]): string =>
  offered.map((one) => `\`${one}\`: ${preferences[one]}`).join('; ')
