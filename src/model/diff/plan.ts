// The plan of a change of the content model: both models, what is renamed → what changes, step by step, and what it costs.
import type { Model } from '../schema/types.js'
import { compareAttributes } from './attributes.js'
import { compareColumns } from './columns.js'
import { compareConditions } from './conditions.js'
import { compareModels } from './context.js'
import { compareEntries } from './entries.js'
import { type PlanFindings, phases, together } from './findings.js'
import { compareLinks } from './links.js'
import { compareLocalizedValues } from './localized-values.js'
import { inOrder } from './pairs.js'
import { compareMedia, compareMorphTables, compareNamedTypes } from './polymorphic.js'
import { responsesOf } from './responses.js'
import { compareRows } from './row-changes.js'
import { sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { KeptPlace, ModelPlan, PlanChoices, PlanLoss, Rename } from './types.js'
import { compareSchemas } from './whole-schemas.js'

/**
 * Plans the change from one model to another: rules in docs/spec/model-plans.md. Content stays with what both models name alike and with
 * what `renames` declares; whatever has no place in the new model is kept aside under `octavo_kept_<number>_…`.
 * @throws Error with a sentence if a rename names what is not there, or if two renames contradict each other
 */
export function planModelChange(from: Model, to: Model, renames: readonly Rename[], choices: PlanChoices = {}): ModelPlan {
  const comparison = compareModels(from, to, renames, choices)
  const ofEach = [compareAttributes, compareRows, compareColumns, compareEntries, compareMedia, compareConditions, compareLocalizedValues]
  const findings = together([
    compareSchemas(comparison),
    ...comparison.pairs.schemas.flatMap((pair) => ofEach.map((compare) => compare(comparison, pair))),
    compareLinks(comparison),
    compareMorphTables(comparison),
    compareNamedTypes(comparison),
  ])
  const { changes, losses, conditions } = findings
  const steps = ordered(findings)
  const restoreBefore = findings.steps.find(({ phase }) => phase === 'stale' || phase === 'drafts')?.step ?? null
  return { changes, steps, restoreBefore, losses, conditions, kept: keptBy(steps, losses), responses: responsesOf(changes, from, to) }
}

/** Where content is kept aside; several losses may lie in one place. */
function keptBy(steps: readonly PlanStep[], losses: readonly PlanLoss[]): readonly KeptPlace[] {
  const converted = steps.flatMap((step): readonly KeptPlace[] =>
    step.kind === 'convertColumn'
      ? [{ kind: 'column', table: step.table, name: step.column.name, as: step.as, conversion: step.conversion }]
      : [],
  )
  const all = [...losses.flatMap(({ kept }) => kept), ...converted]
  return [...new Map(all.map((place) => [`${place.kind} ${place.table} ${place.as} ${place.name}`, place])).values()]
}

/** The steps by their phases. Rows of one table are kept and deleted in one step. */
function ordered({ steps }: PlanFindings): readonly PlanStep[] {
  return phases.flatMap((phase) => {
    const here = steps.filter((each) => each.phase === phase).map(({ step }) => step)
    // Tables go aside after what is said of them by their former names.
    if (phase === 'aside') return [...here.filter(({ kind }) => kind !== 'keepTable'), ...here.filter(({ kind }) => kind === 'keepTable')]
    if (phase === 'renameTables') return renamedTables(here)
    return phase === 'keepRows' || phase === 'deleteRows' ? mergedByTable(here) : here
  })
}

/** Tables may take the names of each other. Some databases do not tell names apart by the case of letters. */
const renamedTables = (steps: readonly PlanStep[]): readonly PlanStep[] =>
  inOrder(
    steps.flatMap((step) => (step.kind === 'renameTable' ? [{ from: step.table, to: step.to }] : [])),
    (name) => name.toLowerCase(),
  ).map(({ from, to }) => ({ kind: 'renameTable', table: from, to, risk: 'safe' }))

function mergedByTable(steps: readonly PlanStep[]): readonly PlanStep[] {
  const merged = new Map<string, PlanStep>()
  for (const step of steps) {
    if (step.kind !== 'keepRows' && step.kind !== 'deleteRows') continue
    const other = merged.get(step.table)
    if (other?.kind !== step.kind) merged.set(step.table, step)
    else if (JSON.stringify(other.where) !== JSON.stringify(step.where))
      merged.set(step.table, { ...step, risk: riskier(step.risk, other.risk), where: sqlText`${other.where} or ${step.where}` })
  }
  return [...merged.values()]
}

const riskier = (one: PlanStep['risk'], other: PlanStep['risk']): PlanStep['risk'] => (one === 'safe' ? other : one)
