// The bodies of the older routes: what is wrong with a type, its components, or the name of a category.

import { snake } from '../model/names.js'
import {
  type BodyCheck,
  type BodyObject,
  type BodyPlace,
  flag,
  inside,
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
import { checkAttributes } from './older-attributes.js'
import { attributesOf, isComponentUid, type Mistake, type ProjectSchemas } from './project-schemas.js'

/** The uids that relations may point at: collection types of plugins, of the project, of the admin panel. */
function targetsOf({ schemas }: ProjectSchemas): readonly string[] {
  const owners = ['plugin::', 'api::', 'admin::']
  const types = [...schemas.values()].filter(({ uid, content }) => !isComponentUid(uid) && content.kind !== 'singleType')
  const uids = owners.flatMap((owner) => types.map(({ uid }) => uid).filter((uid) => uid.startsWith(owner)))
  return [...uids, '__self__', '__contentType__']
}

const category: readonly BodyCheck[] = [
  typed(
    'string',
    that(
      (value: string) => value === '' || categoryName.test(value),
      'must start with a letter and only contain letters, numbers, dashes and underscores',
    ),
  ),
]
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
  (
    current: ProjectSchemas,
    kind: 'collectionType' | 'singleType' | 'component',
    uid: string | undefined,
    ...further: readonly BodyCheck[]
  ): BodyCheck =>
  (value, at) => {
    const wrong = [typed('object'), ...further].flatMap((check) => check(value, at))
    if (wrong.length > 0 || !isObject(value)) return wrong
    const kept = uid === undefined ? {} : attributesOf(current.schemas, uid)
    return checkAttributes({ kind, attributes: value, targets: targetsOf(current) }, kept, at)
  }

function typeName(isNew: boolean, ...isFree: readonly ((name: string) => boolean)[]): readonly BodyCheck[] {
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
  const isKebab = that((value: string) => value === '' || kebabCase.test(value), 'is not in kebab case (an-example-of-kebab-case)')
  return [typed('string', notEmpty, ...(isNew ? isFree.map(free) : []), isKebab, reserved), required()]
}

function typeChecks(current: ProjectSchemas, type: BodyObject, uid: string | undefined): BodyCheck {
  const isNew = uid === undefined
  const types = [...current.schemas.values()].filter((schema) => !isComponentUid(schema.uid)).map(({ content }) => content)
  const isNoName = (name: string) =>
    !types.some(({ info }) => [info.singularName, info.pluralName].some((taken) => taken !== undefined && snake(taken) === snake(name)))
  const isNoTable = (name: string) =>
    !types.some(({ collectionName }) => collectionName !== undefined && snake(collectionName) === snake(name))
  return keys({
    displayName: [typed('string', notEmpty), required()],
    singularName: typeName(isNew, isNoName),
    pluralName: typeName(isNew, isNoName, isNoTable),
    description: text,
    draftAndPublish: flag,
    options: object,
    pluginOptions: object,
    collectionName: nullable(typed('string', matching(categoryName))),
    kind: oneOf(['singleType', 'collectionType']),
    attributes: attributes(current, type.kind === 'singleType' ? 'singleType' : 'collectionType', uid, required('attributes.required')),
  })
}

const differentNames: BodyCheck = (value, at) => {
  const { singularName, pluralName } = value as BodyObject
  if (typeof pluralName !== 'string' || pluralName === '' || pluralName !== singularName) return []
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
      displayName: [typed('string', notEmpty), required('displayName.required')],
      icon,
      description: text,
      category: [...category, required('category.required')],
      attributes: attributes(current, 'component', uid, required('attributes.required')),
    })(value, at),
    ...onlyKeys([...componentKeys, ...more])(value, at),
  ]
}

/** Checks the list of components that come with a type or a component. */
const nestedComponents =
  (current: ProjectSchemas): BodyCheck =>
  (value, at) => {
    const wrong = nullable(typed('array'))(value, at)
    if (wrong.length > 0 || !Array.isArray(value)) return wrong
    return value.flatMap((component, index) => {
      const place: BodyPlace = { path: [...at.path, String(index)], label: `${at.label}[${index}]` }
      if (!isObject(component)) return typed('object')(component, place)
      if ((component.uid === undefined) === (component.tmpUID === undefined))
        return [mistake(place, 'Component must have a uid or a tmpUID', component)]
      return componentChecks(current, component.uid as string | undefined, ['uid', 'tmpUID'])(component, place)
    })
  }

const top: BodyPlace = { path: [], label: '' }

/** What is wrong with the body of a type; `uid` names the type if there is one already. */
export function typeMistakes(current: ProjectSchemas, body: BodyObject, uid?: string): readonly Mistake[] {
  return [
    ...object(body.contentType, inside(top, 'contentType')),
    ...(isObject(body.contentType)
      ? [typeChecks(current, body.contentType, uid), differentNames].flatMap((check) => check(body.contentType, inside(top, 'contentType')))
      : []),
    ...nestedComponents(current)(body.components, inside(top, 'components')),
    ...onlyKeys(['contentType', 'components'])(body, top),
  ]
}

/** What is wrong with the body of a component; `uid` names the component if there is one already. */
export function componentMistakes(current: ProjectSchemas, body: BodyObject, uid?: string): readonly Mistake[] {
  return [
    ...object(body.component, inside(top, 'component')),
    ...(isObject(body.component) ? componentChecks(current, uid, [])(body.component, inside(top, 'component')) : []),
    ...nestedComponents(current)(body.components, inside(top, 'components')),
    ...onlyKeys(['component', 'components'])(body, top),
  ]
}

/** What is wrong with the new name of a category. */
export const categoryMistakes = (body: BodyObject): readonly Mistake[] =>
  keys({
    name: [
      typed(
        'string',
        that((value: string) => value.length >= 3, 'must be at least 3 characters'),
        ...category,
      ),
      required('name.required'),
    ],
  })(body, top)
