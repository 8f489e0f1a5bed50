// The SQL of a step of a change of the content model, for readers: values are in their places, and what the service computes is a comment.
import type { PlanStep } from '../model/diff/steps.js'

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}

/** A statement with its values in the place of `?` or `$1`. */
export function statementText(text: string, values: readonly unknown[]): string {
  let next = 0
  return values.length === 0
    ? text
    : text.replace(/\?|\$(\d+)/g, (_mark, number?: string) => literal(values[number === undefined ? next++ : Number(number) - 1]))
}

/** What the service does for a step beside statements; null: nothing. */
export function computedText(step: PlanStep): string | null {
  switch (step.kind) {
    case 'convertColumn':
      return `-- fills "${step.column.name}" of "${step.table}" from "${step.as}": ${step.conversion.from} to ${step.conversion.to}`
    case 'makeDrafts':
      return `-- inserts a draft of every row of "${step.table}" that has none, with copies of its components, files and links`
    case 'renameInSettings':
      return `-- renames ${step.names.map(({ from, to }) => `${from} to ${to}`).join(', ')} in the settings of the content manager and in permissions`
    case 'storeContentTypes':
      return '-- writes the schemas to "strapi_core_store_settings"'
    default:
      return null
  }
}
