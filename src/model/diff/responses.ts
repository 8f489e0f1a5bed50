// Changes of API responses, one sentence each.
import type { Model } from '../schema/types.js'
import { assertNever } from '../schema/types.js'
import { getSchema } from './comparison.js'
import type { ModelChange } from './types.js'

/** Returns the sentences for the changes, in their order. Changes that no response shows have none. */
export const describeResponses = (changes: readonly ModelChange[], from: Model, to: Model): readonly string[] =>
  changes.flatMap((change) => describeChange(change, from, to) ?? [])

const isPrivate = (model: Model, schema: string, attribute: string): boolean =>
  getSchema(model, schema)?.attributes.get(attribute)?.private === true

const apiPath = (model: Model, uid: string): string | null => {
  const type = model.types.get(uid)
  return type?.exposed ? `/api/${type.singleType ? type.singularName : type.pluralName}` : null
}

function describeChange(change: ModelChange, from: Model, to: Model): string | null {
  const { schema } = change
  switch (change.kind) {
    case 'schemaCreated':
      return sentence(apiPath(to, schema), (path) => `${path} returns documents of ${schema} to callers with a permission for it.`)
    case 'schemaRemoved':
      return sentence(apiPath(from, schema), (path) => `${path} returns 404.`)
    case 'schemaRenamed':
      return to.components.has(schema)
        ? `Dynamic zones return ${schema} as __component where they returned ${change.from}.`
        : `${schema} is the type that was ${change.from}; names of types in polymorphic relations follow.`
    case 'pathChanged':
      return `${change.to} returns what ${change.from} returned; ${change.from} returns 404.`
    case 'tableRenamed':
      return null
    case 'attributeCreated':
      return isPrivate(to, schema, change.attribute) ? null : `Responses of ${schema} have ${change.attribute}, null or empty at first.`
    case 'attributeRemoved':
      return isPrivate(from, schema, change.attribute)
        ? null
        : `Responses of ${schema} no longer have ${change.attribute}; requests that name it are refused, as for any unknown attribute.`
    case 'attributeRenamed':
      return `Responses of ${schema} have ${change.attribute} where they had ${change.from}.`
    case 'attributeRetyped':
      return `${change.attribute} of ${schema} is returned as ${change.to}, no longer as ${change.from}.`
    case 'attributeOptionsChanged':
      return optionsSentence(change, from, to)
    case 'relationChanged':
      return relationSentence(change)
    case 'componentsChanged':
      return change.removed.length === 0
        ? `${change.attribute} of ${schema} may hold ${change.added.join(', ')} too.`
        : `${change.attribute} of ${schema} no longer holds ${change.removed.join(', ')}.`
    case 'localizationOfAttribute':
      return change.on
        ? `${change.attribute} of ${schema} has a separate value in every locale.`
        : `Locales of a document of ${schema} share ${change.attribute} from its next write on; until then each has its own value.`
    case 'draftAndPublish':
      return change.on
        ? `Documents of ${schema} have a draft and a published version; writes go to the draft unless they publish.`
        : `Documents of ${schema} have one version, which is returned with every status; writes are visible at once.`
    case 'localization':
      return change.on
        ? `Documents of ${schema} have locales; those that are there are in the default locale.`
        : `Documents of ${schema} have no locales; the version in the default locale is returned.`
    case 'singleType':
      return change.on ? `${schema} returns one document instead of a list.` : `${schema} returns a list instead of one document.`
    default:
      return assertNever(change)
  }
}

const sentence = (path: string | null, say: (path: string) => string): string | null => (path === null ? null : say(path))

function optionsSentence(
  { schema, attribute, options }: Extract<ModelChange, { readonly kind: 'attributeOptionsChanged' }>,
  from: Model,
  to: Model,
): string | null {
  const [was, is] = [isPrivate(from, schema, attribute), isPrivate(to, schema, attribute)]
  if (was !== is) return is ? `Responses of ${schema} no longer have ${attribute}.` : `Responses of ${schema} have ${attribute}.`
  if (options.includes('repeatable') || options.includes('multiple')) {
    const source = getSchema(to, schema)?.attributes.get(attribute)?.source
    return `${attribute} of ${schema} is returned as ${source?.repeatable === true || source?.multiple === true ? 'a list' : 'one object or null'}.`
  }
  const checked = options.filter((option) => checkedOnWrites.has(option))
  return checked.length === 0 ? null : `Writes to ${attribute} of ${schema} are checked by other rules: ${checked.join(', ')}.`
}

const checkedOnWrites = new Set(['required', 'unique', 'min', 'max', 'minLength', 'maxLength', 'regex', 'enum', 'allowedTypes'])

const toMany = new Set(['oneToMany', 'manyToMany', 'morphToMany', 'morphMany'])

function relationSentence({ schema, attribute, from, to }: Extract<ModelChange, { readonly kind: 'relationChanged' }>): string | null {
  if (from.target !== to.target)
    return `${attribute} of ${schema} refers to ${to.target ?? 'any type'}, no longer to ${from.target ?? 'any type'}.`
  if (toMany.has(from.relation) === toMany.has(to.relation)) return null
  return `${attribute} of ${schema} is returned as ${toMany.has(to.relation) ? 'a list' : 'one object or null'}.`
}
