// The bodies of the older routes: what is wrong with a type, its components, or the name of a category.
import { snake } from '../schema/names.js'
import {
  type BodyCheck,
  type BodyObject,
  type BodyPlace,
  entryOf,
  flag,
  isObject,
  keys,
  matching,
  mistake,
  notEmpty,
  nullable,
  object,
  oneOf,
  onlyKeys,
  required,
  text,
  that,
  typed,
} from './checks.js'
import { categoryName, iconName, isReservedType, kebabCase, reservedTypes } from './names.js'
import { type AttributeOwner, checkAttributes } from './older-attributes.js'
import { attributesOf, isComponentUid, type Mistake, type ProjectSchemas } from './project-schemas.js'

/** The uids that relations may point at: collection types of plugins, of the project, of the admin panel. */
function targetsOf({ schemas }: ProjectSchemas): readonly string[] {
  const owners = ['plugin::', 'api::', 'admin::']
  const types = [...schemas.values()].filter(({ uid, content }) => !isComponentUid(uid) && content.kind !== 'singleType')
  const uids = owners.flatMap((owner) => types.map(({ uid }) => uid).filter((uid) => uid.startsWith(owner)))
  return [...uids, '__self__', '__contentType__']
}

const categoryForm: BodyCheck = that(
  (value: string) => value === '' || categoryName.test(value),
  'must start with a letter and only contain letters, numbers, dashes and underscores',
)
const icon = nullable(
  typed(
    'string',
    that(
      (value: string) => value === '' || iconName.test(value),
      'is not a valid icon name. Make sure your icon name starts with an alphanumeric character and only includes alphanumeric characters or dashes.',
    ),
  ),
)

/** Checks `attributes`, which stands in `owner`. */
const attributes =
  (current: ProjectSchemas, kind: AttributeOwner['kind'], uid: string | undefined): BodyCheck =>
  (value, at) => {
    const wrong = typed('object', required('attributes.required'))(value, at)
    if (wrong.length > 0 || !isObject(value)) return wrong
    const kept = uid === undefined ? {} : attributesOf(current.schemas, uid)
    return checkAttributes({ kind, attributes: value, targets: targetsOf(current) }, kept, at)
  }

function typeName(isNew: boolean, ...isFree: readonly ((name: string) => boolean)[]): BodyCheck {
  const free =
    (holds: (name: string) => boolean): BodyCheck =>
    (value, at) =>
      typeof value !== 'string' || holds(value)
        ? []
        : [mistake(at, `contentType: name \`${value}\` is already being used by another content type.`, value)]
  const reserved: BodyCheck = (value, at) =>
    typeof value === 'string' && isReservedType(value)
      ? [mistake(at, `Content Type name cannot be one of ${reservedTypes.join(', ')}`, value)]
      : []
  const isKebab = that(
    (value: string) => value === '' || (kebabCase.test(value) && !/^\d/.test(value)),
    'is not in kebab case (an-example-of-kebab-case)',
  )
  return typed('string', notEmpty, ...(isNew ? isFree.map(free) : []), reserved, isKebab, required())
}

function typeChecks(current: ProjectSchemas, type: BodyObject, uid: string | undefined): BodyCheck {
  const isNew = uid === undefined
  const types = [...current.schemas.values()].filter((schema) => !isComponentUid(schema.uid)).map(({ content }) => content)
  const isNoName = (name: string) =>
    !types.some(({ info }) => [info.singularName, info.pluralName].some((taken) => taken !== undefined && snake(taken) === snake(name)))
  const isNoTable = (name: string) =>
    !types.some(({ collectionName }) => collectionName !== undefined && snake(collectionName) === snake(name))
  return keys({
    options: object,
    pluginOptions: object,
    collectionName: nullable(typed('string', matching(categoryName))),
    attributes: attributes(current, kindOf(type), uid),
    draftAndPublish: flag,
    kind: [nullable(text), oneOf(['singleType', 'collectionType'])],
    displayName: typed('string', notEmpty, required()),
    singularName: typeName(isNew, isNoName),
    pluralName: typeName(isNew, isNoName, isNoTable),
    description: text,
  })
}

function kindOf({ kind = 'collectionType' }: BodyObject): 'collectionType' | 'singleType' | null {
  return kind === 'collectionType' || kind === 'singleType' ? kind : null
}

const differentNames: BodyCheck = (value, at) => {
  const { singularName, pluralName } = value as BodyObject
  if (pluralName !== singularName) return []
  return [mistake(at, 'contentType: singularName and pluralName should be different', value)]
}

const componentKeys = [
  'collectionName',
  'category',
  'displayName',
  'icon',
  'description',
  'draftAndPublish',
  'options',
  'pluginOptions',
  'attributes',
]

function componentChecks(current: ProjectSchemas, uid: string | undefined, more: readonly string[]): BodyCheck {
  return (value, at) => [
    ...keys({
      options: object,
      pluginOptions: object,
      attributes: attributes(current, 'component', uid),
      displayName: typed('string', notEmpty, required('displayName.required')),
      icon,
      description: text,
      category: [nullable(typed('string', categoryForm)), required('category.required')],
    })(value, at),
    ...onlyKeys([...componentKeys, ...more])(value, at),
  ]
}

/** Checks the list of components that come with a type or a component. */
const nestedComponents =
  (current: ProjectSchemas): BodyCheck =>
  (value, at) => {
    const wrong = typed('array')(value, at)
    if (wrong.length > 0 || !Array.isArray(value)) return wrong
    return value.flatMap((component, index) => nestedComponent(current, component, entryOf(at, index)))
  }

function nestedComponent(current: ProjectSchemas, component: unknown, at: BodyPlace): readonly Mistake[] {
  if (!isObject(component)) return typed('object')(component, at)
  const { uid, tmpUID } = component
  const mistakes = componentChecks(current, uid as string | undefined, ['uid', 'tmpUID'])(component, at)
  const hasOneName = (uid === undefined) !== (tmpUID === undefined)
  return hasOneName ? mistakes : [...mistakes, mistake(at, 'Component must have a uid or a tmpUID', component)]
}

const top: BodyPlace = { path: [], label: '' }

/** What is wrong with the body of a type; `uid` names the type if there is one already. */
export const typeMistakes = (current: ProjectSchemas, body: unknown, uid?: string): readonly Mistake[] =>
  typed(
    'object',
    keys({
      contentType: typed('object', (type, at) =>
        isObject(type) ? [typeChecks(current, type, uid), differentNames].flatMap((check) => check(type, at)) : [],
      ),
      components: nestedComponents(current),
    }),
    onlyKeys(['contentType', 'components']),
  )(body, top)

/** What is wrong with the body of a component; `uid` names the component if there is one already. */
export const componentMistakes = (current: ProjectSchemas, body: unknown, uid?: string): readonly Mistake[] =>
  typed(
    'object',
    keys({
      component: typed('object', required(), componentChecks(current, uid, [])),
      components: nestedComponents(current),
    }),
    onlyKeys(['component', 'components']),
  )(body, top)

/** What is wrong with the new name of a category. */
export const categoryMistakes = (body: unknown): readonly Mistake[] =>
  typed(
    'object',
    keys({
      name: typed(
        'string',
        that((value: string) => value.length >= 3, 'must be at least 3 characters'),
        categoryForm,
        required('name.required'),
      ),
    }),
    onlyKeys(['name']),
  )(body, top)
