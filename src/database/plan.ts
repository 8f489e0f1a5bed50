// A read as plain data: a tree of selects and the JSON built from their rows. Every driver executes it; it can be printed, cached and sent
// to another thread.
import type { Answer } from '../model/types/attribute-type.js'

/** Source of a bind parameter: a value of the request, the ids of the parent rows, or the scan bound, which the driver chooses. */
export type Parameter =
  | { readonly from: 'values'; readonly index: number }
  | { readonly from: 'parents' }
  | { readonly from: 'bound' }
  | { readonly from: 'constant'; readonly value: string | number }

export interface Statement {
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

/** A member of a JSON object and its result column. */
export interface MemberColumn {
  readonly name: string
  readonly at: number
  readonly answer: Answer | 'componentDocumentId'
  /** Result column that is 1 if a json column holds valid JSON. */
  readonly validAt?: number
}

/** Layout of an object: flat, or `id` and `documentId` with all other members in `attributes`. */
type ObjectForm = 'flat' | 'nested'

/** A level of the response: a select, the members of its objects, and the attributes filled from other selects. */
export interface Level {
  readonly statement: Statement
  /** Result column with the id of the parent row; null at the root. */
  readonly parentAt: number | null
  /** Result columns that order the children of a parent, ascending; empty: statement order. */
  readonly orderAt: readonly number[]
  readonly idAt: number
  readonly columns: readonly MemberColumn[]
  readonly fills: readonly Fill[]
  readonly form: ObjectForm
  /** Members with the same value in every object, as JSON: `__component`, `__type`. */
  readonly constants: readonly { readonly name: string; readonly json: string }[]
  /** Seed of derived documentIds. */
  readonly uid: string
}

/** Fills an attribute from other selects. `wrapped`: inside a `data` key. */
export type Fill =
  | { readonly kind: 'rows'; readonly name: string; readonly many: boolean; readonly wrapped: boolean; readonly level: Level }
  | { readonly kind: 'count'; readonly name: string; readonly wrapped: boolean; readonly statement: Statement }
  /** Rows of several tables: `links` yields (parent, uid, row id, order, link id), `levels` the rows by uid. */
  | {
      readonly kind: 'typed'
      readonly name: string
      readonly many: boolean
      readonly wrapped: boolean
      readonly links: Statement
      readonly levels: Readonly<Record<string, Level>>
    }

/** A condition on a relation that can drive the query. */
export interface DrivingCondition {
  /** Counts the matching links, up to the scan bound. */
  readonly links: Statement
  /** The page, without and with its total, driven by this condition; others are tested row by row. Null if there are none, or no total. */
  readonly page: Statement | null
  readonly counted: Statement | null
}

/** Alternative query plans for a page. */
export interface AccessPaths {
  readonly leads: readonly DrivingCondition[]
  /** Finds the page among the first rows in list order, up to the scan bound; null if no index provides this order. */
  readonly walk: Statement | null
  /** True if the ordered scan covers every row of the table. */
  readonly walksAll: boolean
  /** Columns tested row by row, each referencing a row of the links' table. */
  readonly tested: readonly { readonly table: string; readonly column: string }[]
}

export type Envelope =
  /** `counted`: the root statement with the total as an extra column, where that is cheaper. `ways`: alternative query plans, if any. */
  | {
      readonly kind: 'list'
      readonly style: 'page' | 'offset'
      readonly start: number
      readonly limit: number
      readonly count: Statement | null
      readonly counted: Statement | null
      readonly ways: AccessPaths | null
    }
  | { readonly kind: 'bareList' }
  | { readonly kind: 'one' }
  | { readonly kind: 'bareOne' }
  | { readonly kind: 'count'; readonly count: Statement }

/** A complete read. `start` and `limit` of the envelope are indexes into the request's values. */
export interface ReadPlan {
  readonly root: Level
  readonly envelope: Envelope
  /** Do not sign the URLs of private files: the text outlives the signatures. */
  readonly unsigned?: boolean
}

export function statementsOf({ root, envelope }: ReadPlan): readonly Statement[] {
  const count = envelope.kind === 'list' || envelope.kind === 'count' ? envelope.count : null
  return [...ofLevel(root), ...(count === null ? [] : [count])]
}

const ofLevel = ({ statement, fills }: Level): readonly Statement[] => [statement, ...fills.flatMap(ofFill)]

function ofFill(fill: Fill): readonly Statement[] {
  if (fill.kind === 'rows') return ofLevel(fill.level)
  return fill.kind === 'count' ? [fill.statement] : [fill.links, ...Object.values(fill.levels).flatMap(ofLevel)]
}
