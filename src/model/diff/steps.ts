// The steps of a plan, each with everything that an executor needs. Names are those at the time of the step.
import type { Column, ForeignKey, Index, Table } from '../tables/table.js'
import type { Conversion } from './conversions.js'
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'

/** `slow`: duration grows with the number of rows. `losesData`: removes content from the API; it is archived. */
export type Risk = 'safe' | 'slow' | 'losesData'

/** A column of a table that rows come from, and the column they go to; or an attribute and its new name. */
export interface MovedColumn {
  readonly from: string
  readonly to: string
}

/** A link table for `makeDrafts`: `here` is the column of the copied rows. */
export interface DraftLinks {
  readonly table: string
  readonly here: string
  readonly there: string
  readonly others: readonly string[]
  /** True if both ends are rows of the type that gets drafts. */
  readonly within: boolean
}

/** Links of other rows to the copied rows. */
export interface IncomingLinks extends DraftLinks {
  /** The table of the linking rows. */
  readonly owners: string
  /** True if the linking rows have drafts: their links move to the new drafts. Otherwise they get a second link. */
  readonly ownersHaveDrafts: boolean
}

export type StepAction =
  /** Creates a table with its indexes and foreign keys. */
  | { readonly kind: 'createTable'; readonly table: Table }
  /** Renames a table. Its indexes and foreign keys have separate steps. */
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
  /** Changes the declared type of a column; values stay. If a database cannot hold all of them unchanged, `former` is archived as `as`. */
  | { readonly kind: 'declareColumn'; readonly table: string; readonly column: Column; readonly former: Column; readonly as: string }
  /**
   * Renames the column to `as`, adds it again and fills it by the rule (`convertValue`). The column `former` is archived as nullable.
   * `restores`: an earlier conversion created `former` from values archived in the column `from`; unchanged results get their original
   * value back.
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
   * Inserts the rows of one table into another in the order of their ids, and continues its numbering: no id is reused, not even those of
   * archived rows. `withKept`: includes archived columns of `from`. `where`: only these rows.
   */
  | {
      readonly kind: 'moveRows'
      readonly from: string
      readonly to: string
      readonly columns: readonly MovedColumn[]
      readonly withKept?: true
      readonly where?: SqlText
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
  /**
   * Writes schemas to `strapi_content_types_schema`, so that Strapi does not repeat changes of Draft & Publish or locales; removes others.
   */
  | { readonly kind: 'storeContentTypes'; readonly stored: readonly string[]; readonly removed: readonly string[] }

/** A step of a plan. */
export type PlanStep = StepAction & { readonly risk: Risk }

/** The steps of one kind, or of some. */
export type StepOf<Kind extends PlanStep['kind']> = Extract<PlanStep, { readonly kind: Kind }>

const names = (columns: readonly string[]): SqlText =>
  joinedText(
    columns.map((column) => sqlText`${id(column)}`),
    ', ',
  )

/** The statement of a step that changes rows. */
export function rowStatement(step: StepOf<'moveRows' | 'deleteRows' | 'setValues'>): SqlText {
  switch (step.kind) {
    case 'moveRows': {
      const [from, to] = [step.columns.map((column) => column.from), step.columns.map((column) => column.to)]
      return sqlText`insert into ${id(step.to)} (${names(to)}) select ${names(from)} from ${id(step.from)} where ${step.where ?? sqlText`1 = 1`} order by id`
    }
    case 'deleteRows':
      return sqlText`delete from ${id(step.table)} where ${step.where}`
    case 'setValues': {
      const set = sqlText`update ${id(step.table)} set ${id(step.column)} = ${step.value ?? sqlText`null`}`
      return step.where === null ? set : sqlText`${set} where ${step.where}`
    }
  }
}

/** Copies archived rows to their existing table. */
export const archiveRowsStatement = ({ table, as, where }: StepOf<'keepRows'>): SqlText =>
  sqlText`insert into ${id(as)} select * from ${id(table)} where ${where}`

/** A table, or one of its columns. */
interface RenamedPart {
  readonly table: string
  /** Null: the whole table. */
  readonly column: string | null
}

/** Null: nothing. Octavo's indexes of renamed parts are dropped, and created under their new names in the background. */
export function getRenamedPart(step: PlanStep): RenamedPart | null {
  switch (step.kind) {
    case 'renameTable':
    case 'keepTable':
      return { table: step.table, column: null }
    case 'renameColumn':
      return { table: step.table, column: step.column }
    case 'keepColumn':
    case 'convertColumn':
    case 'declareColumn':
      return { table: step.table, column: step.column.name }
    default:
      return null
  }
}
