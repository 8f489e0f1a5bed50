// Conditional attributes: an attribute whose rule does not hold for the values of its level is not shown. The rules are evaluated as the
// service does.
import jsonLogic from 'json-logic-js'
import type { Entry, FormAttribute, FormAttributes } from '../form/values.js'

type Rule = Parameters<typeof jsonLogic.apply>[0]

function ruleOf({ conditions }: FormAttribute): Rule | undefined {
  const rule = typeof conditions === 'object' && conditions !== null ? (conditions as Readonly<Record<string, unknown>>).visible : undefined
  return (rule || undefined) as Rule | undefined
}

/** True if an attribute has a rule. */
export const isConditional = (attribute: FormAttribute): boolean => ruleOf(attribute) !== undefined

/** Values that rules see: relations and media count as absent. */
function comparable(attributes: FormAttributes, values: Entry): Entry {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !/^(relation|media)$/.test(attributes[name]?.type ?? '')))
}

/** True if an attribute is shown for these values of its level. */
export function isShown(attribute: FormAttribute, attributes: FormAttributes, values: Entry): boolean {
  const rule = ruleOf(attribute)
  if (rule === undefined) return true
  try {
    return jsonLogic.truthy(jsonLogic.apply(rule, comparable(attributes, values)))
  } catch {
    return false
  }
}
