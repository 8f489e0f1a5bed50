// The language that every database executes for a read: a tree of selects and what their rows become. Plain data,
// so that it can be printed, cached and handed to another thread.
import type { Answer } from '../model/types/attribute-type.js'

/**
 * The source of a placeholder's value: a value of the request, the ids of the rows of the level above, or the maximum number of rows to
 * scan, which the database chooses.
 */
export type Parameter =
  | { readonly from: 'values'; readonly index: number }
  | { readonly from: 'parents' }
  | { readonly from: 'bound' }
  | { readonly from: 'constant'; readonly value: string | number }

export interface Statement {
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

/** One member of an answered object and the result column it comes from. */
export interface MemberColumn {
  readonly name: string
  readonly at: number
  readonly answer: Answer | 'componentDocumentId'
  /** Result column that is 1 where a json column holds valid JSON. */
  readonly validAt?: number
}

/** Shape of an object: all members flat, or `id` and `documentId` with the other members in `attributes`. */
export type ObjectForm = 'flat' | 'nested'

/** One level of the answer: a select, the members of its objects, and the attributes that other rows fill. */
export interface Level {
  readonly statement: Statement
  /** Result column of the row that the object belongs to above; null at the root. */
  readonly parentAt: number | null
  /** Result columns that sort the rows of one parent, smallest first; none: as the statement sorts them. */
  readonly orderAt: readonly number[]
  readonly idAt: number
  readonly columns: readonly MemberColumn[]
  readonly fills: readonly Fill[]
  readonly form: ObjectForm
  /** Members that are the same for every object, as JSON text: `__component`, `__type`. */
  readonly constants: readonly { readonly name: string; readonly json: string }[]
  /** Seed of derived documentIds; set where a column asks for them. */
  readonly uid: string
}

/** Fills an attribute from rows of other levels. `wrapped`: in a `data` key. */
export type Fill =
  | { readonly kind: 'rows'; readonly name: string; readonly many: boolean; readonly wrapped: boolean; readonly level: Level }
  | { readonly kind: 'count'; readonly name: string; readonly wrapped: boolean; readonly statement: Statement }
  /** Rows of several tables: `links` yields (parent, uid, row id, order, link id), `levels` the rows of each uid. */
  | {
      readonly kind: 'typed'
      readonly name: string
      readonly many: boolean
      readonly wrapped: boolean
      readonly links: Statement
      readonly levels: Readonly<Record<string, Level>>
    }

/** A condition on a relation from which the rows can be found. */
export interface DrivingCondition {
  /** Number of its links, counted up to the bound. */
  readonly links: Statement
  /** The page and its total, begun with this condition, the others tested row by row; null where there is no other, or no total. */
  readonly page: Statement | null
  readonly counted: Statement | null
}

/** Several ways to the same page. */
export interface AccessPaths {
  readonly leads: readonly DrivingCondition[]
  /** The page among the first rows of the order, as many as the bound says; null where no index can have that order. */
  readonly walk: Statement | null
  /** Whether this order contains every row of the table. */
  readonly walksAll: boolean
  /** Columns by which rows are tested; each references the row in the table of its links. */
  readonly tested: readonly { readonly table: string; readonly column: string }[]
}

/** The JSON around the objects. */
export type Envelope =
  /**
   * `counted`: the root's statement with the total as one more column, where finding both at once is cheaper. `ways`: other ways
   * to the same page, where there are any.
   */
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

/** A whole read. `start` and `limit` of the envelope are positions in the values of the request. */
export interface ReadPlan {
  readonly root: Level
  readonly envelope: Envelope
  /** Addresses of files stay as they are stored, also where not everyone may read them: the text is kept for longer than they hold. */
  readonly unsigned?: boolean
}

/** The statements of a plan: the root, its total, and those of populated attributes. */
export function statementsOf({ root, envelope }: ReadPlan): readonly Statement[] {
  const count = envelope.kind === 'list' || envelope.kind === 'count' ? envelope.count : null
  return [...ofLevel(root), ...(count === null ? [] : [count])]
}

const ofLevel = ({ statement, fills }: Level): readonly Statement[] => [statement, ...fills.flatMap(ofFill)]

function ofFill(fill: Fill): readonly Statement[] {
  if (fill.kind === 'rows') return ofLevel(fill.level)
  return fill.kind === 'count' ? [fill.statement] : [fill.links, ...Object.values(fill.levels).flatMap(ofLevel)]
}
