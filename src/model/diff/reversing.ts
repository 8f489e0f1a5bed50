// Reverts a change whose steps are committed one by one, if a step fails.
import type { Column, ForeignKey, Table } from '../tables/table.js'
import { id, type SqlText, sqlText } from './sql-text.js'
import type { PlanStep, Risk, StepOf } from './steps.js'
import { storedTypesKey } from './strapi-settings.js'

/** A reverting step. Each can be repeated, and ignores what no longer exists. */
export type ReversingStep =
  | StepOf<'dropTable' | 'renameTable' | 'renameColumn' | 'createIndex' | 'dropIndex' | 'dropForeignKey' | 'deleteRows'>
  | { readonly kind: 'dropColumn'; readonly table: string; readonly column: string }
  /** Renames `as` to the column, which it replaces. `declares`: the former declaration, if it was not replaced. */
  | { readonly kind: 'putColumnBack'; readonly table: string; readonly column: Column; readonly as: string; readonly declares: boolean }
  /** Writes rows that were copied before a step changed or deleted them. */
  | { readonly kind: 'putRowsBack'; readonly table: string; readonly from: string }
  | { readonly kind: 'addForeignKey'; readonly table: string; readonly foreignKey: ForeignKey }

/** Prefix of tables with copies of rows, which exist until a change is complete or reverted. */
export const copiesPrefix = 'octavo_before_'

/** Rows that a step changes or deletes, and the table that has copies of them while the change is under way. */
export interface RowsToCopy {
  readonly table: string
  readonly where: SqlText | null
  readonly as: string
}

/** The rows that step number `index` changes or deletes. */
export function copiedRows(step: PlanStep, index: number): readonly RowsToCopy[] {
  const copies = (rows: readonly Omit<RowsToCopy, 'as'>[]) =>
    rows.map((each, place) => ({ ...each, as: `${copiesPrefix}${index}_${place}` }))
  const setting = (key: string) => ({ table: 'strapi_core_store_settings', where: sqlText`${id('key')} = ${key}` })
  switch (step.kind) {
    case 'deleteRows':
    case 'setValues':
      return copies([{ table: step.table, where: step.where }])
    case 'renameInSettings':
      return copies([
        ...['content_types', 'components'].map((kind) => setting(`plugin_content_manager_configuration_${kind}::${step.schema}`)),
        { table: 'admin_permissions', where: sqlText`subject = ${step.schema}` },
      ])
    case 'storeContentTypes':
      return copies([setting(storedTypesKey)])
    default:
      return []
  }
}

/** Steps of several statements: one that failed may have executed some of them. */
const inParts: ReadonlySet<PlanStep['kind']> = new Set([
  ...(['keepTable', 'addColumn', 'keepColumn', 'convertColumn', 'declareColumn', 'dropIndex', 'renameForeignKey', 'keepRows'] as const),
])

/** Steps that cannot be reverted. */
const irreversible: ReadonlySet<PlanStep['kind']> = new Set(['makeDrafts', 'dropTable'])

/** Steps that revert the first `done` steps of a change; null: impossible. `former`: the tables before the change. */
export function reversingSteps(steps: readonly PlanStep[], done: number, former: readonly Table[]): readonly ReversingStep[] | null {
  const complete = steps.slice(0, done)
  if (complete.some(({ kind }) => irreversible.has(kind))) return null
  const begun = steps.slice(0, done + 1).filter(({ kind }, index) => index < done || inParts.has(kind))
  const made = new Set(complete.flatMap((step) => (step.kind === 'createTable' ? [step.table.name] : [])))
  const back = begun.flatMap((step, index) => [reversed(step, index, made)]).reverse()
  return [...back.flat(), ...foreignKeysBack(begun, former)]
}

const safe: { readonly risk: Risk } = { risk: 'safe' }

function reversed(step: PlanStep, index: number, made: ReadonlySet<string>): readonly ReversingStep[] {
  switch (step.kind) {
    case 'createTable':
      return [{ kind: 'dropTable', table: step.table.name, ...safe }]
    case 'renameTable':
      return [{ kind: 'renameTable', table: step.to, to: step.table, ...safe }]
    case 'keepTable':
      return [{ kind: 'renameTable', table: step.as, to: step.table, ...safe }]
    case 'addColumn': {
      const { table, column, foreignKey } = step
      return [
        ...(foreignKey === null ? [] : [{ kind: 'dropForeignKey' as const, table, foreignKey, ...safe }]),
        { kind: 'dropColumn', table, column: column.name },
      ]
    }
    case 'renameColumn':
      return [{ kind: 'renameColumn', table: step.table, column: step.to, to: step.column, ...safe }]
    case 'keepColumn':
      return [{ kind: 'putColumnBack', table: step.table, column: step.column, as: step.as, declares: false }]
    case 'convertColumn':
    case 'declareColumn': {
      // By its new name, which it has at the time of the step.
      const column = { ...step.former, name: step.column.name }
      return [{ kind: 'putColumnBack', table: step.table, column, as: step.as, declares: step.kind === 'declareColumn' }]
    }
    case 'createIndex':
      return [{ ...step, kind: 'dropIndex' }]
    case 'dropIndex':
      return [{ ...step, kind: 'createIndex' }]
    case 'renameForeignKey':
      return [{ kind: 'dropForeignKey', table: step.table, foreignKey: step.to, ...safe }]
    case 'keepRows':
      return [{ kind: 'dropTable', table: step.as, ...safe }]
    case 'moveRows':
      if (made.has(step.to)) return []
      return [{ kind: 'deleteRows', table: step.to, where: sqlText`id in (select id from ${id(step.from)})`, ...safe }]
    default:
      return copiedRows(step, index).map(({ table, as }) => ({ kind: 'putRowsBack', table, from: as }))
  }
}

/** Foreign keys that steps drop come back when everything else has. */
function foreignKeysBack(begun: readonly PlanStep[], former: readonly Table[]): readonly ReversingStep[] {
  const dropped = new Set(
    begun.flatMap((step) => {
      if (step.kind === 'keepTable') return step.foreignKeys
      if (step.kind === 'dropForeignKey') return [step.foreignKey.name]
      if (step.kind === 'dropIndex') return [step.index.name]
      return step.kind === 'renameForeignKey' ? [step.from] : []
    }),
  )
  return former.flatMap(({ name: table, foreignKeys }) =>
    foreignKeys.filter(({ name }) => dropped.has(name)).map((foreignKey) => ({ kind: 'addForeignKey', table, foreignKey })),
  )
}
