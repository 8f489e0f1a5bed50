// Collects the results of a comparison in bounded space, and prints them as text or JSON.

import qs from 'qs'
import { type ComparedCaller, createRedactor, shownPath, shownValue } from './callers.js'
import { type Cause, type Explained, isAccepted, type Judgement } from './causes.js'
import { formatPath } from './differences.js'
import type { DocumentedRow } from './documented.js'
import { mergePopulate, type PopulateTree } from './model.js'
import { findStrapiOrder, getErrorMessage, type ResponsePair } from './response-pair.js'
import { judgeOutcomes, type PairResult, type RunOptions, type Servers, toSentRequest } from './run.js'

/** Ratio of adjacent bucket widths: values are accurate to two percent. */
const growth = 1.04
/** Upper bound of the first bucket in milliseconds. */
const smallest = 0.05

/** Response times of one service in milliseconds; null without any. */
interface ResponseTimes {
  readonly median: number | null
  readonly p95: number | null
}

interface Stopwatch {
  add(milliseconds: number): void
  times(): ResponseTimes
}

function createStopwatch(): Stopwatch {
  const buckets = new Map<number, number>()
  let total = 0
  const percentile = (part: number): number | null => {
    let left = Math.ceil(total * part)
    for (const [bucket, count] of [...buckets].sort(([one], [other]) => one - other)) {
      left -= count
      if (left <= 0) return smallest * growth ** bucket
    }
    return null
  }
  return {
    add(milliseconds) {
      const bucket = Math.max(0, Math.round(Math.log(milliseconds / smallest) / Math.log(growth)))
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
      total++
    },
    times: () => ({ median: percentile(0.5), p95: percentile(0.95) }),
  }
}

/** A difference as printed. */
interface ShownDifference {
  readonly kind: string
  readonly path: string
  /** Number of occurrences. */
  readonly count: number
  readonly strapi: string
  readonly octavo: string
}

interface ShownRequest {
  readonly method: string
  readonly path: string
  readonly as: string
  readonly differences: readonly ShownDifference[]
}

/** Requests that differ for the same likely cause. */
export interface Group {
  readonly cause: Cause
  /** The content-type, or the first segment of the path. */
  readonly subject: string
  readonly requests: number
  readonly examples: readonly ShownRequest[]
  /** Defaults for octavo.config; null if the cause has none. */
  readonly defaults: Defaults | null
  /** A request that shows the difference, for verifying the defaults. */
  readonly sample: ResponsePair['request']
  readonly caller: string
}

export interface Defaults {
  readonly uid: string
  readonly populate?: PopulateTree
  readonly sort?: string
}

/** Differences documented in docs/differences.md. */
interface DocumentedGroup extends DocumentedRow {
  readonly requests: number
  readonly example: ShownRequest
}

/** Groups in print order, and counts. */
export interface Findings {
  readonly groups: readonly Group[]
  readonly documented: readonly DocumentedGroup[]
  readonly same: number
  readonly accepted: number
  readonly different: number
}

/** Groups beyond this number are merged by cause. */
const maxGroups = 200
/** Maximum number of differences shown per request. */
const maxDifferences = 8

/** `mostExamples`: maximum number of examples per cause. `hide` removes credentials from texts. */
function createGroups(mostExamples: number, hide: (text: string) => string) {
  const groups = new Map<string, Group>()
  const documented = new Map<string, DocumentedGroup>()
  const counts = { same: 0, accepted: 0, different: 0 }
  const addTo = (cause: Cause, differences: readonly Explained[], judgement: Judgement): void => {
    const subject = getSubject(judgement.pair)
    const name = `${cause.name} ${subject}`
    const key = groups.has(name) || groups.size < maxGroups ? name : `${cause.name} …`
    const known = groups.get(key)
    const isExample = (known?.examples.length ?? 0) < mostExamples
    const example = isExample ? [toExample(judgement.pair, differences, hide)] : []
    const { request: sample, caller } = judgement.pair
    const { requests, examples, defaults, ...first } = known ?? {
      requests: 0,
      examples: [],
      defaults: null,
      cause,
      subject,
      sample,
      caller,
    }
    groups.set(key, {
      ...first,
      requests: requests + 1,
      examples: [...examples, ...example],
      defaults: mergeDefaults(defaults, suggestDefaults(cause, judgement)),
    })
  }
  return {
    add(judgement: Judgement): void {
      const { causes, rows } = groupExplanations(judgement.explained)
      for (const [key, one] of rows) addDocumented(documented, key, one.row, toExample(judgement.pair, [one], hide))
      counts[judgement.explained.length === 0 ? 'same' : causes.size === 0 ? 'accepted' : 'different'] += 1
      for (const [cause, differences] of causes) addTo(cause, differences, judgement)
    },
    findings: (): Findings => ({
      groups: [...groups.values()].sort((one, other) => getRank(one) - getRank(other) || other.requests - one.requests),
      documented: [...documented.values()],
      ...counts,
    }),
  }
}

/** Groups differences by cause, and by the row that documents them. */
function groupExplanations(explained: readonly Explained[]) {
  const causes = new Map<Cause, Explained[]>()
  const rows = new Map<string, Extract<Explained, { kind: 'documented' }>>()
  for (const one of explained) {
    if (one.kind === 'documented') rows.set(`${one.row.section} ${one.row.row}`, one)
    else causes.set(one.cause, [...(causes.get(one.cause) ?? []), one])
  }
  return { causes, rows }
}

/** Causes that expose content come first. */
const getRank = ({ cause }: Group): number => (cause.exposes ? 0 : 1)

const getSubject = ({ addressed, path }: ResponsePair): string =>
  addressed?.type?.uid ?? addressed?.segment ?? `/${path.split('/')[1] ?? ''}`

function addDocumented(documented: Map<string, DocumentedGroup>, key: string, row: DocumentedRow, example: ShownRequest): void {
  const known = documented.get(key)
  documented.set(key, known === undefined ? { ...row, requests: 1, example } : { ...known, requests: known.requests + 1 })
}

function toExample(
  { request, caller, strapi, octavo }: ResponsePair,
  explained: readonly Explained[],
  hide: (text: string) => string,
): ShownRequest {
  const differences = explained.slice(0, maxDifferences).map(({ difference }): ShownDifference => {
    const { kind, path, count } = difference
    const name = path.at(-1)
    if (kind === 'status')
      return {
        kind,
        path: 'status',
        count: 1,
        strapi: hide(`${strapi.status} ${getErrorMessage(strapi)}`.trim()),
        octavo: hide(`${octavo.status} ${getErrorMessage(octavo)}`.trim()),
      }
    return {
      kind,
      path: kind === 'header' ? `header ${path.join('.')}` : formatPath(path) || 'body',
      count,
      strapi: hide(shownValue(difference.strapi, name)),
      octavo: hide(shownValue(difference.octavo, name)),
    }
  })
  return { method: request.method, path: hide(shownPath(request.path)), as: caller, differences }
}

function suggestDefaults({ name }: Cause, { pair, populate }: Judgement): Defaults | null {
  const uid = pair.addressed?.type?.uid
  if (uid === undefined) return null
  if (name === 'populate' && populate !== null) return { uid, populate }
  const sort = name === 'default order' ? findStrapiOrder(pair) : null
  return sort === null ? null : { uid, sort }
}

function mergeDefaults(one: Defaults | null, other: Defaults | null): Defaults | null {
  if (one === null || other === null) return one ?? other
  const populate = one.populate && other.populate ? { populate: mergePopulate(one.populate, other.populate) } : {}
  return { ...other, ...one, ...populate }
}

/**
 * `equal`: the responses are now the same; `sufficient`: remaining differences have other causes; `unknown`: the request could not be sent,
 * for example because the query would be too long.
 */
type Verified = 'equal' | 'sufficient' | 'different' | 'unknown'

/** Maximum length of paths that all services accept. */
const maxPathCharacters = 12_000

/** Repeats the sample of a group with its defaults as parameters for Octavo. */
export async function verify(
  { cause, defaults, sample, caller: name }: Group,
  callers: readonly ComparedCaller[],
  servers: Servers,
  options: RunOptions,
): Promise<Verified> {
  const caller = callers.find((each) => each.name === name)
  if (defaults === null || caller === undefined) return 'unknown'
  const path = withDefaults(sample.path, defaults)
  if (path.length > maxPathCharacters) return 'unknown'
  await options.pace()
  const strapi = await servers.strapi.ask(toSentRequest(sample, caller, 'strapi'))
  const octavo = await servers.octavo.ask(toSentRequest({ ...sample, path }, caller, 'octavo'))
  const result = await judgeOutcomes(sample, name, { strapi, octavo }, options)
  if (result.kind === 'failed') return 'unknown'
  if (isAccepted(result.judgement)) return 'equal'
  // With the populate in the request, remaining differences have another cause by name.
  const isSame = (one: Explained): boolean =>
    one.kind === 'cause' && [cause.name, 'populate replaced', 'query refused'].includes(one.cause.name)
  return result.judgement.explained.some(isSame) ? 'different' : 'sufficient'
}

function withDefaults(path: string, { populate, sort }: Defaults): string {
  const query = qs.stringify({ populate, sort }, { encodeValuesOnly: true })
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

export interface CompareReport {
  readonly findings: Findings
  /** Number of requests without a response, by error. */
  readonly failed: ReadonlyMap<string, number>
  /** Number of requests not compared, by reason; 0: unknown. */
  readonly leftOut: ReadonlyMap<string, number>
  readonly times: { readonly strapi: ResponseTimes; readonly octavo: ResponseTimes }
  /** Whether the defaults of groups make the responses equal. */
  readonly verified: ReadonlyMap<Group, Verified>
  /** Project files whose code may be the cause, by group. */
  readonly files: ReadonlyMap<Group, readonly string[]>
}

/** Exit status: 0 without differences, 1 with differences, 2 if nothing could be judged. */
export function exitStatus({ findings: { different, same, accepted }, failed }: CompareReport): number {
  if (different > 0) return 1
  return failed.size > 0 || same + accepted === 0 ? 2 : 0
}

export function* toLines(comparison: CompareReport): Generator<string> {
  const { findings, failed, leftOut, times } = comparison
  const { groups, documented, same, accepted, different } = findings
  yield `${pluralize(same + accepted + different, 'request')} compared: ${same} the same, ${accepted} different as documented, ${different} different.`
  for (const [reason, count] of failed) yield `${pluralize(count, 'request')} without a response: ${reason}.`
  for (const [reason, count] of leftOut) yield count === 0 ? `Left out: ${reason}.` : `${count} left out: ${reason}.`
  for (const [index, group] of groups.entries()) {
    yield ''
    yield* formatGroup(group, index + 1, comparison)
  }
  if (documented.length > 0) {
    yield ''
    yield 'Different as docs/differences.md says:'
    for (const { section, row, requests, example } of documented)
      yield `  ${pluralize(requests, 'request')}: ${section}${row === '' ? '' : `, "${row}"`} (${example.method} ${example.path})`
  }
  yield ''
  yield* formatTimes(times)
}

function* formatGroup(group: Group, number: number, { verified, files }: CompareReport): Generator<string> {
  const { cause, subject, requests, examples, defaults } = group
  yield `${number}. ${cause.title}: ${subject} (${pluralize(requests, 'request')})`
  yield `   ${adviceFor(group)}`
  if (defaults !== null) {
    yield* formatDefaults(group).map((line) => `     ${line}`)
    const text = verdicts[verified.get(group) ?? 'unknown']
    if (text !== '') yield `   ${text}`
  }
  for (const file of files.get(group) ?? []) yield `   Code: ${file}`
  for (const example of examples) yield* formatExample(example)
  const more = requests - examples.length
  if (more > 0) yield `   … and ${pluralize(more, 'request')} more`
}

const verdicts: Readonly<Record<Verified, string>> = {
  equal: 'Checked: with these defaults the response is that of Strapi.',
  sufficient: 'Checked: with these defaults the response has what was missing; it still differs for other causes.',
  different: 'Checked: with these defaults the response still differs.',
  unknown: '',
}

function* formatExample({ method, path, as, differences }: ShownRequest): Generator<string> {
  yield `   ${method} ${path} as ${as}`
  for (const difference of differences) yield `     ${formatDifference(difference)}`
}

function formatDifference({ kind, path, count, strapi, octavo }: ShownDifference): string {
  const place = count > 1 ? `${path} and ${pluralize(count - 1, 'similar place')}` : path
  return kind === 'order'
    ? `${place}: order ${strapi} in Strapi, ${octavo} in Octavo`
    : `${place}: ${strapi} in Strapi, ${octavo} in Octavo`
}

function* formatTimes({ strapi, octavo }: CompareReport['times']): Generator<string> {
  if (strapi.median === null || octavo.median === null) return
  const cell = (value: number | null): string =>
    `${value === null ? '-' : value < 10 ? value.toFixed(1) : Math.round(value)} ms`.padStart(10)
  yield `${'Response times'.padEnd(16)}${'median'.padStart(10)}${'p95'.padStart(10)}`
  for (const [name, times] of [['Strapi', strapi] as const, ['Octavo', octavo] as const])
    yield `${name.padEnd(16)}${cell(times.median)}${cell(times.p95)}`
}

/** The advice with type and action of the group. */
function adviceFor({ cause, subject, sample }: Group): string {
  const advice = subject.includes('::') ? cause.advice : (cause.elsewhere ?? cause.advice)
  const action = subject.includes('::') ? `${subject}.${/\/[^/?]+\/[^/?]+\/[^/?]+/.test(sample.path) ? 'findOne' : 'find'}` : '<action>'
  return advice.replaceAll('{uid}', subject).replaceAll('{action}', action)
}

/** Defaults as lines to paste into octavo.config. */
function formatDefaults({ defaults }: Pick<Group, 'defaults'>): readonly string[] {
  if (defaults === null) return []
  const { uid, ...rest } = defaults
  return JSON.stringify({ types: { [uid]: { defaults: rest } } }, null, 2)
    .split('\n')
    .slice(1, -1)
    .map((line) => line.slice(2))
}

export function toJson(comparison: CompareReport): unknown {
  const { findings, failed, leftOut, times, verified, files } = comparison
  const { groups, documented, same, accepted, different } = findings
  return {
    same,
    documented: accepted,
    different,
    failed: Object.fromEntries(failed),
    leftOut: Object.fromEntries(leftOut),
    times,
    groups: groups.map((group) => ({
      cause: group.cause.name,
      title: group.cause.title,
      advice: adviceFor(group),
      subject: group.subject,
      exposes: group.cause.exposes ?? false,
      requests: group.requests,
      examples: group.examples,
      ...(group.defaults === null ? {} : { config: toConfig(group.defaults), verified: verified.get(group) ?? 'unknown' }),
      files: files.get(group) ?? [],
    })),
    documentedDifferences: documented,
  }
}

const toConfig = ({ uid, ...defaults }: NonNullable<Group['defaults']>) => ({ types: { [uid]: { defaults } } })

const pluralize = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

interface SessionOptions {
  readonly servers: Servers
  readonly callers: readonly ComparedCaller[]
  readonly run: RunOptions
  /** Maximum number of examples per cause. */
  readonly show: number
}

export interface CompareSession extends SessionOptions {
  add(result: PairResult): void
  /** Counts requests that are not compared; 0: number unknown. */
  leave(reason: string, count?: number): void
  readonly count: number
  /** Ends the comparison; `checks`: verifies suggested defaults by further requests. */
  end(checks: boolean): Promise<CompareReport>
}

export function createSession(options: SessionOptions): CompareSession {
  const { servers, callers, run } = options
  const hide = createRedactor(callers)
  const groups = createGroups(options.show, hide)
  const stopwatches = { strapi: createStopwatch(), octavo: createStopwatch() }
  const failed = new Map<string, number>()
  const leftOut = new Map<string, number>()
  const increase = (map: Map<string, number>, key: string, by = 1): void => void map.set(key, (map.get(key) ?? 0) + by)
  let count = 0
  return {
    ...options,
    get count() {
      return count
    },
    add(result) {
      count += 1
      if (result.kind === 'failed') return increase(failed, `${names[result.side]}: ${result.message}`)
      stopwatches.strapi.add(result.milliseconds.strapi)
      stopwatches.octavo.add(result.milliseconds.octavo)
      groups.add(result.judgement)
    },
    leave: (reason, by) => increase(leftOut, reason, by),
    async end(checks) {
      const findings = groups.findings()
      const verified = new Map<Group, Verified>()
      if (checks)
        for (const group of findings.groups) if (group.defaults !== null) verified.set(group, await verify(group, callers, servers, run))
      return {
        findings,
        failed,
        leftOut,
        verified,
        times: { strapi: stopwatches.strapi.times(), octavo: stopwatches.octavo.times() },
        files: new Map(),
      }
    },
  }
}

const names = { strapi: 'Strapi', octavo: 'Octavo' } as const
