// The plan of a change of the content model, as plain data: what changes, the steps that change the database, and what they cost.
import type { ColumnSpans, Conversion } from './conversions.js'
import type { SqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'

/** A rename that its author declares: content stays with what is renamed. Uids and names of `from` are those of the older model. */
export type Rename =
  | { readonly kind: 'type'; readonly from: string; readonly to: string }
  | { readonly kind: 'component'; readonly from: string; readonly to: string }
  | { readonly kind: 'attribute'; readonly schema: string; readonly from: string; readonly to: string }

/**
 * One change in words of the model. `schema` is the uid of a content-type or component: in the new model, or in the older one for what is
 * removed.
 */
export type ModelChange =
  | { readonly kind: 'schemaCreated' | 'schemaRemoved'; readonly schema: string }
  | { readonly kind: 'schemaRenamed'; readonly schema: string; readonly from: string }
  | { readonly kind: 'tableRenamed'; readonly schema: string; readonly from: string; readonly to: string }
  | { readonly kind: 'attributeCreated' | 'attributeRemoved'; readonly schema: string; readonly attribute: string; readonly type: string }
  | { readonly kind: 'attributeRenamed'; readonly schema: string; readonly attribute: string; readonly from: string }
  | { readonly kind: 'attributeRetyped'; readonly schema: string; readonly attribute: string; readonly from: string; readonly to: string }
  | { readonly kind: 'attributeOptionsChanged'; readonly schema: string; readonly attribute: string; readonly options: readonly string[] }
  | {
      readonly kind: 'relationChanged'
      readonly schema: string
      readonly attribute: string
      readonly from: RelationWords
      readonly to: RelationWords
    }
  | {
      readonly kind: 'componentsChanged'
      readonly schema: string
      readonly attribute: string
      readonly added: readonly string[]
      readonly removed: readonly string[]
    }
  | { readonly kind: 'localizationOfAttribute'; readonly schema: string; readonly attribute: string; readonly on: boolean }
  | { readonly kind: 'draftAndPublish' | 'localization'; readonly schema: string; readonly on: boolean }
  | { readonly kind: 'singleType'; readonly schema: string; readonly on: boolean }
  | { readonly kind: 'pathChanged'; readonly schema: string; readonly from: string; readonly to: string }

/** A relation as its schema says it; `target` is null where the target's type is stored in each row. */
export interface RelationWords {
  readonly relation: string
  readonly target: string | null
  readonly inverse: string | null
}

/** The values of a column that are converted, by their names before the steps. */
export interface ConvertedValues {
  readonly table: string
  readonly column: string
  readonly conversion: Conversion
  /** Whether the query of the loss counts exactly those that lose something. */
  readonly isCounted: boolean
}

/**
 * What the steps take away from the API. An operator agrees to it by `name`, which depends on the models only: `api::note.note` for a type,
 * `api::note.note.body` for an attribute, `api::note.note:drafts` and the like for rows.
 */
export interface PlanLoss {
  readonly name: string
  /** One sentence. */
  readonly about: string
  /** Selects one row with the column `count`, before the steps run: how many values, rows or links it is. */
  readonly count: SqlText
  /** Where it is kept aside, and can be restored from. */
  readonly kept: readonly KeptPlace[]
  /** Values that are converted, of which the query counts too many: which of them lose something, only they can tell. */
  readonly converted?: ConvertedValues
  /** Nothing is kept aside: it stays in its tables, for as long as no write replaces it. */
  readonly stays?: true
}

/**
 * Where content is kept aside: a table, rows of a table that stays, a column, rows whose `field` has a name that no attribute has, or values of a
 * column that stay in the former table of rows that have moved.
 */
export interface KeptPlace {
  readonly kind: 'table' | 'rows' | 'column' | 'field' | 'values'
  /** The table of the content; for a table and for rows: where they were. */
  readonly table: string
  /** The name of the column, or of the attribute in `field`; the table again otherwise. */
  readonly name: string
  /** What it is called now: a table, a column of `table`, or a value of `field`. For rows there is no such table where there were none. */
  readonly as: string
  /** For a column whose values were converted: how. */
  readonly conversion?: Conversion
}

/** What rows should satisfy by the new model. The steps leave rows that do not as they are, except those of `kind: 'type'`. */
export interface PlanCondition {
  readonly name: string
  readonly kind: 'required' | 'unique' | 'type' | 'length' | 'range' | 'enumeration' | 'pattern' | 'single'
  readonly about: string
  /** Selects one row with the column `count`, before the steps run: how many do not satisfy it. */
  readonly count: SqlText
  /** False where a database cannot tell: then at most so many do not satisfy it. */
  readonly exact: boolean
  /** For `kind: 'single'`: the attributes of the new model, both sides of a relation, that hold more than one link or entry until the next write. */
  readonly narrows?: readonly string[]
}

/** The plan of a change. Steps run in their order, in one transaction where the database can do that. */
export interface ModelPlan {
  readonly changes: readonly ModelChange[]
  readonly steps: readonly PlanStep[]
  readonly losses: readonly PlanLoss[]
  readonly conditions: readonly PlanCondition[]
  /** The step before which comes back what an earlier change kept aside; null: after all. */
  readonly restoreBefore: PlanStep | null
  /** Where content is kept aside: what losses name, and the former values of conversions. */
  readonly kept: readonly KeptPlace[]
  /** What the API returns differently, one sentence each. */
  readonly responses: readonly string[]
}

/** What the caller decides. */
export interface PlanChoices {
  /** The number of this change in the names of what is kept aside; no earlier change of the database has had it. Default 1. */
  readonly number?: number
  /** Draft & Publish off: whether drafts of documents that were never published are kept aside (the default) or published. */
  readonly neverPublished?: 'keepAside' | 'publish'
  /** What the columns of the database hold; absent: every value of their types. */
  readonly spans?: ColumnSpans
}
