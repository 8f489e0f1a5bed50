// Attributes that become the same in all locales: the next write of a document gives every locale one value.

import { whereLacking } from './conditions.js'
import { attributePath, type ModelComparison } from './context.js'
import { nothing, type PlanFindings } from './findings.js'
import type { SchemaPair } from './pairs.js'
import { isElsewhere } from './row-changes.js'
import { countText, sqlText } from './sql-text.js'

/** Compares the localization of the attributes of a type that stays localized. */
export function compareLocalizedValues({ pairs }: ModelComparison, pair: SchemaPair): PlanFindings {
  const { from, to } = pair
  if (from.kind !== 'contentType' || to.kind !== 'contentType' || !from.localized || !to.localized) return nothing
  const shared = pairs
    .attributes(pair)
    .filter(({ from: before, to: after }) => before.kind !== 'relation' && before.localized && !after.localized)
  return {
    ...nothing,
    losses: shared.map(({ from: before }) => {
      const lacking = whereLacking(from, before)
      return {
        name: `${attributePath(from, before.name)}:locales`,
        about: `Locales of a document of ${from.uid} share ${before.name} from its next write on; the values of the others are lost with it.`,
        count: countText(from.table, lacking === null ? isElsewhere : sqlText`${isElsewhere} and not (${lacking})`),
        kept: [],
        stays: true as const,
      }
    }),
  }
}
