// Small models for tests of plans, and helpers to inspect a plan.

import type { PlanStep } from '../../src/model/diff/steps.js'
import { builtinSchemas } from '../../src/model/schema/builtin.js'
import { linkModel } from '../../src/model/schema/link.js'
import type { AttributeSource, Model, SchemaSource } from '../../src/model/schema/types.js'

type Attributes = Readonly<Record<string, AttributeSource>>

/** A collection type of the project, `api::<name>.<name>` in the table `<name>s`. */
export const type = (name: string, attributes: Attributes, more: Partial<SchemaSource> = {}): SchemaSource => ({
  uid: `api::${name}.${name}`,
  kind: 'collectionType',
  collectionName: `${name}s`,
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  attributes,
  ...more,
})

/** A component of the category `shared`. */
export const component = (name: string, attributes: Attributes): SchemaSource => ({
  uid: `shared.${name}`,
  kind: 'component',
  collectionName: `components_shared_${name}s`,
  info: { displayName: name },
  attributes,
})

export const draftAndPublish = { options: { draftAndPublish: true } }
export const localized = { pluginOptions: { i18n: { localized: true } } }

export const model = (...schemas: readonly SchemaSource[]): Model => linkModel([...builtinSchemas, ...schemas])

/** The steps of one kind. */
export const stepsOf = <Kind extends PlanStep['kind']>(
  steps: readonly PlanStep[],
  kind: Kind,
): readonly Extract<PlanStep, { readonly kind: Kind }>[] =>
  steps.filter((step): step is Extract<PlanStep, { readonly kind: Kind }> => step.kind === kind)

/** A text of a plan with its values in it, to read. */
export const shown = ({ text, values }: { readonly text: readonly string[]; readonly values: readonly unknown[] }): string =>
  text.reduce((all, part, index) => `${all}${JSON.stringify(values[index - 1])}${part}`)
