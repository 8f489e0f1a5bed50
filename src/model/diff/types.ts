// The plan of a change of the content model, as plain data: changes, database steps, losses and conditions.
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { ColumnSpans, Conversion } from './conversions.js'
import type { SqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'

/** A declared rename, which keeps content. Uids and names in `from` are those of the older model. */
export type Rename =
  | { readonly kind: 'type'; readonly from: string; readonly to: string }
  | { readonly kind: 'component'; readonly from: string; readonly to: string }
  | { readonly kind: 'attribute'; readonly schema: string; readonly from: string; readonly to: string }

/** A change of the model. `schema` is the uid of a content-type or component: in the new model, or in the older one if it is removed. */
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
      readonly from: RelationDescription
      readonly to: RelationDescription
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
export interface RelationDescription {
  readonly relation: string
  readonly target: string | null
  readonly inverse: string | null
}

/** The values of a column that are converted, by their names before the steps. */
export interface ConvertedValues {
  readonly table: string
  readonly column: string
  readonly conversion: Conversion
  /** True if the query of the loss counts exactly the affected values. */
  readonly isCounted: boolean
}

/**
 * Content that the steps remove from the API. An operator agrees to it by `name`, which depends on the models only: `api::note.note` for a
 * type, `api::note.note.body` for an attribute, `api::note.note:drafts` and the like for rows.
 */
export interface PlanLoss {
  readonly name: string
  /** One sentence. */
  readonly about: string
  /** Selects one row with the column `count`, before the steps run: how many values, rows or links it is. */
  readonly count: SqlText
  /** Archived content, which can be restored. */
  readonly kept: readonly ArchivedContent[]
  /** Converted values that the query overcounts: the values themselves decide. */
  readonly converted?: ConvertedValues
  /** Nothing is archived: it stays in its tables until a write replaces it. */
  readonly stays?: true
}

/**
 * Archived content: a table, rows of a table that stays, a column, rows with an unused `field`, or values of a column in the former table
 * of moved rows.
 */
export interface ArchivedContent {
  readonly kind: 'table' | 'rows' | 'column' | 'field' | 'values'
  /** The table of the content; for a table and for rows: where they were. */
  readonly table: string
  /** The name of the column, or of the attribute in `field`; the table again otherwise. */
  readonly name: string
  /** The archive name: a table, a column of `table`, or a value of `field`. For rows without any, the table does not exist. */
  readonly as: string
  /** For a column of a removed scalar: the type of its values. */
  readonly type?: ScalarType
  /** For a column whose values were converted: how. */
  readonly conversion?: Conversion
}

/** A rule of the new model for existing rows. The steps do not change rows that violate it, except for `kind: 'type'`. */
export interface PlanCondition {
  readonly name: string
  readonly kind: 'required' | 'unique' | 'type' | 'length' | 'range' | 'enumeration' | 'pattern' | 'single'
  readonly about: string
  /** Selects one row with the column `count`, before the steps run: how many do not satisfy it. */
  readonly count: SqlText
  /** False if the database cannot decide: the count is then a maximum. */
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
  /** The step before which archived content is restored; null: after all. */
  readonly restoreBefore: PlanStep | null
  /** Archived content: locations of losses, and former values of conversions. */
  readonly kept: readonly ArchivedContent[]
  /** Changes of API responses, one sentence each. */
  readonly responses: readonly string[]
}

export interface PlanChoices {
  /** The number of this change in archive names, unique in the database. Default 1. */
  readonly number?: number
  /** Draft & Publish off: documents that were never published are archived (the default) or published. */
  readonly neverPublished?: 'keepAside' | 'publish'
  /** Ranges of the database's columns; absent: every value of their types. */
  readonly spans?: ColumnSpans
}
