// Plans a change of the content model: its steps, losses and conditions.
import type { Model } from '../schema/types.js'
import { compareColumns } from './columns.js'
import { compareModels, mergeFindings, orderRenames, type PlanFindings, phases } from './comparison.js'
import { compareConditions } from './conditions.js'
import { compareEntries } from './entries.js'
import { compareLinks } from './links.js'
import { compareMedia, compareMorphTables, compareNamedTypes } from './polymorphic.js'
import { describeResponses } from './responses.js'
import { compareLocalizedValues, compareRows } from './rows.js'
import { compareAttributes, compareSchemas } from './schemas.js'
import { sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { ArchivedContent, ModelPlan, PlanChoices, PlanLoss, Rename } from './types.js'

/**
 * Plans the change from one model to another (docs/spec/model-plans.md). Content stays with names that both models have and with `renames`;
 * other content is archived under `octavo_kept_<number>_…`.
 * @throws Error if a rename names something unknown, or if two renames contradict each other
 */
export function planModelChange(from: Model, to: Model, renames: readonly Rename[], choices: PlanChoices = {}): ModelPlan {
  const comparison = compareModels(from, to, renames, choices)
  const ofEach = [compareAttributes, compareRows, compareColumns, compareEntries, compareMedia, compareConditions, compareLocalizedValues]
  const findings = mergeFindings([
    compareSchemas(comparison),
    ...comparison.pairs.schemas.flatMap((pair) => ofEach.map((compare) => compare(comparison, pair))),
    compareLinks(comparison),
    compareMorphTables(comparison),
    compareNamedTypes(comparison),
  ])
  const { changes, losses, conditions } = findings
  const steps = sortSteps(findings)
  const restoreBefore = findings.steps.find(({ phase }) => phase === 'stale' || phase === 'drafts')?.step ?? null
  return {
    changes,
    steps,
    restoreBefore,
    losses,
    conditions,
    kept: archivedContent(steps, losses),
    responses: describeResponses(changes, from, to),
  }
}

/** Several losses may share a location. */
function archivedContent(steps: readonly PlanStep[], losses: readonly PlanLoss[]): readonly ArchivedContent[] {
  const converted = steps.flatMap((step): readonly ArchivedContent[] =>
    step.kind === 'convertColumn'
      ? [{ kind: 'column', table: step.table, name: step.column.name, as: step.as, conversion: step.conversion }]
      : [],
  )
  const all = [...losses.flatMap(({ kept }) => kept), ...converted]
  return [...new Map(all.map((place) => [`${place.kind} ${place.table} ${place.as} ${place.name}`, place])).values()]
}

/** Sorts steps by phase, and merges those that archive or delete rows of one table. */
function sortSteps({ steps }: PlanFindings): readonly PlanStep[] {
  return phases.flatMap((phase) => {
    const here = steps.filter((each) => each.phase === phase).map(({ step }) => step)
    // Tables are archived after the steps that use their former names.
    if (phase === 'aside') return [...here.filter(({ kind }) => kind !== 'keepTable'), ...here.filter(({ kind }) => kind === 'keepTable')]
    if (phase === 'renameTables') return renameTables(here)
    return phase === 'keepRows' || phase === 'deleteRows' ? mergeByTable(here) : here
  })
}

/** Tables may swap names. Some databases compare names without case. */
const renameTables = (steps: readonly PlanStep[]): readonly PlanStep[] =>
  orderRenames(
    steps.flatMap((step) => (step.kind === 'renameTable' ? [{ from: step.table, to: step.to }] : [])),
    (name) => name.toLowerCase(),
  ).map(({ from, to }) => ({ kind: 'renameTable', table: from, to, risk: 'safe' }))

function mergeByTable(steps: readonly PlanStep[]): readonly PlanStep[] {
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
