// The steps of a plan, each with everything that an executor needs. Names are those at the time of the step.
import type { Column, ForeignKey, Index, Table } from '../tables/table.js'
import type { Conversion } from './conversions.js'
import type { SqlText } from './sql-text.js'

/** `slow`: takes longer the more rows there are. `losesData`: takes content away from the API; it is kept aside. */
export type Risk = 'safe' | 'slow' | 'losesData'

/** A column of a table that rows come from, and the column they go to; or an attribute and its new name. */
export interface MovedColumn {
  readonly from: string
  readonly to: string
}

/** A table of the older model, and the one of the newer that its rows go to, with the columns that both have. */
export interface TableMove {
  readonly from: string
  readonly to: string
  readonly columns: readonly MovedColumn[]
}

/** A link table as `makeDrafts` needs it: `here` has the rows that drafts are made of. */
export interface DraftLinks {
  readonly table: string
  readonly here: string
  readonly there: string
  readonly others: readonly string[]
  /** True if both ends are rows of the type that gets drafts. */
  readonly within: boolean
}

/** Links of other rows to those that drafts are made of. */
export interface IncomingLinks extends DraftLinks {
  /** The table of the rows at the other end. */
  readonly owners: string
  /** True if they have drafts of their own: their links move to the new drafts. Otherwise they get a second link. */
  readonly ownersHaveDrafts: boolean
}

/** What a step does. */
export type StepAction =
  /** Creates a table with its indexes and foreign keys. */
  | { readonly kind: 'createTable'; readonly table: Table }
  /** Renames a table. Its indexes and foreign keys have steps of their own. */
  | { readonly kind: 'renameTable'; readonly table: string; readonly to: string }
  /** Renames a table to a name that nothing reads. Its indexes and foreign keys are dropped where their names would be in the way. */
  | {
      readonly kind: 'keepTable'
      readonly table: string
      readonly as: string
      readonly indexes: readonly string[]
      readonly foreignKeys: readonly string[]
    }
  /** Drops a table whose rows have all been moved. */
  | { readonly kind: 'dropTable'; readonly table: string }
  | { readonly kind: 'addColumn'; readonly table: string; readonly column: Column; readonly foreignKey: ForeignKey | null }
  | { readonly kind: 'renameColumn'; readonly table: string; readonly column: string; readonly to: string }
  /** Renames a column to a name that nothing reads, and lifts its `not null`. */
  | { readonly kind: 'keepColumn'; readonly table: string; readonly column: Column; readonly as: string }
  /** Changes what a column is declared as; values stay. Where a database cannot hold all of them as they are, `former` is kept as `as`. */
  | { readonly kind: 'declareColumn'; readonly table: string; readonly column: Column; readonly former: Column; readonly as: string }
  /**
   * Renames the column to `as`, adds it anew and fills it by the rule (`convertValue`). What `former` was is kept without its `not null`.
   * `restores`: an earlier conversion led to `former` from values that are kept in the column `from`; where its result is still there,
   * the value from before it comes back.
   */
  | {
      readonly kind: 'convertColumn'
      readonly table: string
      readonly column: Column
      readonly former: Column
      readonly as: string
      readonly conversion: Conversion
      readonly restores?: { readonly from: string; readonly conversion: Conversion }
    }
  | { readonly kind: 'createIndex' | 'dropIndex'; readonly table: string; readonly index: Index }
  /** Gives a foreign key its new name, where foreign keys have names. */
  | { readonly kind: 'renameForeignKey'; readonly table: string; readonly from: string; readonly to: ForeignKey }
  | { readonly kind: 'dropForeignKey'; readonly table: string; readonly foreignKey: ForeignKey }
  /**
   * Inserts the rows of one table into another, in the order of their ids, which it goes on counting as the other did: no id is given twice,
   * also not of rows that are kept aside. `withKept`: what is kept aside in columns of `from` as well.
   */
  | {
      readonly kind: 'moveRows'
      readonly from: string
      readonly to: string
      readonly columns: readonly MovedColumn[]
      readonly withKept?: true
    }
  /** Copies rows to a new table without indexes. */
  | { readonly kind: 'keepRows'; readonly table: string; readonly as: string; readonly where: SqlText }
  | { readonly kind: 'deleteRows'; readonly table: string; readonly where: SqlText }
  /** Sets a column; `value` is an expression, null for null. */
  | {
      readonly kind: 'setValues'
      readonly table: string
      readonly column: string
      readonly value: SqlText | null
      readonly where: SqlText | null
    }
  /** Makes a draft of every published row that has none: columns, entries of components as deep copies, links, files and polymorphic links. */
  | {
      readonly kind: 'makeDrafts'
      readonly schema: string
      readonly table: string
      readonly columns: readonly string[]
      readonly entries: string | null
      readonly links: readonly DraftLinks[]
      readonly incoming: readonly IncomingLinks[]
    }
  /** Renames attributes, all at once, in the settings of the content manager and in the fields of administrators' permissions. */
  | { readonly kind: 'renameInSettings'; readonly schema: string; readonly names: readonly MovedColumn[] }
  /** Writes schemas to `strapi_content_types_schema`, so that Strapi does not repeat Draft & Publish or locales; removes others. */
  | { readonly kind: 'storeContentTypes'; readonly stored: readonly string[]; readonly removed: readonly string[] }

/** A step of a plan. */
export type PlanStep = StepAction & { readonly risk: Risk }

/** The steps of one kind, or of some. */
export type StepNamed<Kind extends PlanStep['kind']> = Extract<PlanStep, { readonly kind: Kind }>
