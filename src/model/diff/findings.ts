// What one comparison of two models finds, and the order in which the steps of all of them run.
import type { PlanStep, Risk, StepAction } from './steps.js'
import type { ModelChange, PlanCondition, PlanLoss } from './types.js'

/** When steps run. What is dropped goes last: nothing leads back from it. Those that name a table before `renameTables` name it as the older model does. */
export const phases = [
  'keepRows',
  'heirs',
  'deleteRows',
  'aside',
  'renameTables',
  'renameColumns',
  'create',
  'move',
  'indexes',
  'rows',
  'stale',
  'drafts',
  'bookkeeping',
  'drop',
] as const

/** One of `phases`. */
export type Phase = (typeof phases)[number]

/** What is found in one comparison of the two models. */
export interface PlanFindings {
  readonly changes: readonly ModelChange[]
  readonly steps: readonly { readonly phase: Phase; readonly step: PlanStep }[]
  readonly losses: readonly PlanLoss[]
  readonly conditions: readonly PlanCondition[]
}

/** Nothing has changed. */
export const nothing: PlanFindings = { changes: [], steps: [], losses: [], conditions: [] }

/** Several findings as one. */
export const together = (all: readonly PlanFindings[]): PlanFindings => ({
  changes: all.flatMap(({ changes }) => changes),
  steps: all.flatMap(({ steps }) => steps),
  losses: all.flatMap(({ losses }) => losses),
  conditions: all.flatMap(({ conditions }) => conditions),
})

/** A step in its phase. */
export const planned = (phase: Phase, risk: Risk, action: StepAction): { readonly phase: Phase; readonly step: PlanStep } => ({
  phase,
  step: { ...action, risk },
})
