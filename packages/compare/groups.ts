// Collects judgements in bounded space: counts, and for each likely cause and type a few examples and what to write into octavo.config.
import type { Cause } from './causes.js'
import { textOf } from './difference.js'
import type { DocumentedRow } from './documented.js'
import type { Explained, Judgement } from './judge.js'
import { ownOrderOf } from './list-order.js'
import { messageOf, type ResponsePair } from './pair.js'
import { joined, type PopulateTree } from './populate-tree.js'
import { shownPath, shownValue } from './shown.js'

/** A difference as it is printed. */
export interface ShownDifference {
  readonly kind: string
  readonly path: string
  /** The number of places with the same difference. */
  readonly count: number
  readonly strapi: string
  readonly octavo: string
}

/** A request with its differences. */
export interface ShownRequest {
  readonly method: string
  readonly path: string
  readonly as: string
  readonly differences: readonly ShownDifference[]
}

/** Requests that differ for the same likely cause. */
export interface Group {
  readonly cause: Cause
  /** The content-type, or what the path begins with. */
  readonly subject: string
  readonly requests: number
  readonly examples: readonly ShownRequest[]
  /** Defaults for octavo.config; null if the cause has none. */
  readonly defaults: Defaults | null
  /** A request that shows the difference, to check the defaults with. */
  readonly sample: ResponsePair['request']
  readonly caller: string
}

/** Defaults for one content-type. */
export interface Defaults {
  readonly uid: string
  readonly populate?: PopulateTree
  readonly sort?: string
}

/** Differences that docs/differences.md names. */
export interface DocumentedGroup extends DocumentedRow {
  readonly requests: number
  readonly example: ShownRequest
}

/** Groups in the order of printing, and the counts. */
export interface Findings {
  readonly groups: readonly Group[]
  readonly documented: readonly DocumentedGroup[]
  readonly same: number
  readonly accepted: number
  readonly different: number
}

/** Groups beyond this number are counted as their cause only. */
const mostGroups = 200
/** Differences shown for one request. */
const mostDifferences = 8

/** Opens a collection that keeps `mostExamples` requests for each cause. `hide` removes credentials from texts. */
export function openGroups(mostExamples: number, hide: (text: string) => string) {
  const groups = new Map<string, Group>()
  const documented = new Map<string, DocumentedGroup>()
  const counts = { same: 0, accepted: 0, different: 0 }
  const addTo = (cause: Cause, differences: readonly Explained[], judgement: Judgement): boolean => {
    const subject = subjectOf(judgement.pair)
    const name = `${cause.name} ${subject}`
    const key = groups.has(name) || groups.size < mostGroups ? name : `${cause.name} …`
    const known = groups.get(key)
    const isExample = (known?.examples.length ?? 0) < mostExamples
    const example = isExample ? [exampleOf(judgement.pair, differences, hide)] : []
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
      defaults: joinedDefaults(defaults, defaultsOf(cause, judgement)),
    })
    return known === undefined
  }
  return {
    /** Adds a judgement; returns the first cause that it is the first example of, or null. */
    add(judgement: Judgement): Cause | null {
      const { causes, rows } = sorted(judgement.explained)
      for (const [key, one] of rows) addDocumented(documented, key, one.row, exampleOf(judgement.pair, [one], hide))
      counts[judgement.explained.length === 0 ? 'same' : causes.size === 0 ? 'accepted' : 'different'] += 1
      const added = [...causes].filter(([cause, differences]) => addTo(cause, differences, judgement))
      return added[0]?.[0] ?? null
    },
    findings: (): Findings => ({
      groups: [...groups.values()].sort((one, other) => rankOf(one) - rankOf(other) || other.requests - one.requests),
      documented: [...documented.values()],
      ...counts,
    }),
  }
}

/** The differences by cause, and by the row that documents them. */
function sorted(explained: readonly Explained[]) {
  const causes = new Map<Cause, Explained[]>()
  const rows = new Map<string, Extract<Explained, { kind: 'documented' }>>()
  for (const one of explained) {
    if (one.kind === 'documented') rows.set(`${one.row.section} ${one.row.row}`, one)
    else causes.set(one.cause, [...(causes.get(one.cause) ?? []), one])
  }
  return { causes, rows }
}

/** What exposes content comes first. */
const rankOf = ({ cause }: Group): number => (cause.exposes ? 0 : 1)

const subjectOf = ({ addressed, path }: ResponsePair): string =>
  addressed?.type?.uid ?? addressed?.segment ?? `/${path.split('/')[1] ?? ''}`

function addDocumented(documented: Map<string, DocumentedGroup>, key: string, row: DocumentedRow, example: ShownRequest): void {
  const known = documented.get(key)
  documented.set(key, known === undefined ? { ...row, requests: 1, example } : { ...known, requests: known.requests + 1 })
}

function exampleOf(
  { request, caller, strapi, octavo }: ResponsePair,
  explained: readonly Explained[],
  hide: (text: string) => string,
): ShownRequest {
  const differences = explained.slice(0, mostDifferences).map(({ difference }): ShownDifference => {
    const { kind, path, count } = difference
    const name = path.at(-1)
    if (kind === 'status')
      return {
        ...{ kind, path: 'status', count: 1 },
        strapi: hide(`${strapi.status} ${messageOf(strapi)}`.trim()),
        octavo: hide(`${octavo.status} ${messageOf(octavo)}`.trim()),
      }
    return {
      ...{ kind, path: kind === 'header' ? `header ${path.join('.')}` : textOf(path) || 'body', count },
      strapi: hide(shownValue(difference.strapi, name)),
      octavo: hide(shownValue(difference.octavo, name)),
    }
  })
  return { method: request.method, path: hide(shownPath(request.path)), as: caller, differences }
}

function defaultsOf({ name }: Cause, { pair, populate }: Judgement): Defaults | null {
  const uid = pair.addressed?.type?.uid
  if (uid === undefined) return null
  if (name === 'populate' && populate !== null) return { uid, populate }
  const sort = name === 'default order' ? ownOrderOf(pair) : null
  return sort === null ? null : { uid, sort }
}

function joinedDefaults(one: Defaults | null, other: Defaults | null): Defaults | null {
  if (one === null || other === null) return one ?? other
  const populate = one.populate && other.populate ? { populate: joined(one.populate, other.populate) } : {}
  return { ...other, ...one, ...populate }
}
