// What every comparison looks at: both models in pairs, both layouts, and the names of what is kept aside.

import type { Model, Schema } from '../schema/types.js'
import type { Table } from '../tables/table.js'
import { describeTables } from '../tables/tables.js'
import type { ColumnSpans } from './conversions.js'
import { type KeptNames, keptNames } from './kept.js'
import { type Pairs, pairModels } from './pairs.js'
import type { PlanChoices, Rename } from './types.js'

/** Two models side by side. */
export interface ModelComparison {
  readonly pairs: Pairs
  readonly kept: KeptNames
  readonly neverPublished: 'keepAside' | 'publish'
  readonly spans: ColumnSpans
  /** A table of the older layout, and one of the newer. */
  tableBefore(name: string): Table
  tableAfter(name: string): Table
}

/** Puts two models side by side. Errors are those of `pairModels`. */
export function compareModels(from: Model, to: Model, renames: readonly Rename[], choices: PlanChoices): ModelComparison {
  const [before, after] = [from, to].map((model) => new Map(describeTables(model).map((table) => [table.name, table])))
  return {
    pairs: pairModels(from, to, renames),
    kept: keptNames(choices.number ?? 1),
    neverPublished: choices.neverPublished ?? 'keepAside',
    spans: choices.spans ?? {},
    tableBefore: (name) => before!.get(name)!,
    tableAfter: (name) => after!.get(name)!,
  }
}

/** The name of an attribute in losses and conditions: `api::note.note.body`. */
export const attributePath = ({ uid }: Schema, attribute: string): string => `${uid}.${attribute}`
