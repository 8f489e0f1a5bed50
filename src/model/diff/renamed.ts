// What a step gives another name or puts another column in the place of: indexes of our own have names by that.
import type { PlanStep } from './steps.js'

/** A table, or one of its columns. */
export interface RenamedPart {
  readonly table: string
  /** Null: the whole table. */
  readonly column: string | null
}

/** What a step renames; null: nothing. Own indexes of that are dropped, and created under their new names in the background. */
export function renamedBy(step: PlanStep): RenamedPart | null {
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
