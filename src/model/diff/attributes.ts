// What changes in the attributes of a schema, in words of the model.
import type { Attribute, ContentType } from '../schema/types.js'
import type { ModelComparison } from './context.js'
import { componentsOf } from './entries.js'
import { nothing, type PlanFindings, planned } from './findings.js'
import type { AttributePair, SchemaPair } from './pairs.js'
import type { ModelChange, RelationWords } from './types.js'

/** Compares the attributes and options of a type or component that both models have. */
export function compareAttributes({ pairs }: ModelComparison, pair: SchemaPair): PlanFindings {
  const [older, newer] = [pair.from.uid, pair.to.uid]
  const both = pairs.attributes(pair)
  const renamed = both.filter(({ from, to }) => from.name !== to.name)
  return {
    ...nothing,
    changes: [
      ...optionChanges(pair),
      ...pairs.removedAttributes(pair).map(({ name, source: { type } }) => ({
        kind: 'attributeRemoved' as const,
        schema: older,
        attribute: name,
        type,
      })),
      ...pairs.createdAttributes(pair).map(({ name, source: { type } }) => ({
        kind: 'attributeCreated' as const,
        schema: newer,
        attribute: name,
        type,
      })),
      ...both.flatMap((each) => changesOf(pairs.uidIn, newer, each, pairs.nameIn)),
    ],
    steps:
      renamed.length === 0
        ? []
        : [
            planned('bookkeeping', 'safe', {
              kind: 'renameInSettings',
              schema: newer,
              names: renamed.map(({ from, to }) => ({ from: from.name, to: to.name })),
            }),
          ],
  }
}

const pathOf = ({ singleType, singularName, pluralName }: ContentType): string => (singleType ? singularName : pluralName)

function optionChanges({ from, to }: SchemaPair): readonly ModelChange[] {
  if (from.kind !== 'contentType' || to.kind !== 'contentType') return []
  const schema = to.uid
  const path = { from: `/api/${pathOf(from)}`, to: `/api/${pathOf(to)}` }
  return [
    ...(from.draftAndPublish === to.draftAndPublish ? [] : [{ kind: 'draftAndPublish' as const, schema, on: to.draftAndPublish }]),
    ...(from.localized === to.localized ? [] : [{ kind: 'localization' as const, schema, on: to.localized }]),
    ...(from.singleType === to.singleType ? [] : [{ kind: 'singleType' as const, schema, on: to.singleType }]),
    ...(path.from === path.to || !to.exposed ? [] : [{ kind: 'pathChanged' as const, schema, ...path }]),
  ]
}

function relationWords(attribute: Attribute): RelationWords | null {
  const relation = String(attribute.source.relation)
  if (attribute.kind === 'morphTo') return { relation, target: null, inverse: null }
  if (attribute.kind === 'morphFrom') return { relation, target: attribute.target, inverse: attribute.by }
  return attribute.kind === 'relation' ? { relation, target: attribute.target, inverse: attribute.inverse } : null
}

/** Options that changes of other kinds speak of. */
const ownWords = new Set(['type', 'relation', 'target', 'inversedBy', 'mappedBy', 'morphBy', 'component', 'components', 'pluginOptions'])

function changesOf(
  uidIn: (uid: string) => string | undefined,
  schema: string,
  { from, to }: AttributePair,
  nameIn: (uid: string, attribute: string) => string | undefined,
): readonly ModelChange[] {
  const attribute = to.name
  const changes: ModelChange[] = []
  if (from.name !== to.name) changes.push({ kind: 'attributeRenamed', schema, attribute, from: from.name })
  if (typeWord(from) !== typeWord(to))
    return [...changes, { kind: 'attributeRetyped', schema, attribute, from: typeWord(from), to: typeWord(to) }]
  const [before, after] = [relationWords(from), relationWords(to)]
  if (before !== null && after !== null) {
    const target = before.target === null ? null : (uidIn(before.target) ?? before.target)
    const inverse = before.inverse === null || before.target === null ? null : (nameIn(before.target, before.inverse) ?? before.inverse)
    if (JSON.stringify({ ...before, target, inverse }) !== JSON.stringify(after))
      changes.push({ kind: 'relationChanged', schema, attribute, from: before, to: after })
  }
  const [held, holds] = [componentsOf(from).map((uid) => uidIn(uid) ?? uid), componentsOf(to)]
  const [added, removed] = [holds.filter((uid) => !held.includes(uid)), held.filter((uid) => !holds.includes(uid))]
  if (added.length + removed.length > 0) changes.push({ kind: 'componentsChanged', schema, attribute, added, removed })
  if (from.kind !== 'relation' && from.localized !== to.localized)
    changes.push({ kind: 'localizationOfAttribute', schema, attribute, on: to.localized })
  const options = changedOptions(from, to)
  return options.length === 0 ? changes : [...changes, { kind: 'attributeOptionsChanged', schema, attribute, options }]
}

/** The type of an attribute, that of a custom field as it is stored. */
const typeWord = (attribute: Attribute): string => (attribute.kind === 'scalar' ? attribute.type : attribute.source.type)

function changedOptions(from: Attribute, to: Attribute): readonly string[] {
  const names = [...new Set([...Object.keys(from.source), ...Object.keys(to.source)])].filter((name) => !ownWords.has(name))
  return names.filter((name) => JSON.stringify(from.source[name]) !== JSON.stringify(to.source[name]))
}
