// The report of a comparison, as text and as JSON.
import type { Findings, Group, ShownDifference, ShownRequest } from './groups.js'
import type { ResponseTimes } from './times.js'
import type { Verified } from './verify.js'

/** A comparison that has ended. */
export interface CompareReport {
  readonly findings: Findings
  /** Requests without a response, by what went wrong. */
  readonly failed: ReadonlyMap<string, number>
  /** What was not compared, by reason; 0: the number is not known. */
  readonly leftOut: ReadonlyMap<string, number>
  readonly times: { readonly strapi: ResponseTimes; readonly octavo: ResponseTimes }
  /** For groups with defaults, whether these make the responses equal. */
  readonly verified: ReadonlyMap<Group, Verified>
  /** Files of the project whose code may be the cause, by group. */
  readonly files: ReadonlyMap<Group, readonly string[]>
}

/** The exit status: 0 if nothing differs, 1 if something does, 2 if there is nothing to judge by. */
export function statusOf({ findings: { different, same, accepted }, failed }: CompareReport): number {
  if (different > 0) return 1
  return failed.size > 0 || same + accepted === 0 ? 2 : 0
}

/** The report as lines. */
export function* linesOf(comparison: CompareReport): Generator<string> {
  const { findings, failed, leftOut, times } = comparison
  const { groups, documented, same, accepted, different } = findings
  yield `${counted(same + accepted + different, 'request')} compared: ${same} the same, ${accepted} different as documented, ${different} different.`
  for (const [reason, count] of failed) yield `${counted(count, 'request')} without a response: ${reason}.`
  for (const [reason, count] of leftOut) yield count === 0 ? `Left out: ${reason}.` : `${count} left out: ${reason}.`
  for (const [index, group] of groups.entries()) {
    yield ''
    yield* linesOfGroup(group, index + 1, comparison)
  }
  if (documented.length > 0) {
    yield ''
    yield 'Different as docs/differences.md says:'
    for (const { section, row, requests, example } of documented)
      yield `  ${counted(requests, 'request')}: ${section}${row === '' ? '' : `, "${row}"`} (${example.method} ${example.path})`
  }
  yield ''
  yield* linesOfTimes(times)
}

function* linesOfGroup(group: Group, number: number, { verified, files }: CompareReport): Generator<string> {
  const { cause, subject, requests, examples, defaults } = group
  yield `${number}. ${cause.title}: ${subject} (${counted(requests, 'request')})`
  yield `   ${adviceFor(group)}`
  if (defaults !== null) {
    yield* pasteable(group).map((line) => `     ${line}`)
    const text = verdicts[verified.get(group) ?? 'unknown']
    if (text !== '') yield `   ${text}`
  }
  for (const file of files.get(group) ?? []) yield `   Code: ${file}`
  for (const example of examples) yield* linesOfExample(example)
  const more = requests - examples.length
  if (more > 0) yield `   … and ${counted(more, 'request')} more`
}

const verdicts: Readonly<Record<Verified, string>> = {
  equal: 'Checked: with these defaults the response is that of Strapi.',
  sufficient: 'Checked: with these defaults the response has what was missing; it still differs for other causes.',
  different: 'Checked: with these defaults the response still differs.',
  unknown: '',
}

function* linesOfExample({ method, path, as, differences }: ShownRequest): Generator<string> {
  yield `   ${method} ${path} as ${as}`
  for (const difference of differences) yield `     ${lineOf(difference)}`
}

function lineOf({ kind, path, count, strapi, octavo }: ShownDifference): string {
  const place = count > 1 ? `${path} and ${counted(count - 1, 'similar place')}` : path
  return kind === 'order'
    ? `${place}: order ${strapi} in Strapi, ${octavo} in Octavo`
    : `${place}: ${strapi} in Strapi, ${octavo} in Octavo`
}

function* linesOfTimes({ strapi, octavo }: CompareReport['times']): Generator<string> {
  if (strapi.median === null || octavo.median === null) return
  const cell = (value: number | null): string =>
    `${value === null ? '-' : value < 10 ? value.toFixed(1) : Math.round(value)} ms`.padStart(10)
  yield `${'Response times'.padEnd(16)}${'median'.padStart(10)}${'p95'.padStart(10)}`
  for (const [name, times] of [['Strapi', strapi] as const, ['Octavo', octavo] as const])
    yield `${name.padEnd(16)}${cell(times.median)}${cell(times.p95)}`
}

/** The advice with the type and the action of the group. */
function adviceFor({ cause, subject, sample }: Group): string {
  const advice = subject.includes('::') ? cause.advice : (cause.elsewhere ?? cause.advice)
  const action = subject.includes('::') ? `${subject}.${/\/[^/?]+\/[^/?]+\/[^/?]+/.test(sample.path) ? 'findOne' : 'find'}` : '<action>'
  return advice.replaceAll('{uid}', subject).replaceAll('{action}', action)
}

/** Defaults as lines to paste into octavo.config. */
export function pasteable({ defaults }: Pick<Group, 'defaults'>): readonly string[] {
  if (defaults === null) return []
  const { uid, ...rest } = defaults
  return JSON.stringify({ types: { [uid]: { defaults: rest } } }, null, 2)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.slice(2))
}

/** The report as JSON. */
export function jsonOf(comparison: CompareReport): unknown {
  const { findings, failed, leftOut, times, verified, files } = comparison
  const { groups, documented, same, accepted, different } = findings
  return {
    ...{ same, documented: accepted, different, failed: Object.fromEntries(failed), leftOut: Object.fromEntries(leftOut), times },
    groups: groups.map((group) => ({
      ...{ cause: group.cause.name, title: group.cause.title, advice: adviceFor(group), subject: group.subject },
      ...{ exposes: group.cause.exposes ?? false, requests: group.requests, examples: group.examples },
      ...(group.defaults === null ? {} : { config: configOf(group.defaults), verified: verified.get(group) ?? 'unknown' }),
      files: files.get(group) ?? [],
    })),
    documentedDifferences: documented,
  }
}

const configOf = ({ uid, ...defaults }: NonNullable<Group['defaults']>) => ({ types: { [uid]: { defaults } } })

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
