// A schema for people: the type of a value in words, its members below it, opened level by level.
import type { ApiDescription, SchemaObject } from './description.js'
import { h, prose } from './elements.js'

const nameOf = ({ $ref }: SchemaObject): string | null => (typeof $ref === 'string' ? $ref.split('/').at(-1)! : null)
const branches = (schema: SchemaObject): readonly SchemaObject[] => (schema.anyOf ?? schema.oneOf ?? []) as readonly SchemaObject[]

/** The type of a value in a few words. */
export function typeText(schema: SchemaObject): string {
  const name = nameOf(schema)
  if (name !== null) return name
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const alternatives = branches(schema)
  if (alternatives.length > 0) return [...new Set(alternatives.map(typeText))].join(' | ')
  if (Array.isArray(schema.allOf)) return (schema.allOf as readonly SchemaObject[]).map(typeText).join(' & ')
  const { type, format, items } = schema
  if (type === 'array') return `${wrapped(typeText((items ?? {}) as SchemaObject))}[]`
  const words = (Array.isArray(type) ? type : [type ?? 'any']).join(' | ')
  return typeof format === 'string' ? `${words} (${format})` : words
}

const wrapped = (text: string): string => (text.includes(' ') ? `(${text})` : text)

/** The objects that a value may be, behind references, lists and alternatives; by name. */
function objectsIn(description: ApiDescription, schema: SchemaObject, name: string | null = nameOf(schema)): Map<string, SchemaObject> {
  const whole = description.resolve(schema)
  if (whole.properties !== undefined) return new Map([[name ?? '', whole]])
  if (Array.isArray(whole.allOf)) {
    const parts = (whole.allOf as readonly SchemaObject[]).map(description.resolve)
    return new Map([
      [name ?? '', { properties: Object.assign({}, ...parts.map(({ properties }) => properties)), required: parts.flatMap(requiredOf) }],
    ])
  }
  if (whole.type === 'array') return objectsIn(description, (whole.items ?? {}) as SchemaObject)
  return new Map(branches(whole).flatMap((one) => [...objectsIn(description, one)]))
}

const requiredOf = ({ required }: SchemaObject): readonly string[] => (Array.isArray(required) ? required : [])

/** The members of the objects that a value may be; null if it is none. */
export function membersView(description: ApiDescription, schema: SchemaObject): HTMLElement | null {
  const found = [...objectsIn(description, schema)]
  if (found.length === 0) return null
  return h(
    'div',
    { class: 'members' },
    found.map(([name, one]) => objectView(description, found.length > 1 ? name : '', one)),
  )
}

function objectView(description: ApiDescription, name: string, { properties, required }: SchemaObject): HTMLElement {
  const always = new Set(requiredOf({ required }))
  const rows = Object.entries(properties as Record<string, SchemaObject>).map(([key, schema]) =>
    memberView(description, key, schema, always.has(key)),
  )
  return h('div', {}, name !== '' && h('p', { class: 'kind' }, name), h('ul', { class: 'tree' }, rows))
}

function memberView(description: ApiDescription, key: string, schema: SchemaObject, isAlways: boolean): HTMLElement {
  const says = typeof schema.description === 'string' ? h('span', { class: 'soft' }, prose(schema.description)) : null
  const head = [h('code', { class: isAlways ? 'always' : '' }, key), ' ', h('span', { class: 'type' }, typeText(schema)), ' ', says]
  if (objectsIn(description, schema).size === 0) return h('li', {}, head)
  const box = h('details', {}, h('summary', {}, head))
  // Types refer to each other without end, so a level is made when it is opened.
  box.addEventListener('toggle', () => {
    if (box.open && box.children.length === 1) box.append(membersView(description, schema)!)
  })
  return h('li', {}, box)
}
