// The inputs for the parameters of an operation, by their schema, and a view of schemas.
import type { ApiDescription, SchemaObject, ShownOperation, ShownParameter } from './description.js'
import { h, prose } from './elements.js'
import { encode } from './request.js'

/** An input and its `name=value` pairs. */
interface ParameterInput {
  readonly element: HTMLElement
  /** Not encoded yet. */
  pairs(): readonly (readonly [name: string, value: string])[]
}

/** The inputs of an operation's query string. `changed` is called when one changes. */
export function queryInputs(description: ApiDescription, { parameters }: ShownOperation, changed: () => void): readonly ParameterInput[] {
  return parameters.filter((one) => one.in === 'query').map((parameter) => createInput(description, parameter, changed))
}

/** Pairs as a query string. */
export const queryString = (inputs: readonly ParameterInput[]): string =>
  inputs
    .flatMap((input) => input.pairs())
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')

function createInput(description: ApiDescription, parameter: ShownParameter, changed: () => void): ParameterInput {
  const schema = description.resolve(parameter.schema)
  const { name } = parameter
  if (name === 'filters') return filterInput(description, parameter, schema, changed)
  if (schema.properties !== undefined) return groupInput(description, parameter, schema, changed)
  if (Array.isArray(schema.enum) || schema.type === 'boolean') return choiceInput(parameter, schema, changed)
  const names = namesIn(description, name, schema)
  return names.length === 0 ? textInput(parameter, changed) : namesInput(parameter, names, changed)
}

const labelled = (parameter: ShownParameter, control: HTMLElement, ...more: (HTMLElement | null)[]): HTMLElement =>
  h('div', { class: 'field' }, h('label', {}, h('span', { class: 'name' }, parameter.name), control), ...more, hint(parameter))

const hint = ({ description }: ShownParameter): HTMLElement | null =>
  description === undefined ? null : h('p', { class: 'soft' }, prose(description))

function textInput(parameter: ShownParameter, changed: () => void): ParameterInput {
  const control = h('input', { type: 'text', input: changed })
  return { element: labelled(parameter, control), pairs: () => (control.value === '' ? [] : [[parameter.name, control.value]]) }
}

function choiceInput(parameter: ShownParameter, schema: SchemaObject, changed: () => void): ParameterInput {
  const choices = (schema.enum ?? [true, false]) as readonly unknown[]
  const control = h(
    'select',
    { input: changed },
    h('option', { value: '' }, ''),
    choices.map((one) => h('option', {}, String(one))),
  )
  return { element: labelled(parameter, control), pairs: () => (control.value === '' ? [] : [[parameter.name, control.value]]) }
}

/** `pagination`: one input for each member. */
function groupInput(description: ApiDescription, parameter: ShownParameter, schema: SchemaObject, changed: () => void): ParameterInput {
  const members = Object.entries(schema.properties as Record<string, SchemaObject>).map(([key, member]) =>
    createInput(description, { ...parameter, name: `${parameter.name}[${key}]`, description: '', schema: member }, changed),
  )
  const rest = members.map(({ element }) => element)
  return { element: h('div', {}, h('div', { class: 'group' }, rest), hint(parameter)), pairs: () => members.flatMap((one) => one.pairs()) }
}

/** The names that may be given, of a list with a choice, of an object of levels, or of a pattern. */
function namesIn(description: ApiDescription, name: string, schema: SchemaObject): readonly string[] {
  const items = description.resolve((schema.items ?? {}) as SchemaObject)
  if (Array.isArray(items.enum)) return items.enum as readonly string[]
  if (name === 'sort')
    return [...String(items.pattern ?? '').matchAll(/[(|](\w+)(?=[|)])/g)]
      .map(([, found]) => found!)
      .filter((found) => !/^(?:asc|desc)$/.test(found))
  const object = ((schema.anyOf ?? []) as readonly SchemaObject[])
    .map(description.resolve)
    .find(({ properties }) => properties !== undefined)
  return object === undefined ? [] : ['*', ...Object.keys(object.properties as object)]
}

/** A comma list, with buttons that put names in and out. */
function namesInput(parameter: ShownParameter, names: readonly string[], changed: () => void): ParameterInput {
  const control = h('input', { type: 'text', input: () => update() })
  const listed = (): readonly string[] =>
    control.value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
  const isThere = (name: string): boolean => listed().some((one) => one.split(':')[0] === name)
  const toggle = (name: string): void => {
    const others = listed().filter((one) => one.split(':')[0] !== name && one !== '*' && name !== '*')
    control.value = (isThere(name) ? others : [...others, name]).join(',')
    update()
  }
  const chips = names.map((name) =>
    h('button', { type: 'button', class: 'chip', 'aria-pressed': 'false', click: () => toggle(name) }, name),
  )
  const update = (): void => {
    for (const chip of chips) chip.setAttribute('aria-pressed', String(isThere(chip.textContent)))
    changed()
  }
  const element = labelled(parameter, control, h('div', { class: 'chips' }, chips))
  return { element, pairs: () => (control.value.trim() === '' ? [] : [[parameter.name, listed().join(',')]]) }
}

/** Conditions: an attribute or a path to one, an operator, a value. */
function filterInput(description: ApiDescription, parameter: ShownParameter, schema: SchemaObject, changed: () => void): ParameterInput {
  const names = Object.keys((schema.properties ?? {}) as object).filter((name) => !name.startsWith('$'))
  const suggestions = h(
    'datalist',
    { id: 'attributes' },
    names.map((name) => h('option', { value: name })),
  )
  const rows = h('div', { class: 'rows' })
  const add = (): void => {
    const operator = h(
      'select',
      { 'aria-label': 'Operator', input: changed },
      operatorsIn(description, schema).map((one) => h('option', {}, one)),
    )
    const row = h(
      'div',
      { class: 'row' },
      h('input', { type: 'text', list: 'attributes', placeholder: 'title or author.name', 'aria-label': 'Attribute', input: changed }),
      operator,
      h('input', { type: 'text', placeholder: 'value', 'aria-label': 'Value', input: changed }),
      h('button', { type: 'button', 'aria-label': 'Remove the condition', click: () => [row.remove(), changed()] }, '×'),
    )
    rows.append(row)
    row.querySelector('input')!.focus()
  }
  const element = h(
    'div',
    { class: 'field' },
    h('span', { class: 'name' }, parameter.name),
    ...[suggestions, rows],
    h('button', { type: 'button', class: 'quiet', click: add }, 'Add a condition'),
  )
  const pairs = () =>
    [...rows.querySelectorAll('.row')].flatMap((row) => {
      const [attribute, operator, value] = [...row.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input,select')].map(
        (one) => one.value,
      )
      if (attribute === '') return []
      const path = attribute!
        .split('.')
        .map((step) => `[${step}]`)
        .join('')
      const values = /^\$(?:in|notIn|between)$/.test(operator!) ? value!.split(',') : [value!]
      return values.map((one, index) => [`filters${path}[${operator}]${values.length > 1 ? `[${index}]` : ''}`, one] as const)
    })
  return { element, pairs }
}

/** The operators of conditions on texts, which has all. */
function operatorsIn(description: ApiDescription, schema: SchemaObject): readonly string[] {
  for (const member of Object.values((schema.properties ?? {}) as Record<string, SchemaObject>)) {
    for (const one of (description.resolve(member).anyOf ?? []) as readonly SchemaObject[]) {
      const keys = Object.keys((one.properties ?? {}) as object).filter((key) => key !== '$not')
      if (keys.includes('$eq')) return keys
    }
  }
  return ['$eq']
}

const getSchemaName = ({ $ref }: SchemaObject): string | null => (typeof $ref === 'string' ? $ref.split('/').at(-1)! : null)
const branches = (schema: SchemaObject): readonly SchemaObject[] => (schema.anyOf ?? schema.oneOf ?? []) as readonly SchemaObject[]

/** The type of a value in a few words. */
export function typeText(schema: SchemaObject): string {
  const name = getSchemaName(schema)
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

/** The objects that a value may be, after resolving references, lists and alternatives; by name. */
function objectsIn(
  description: ApiDescription,
  schema: SchemaObject,
  name: string | null = getSchemaName(schema),
): Map<string, SchemaObject> {
  const whole = description.resolve(schema)
  if (whole.properties !== undefined) return new Map([[name ?? '', whole]])
  if (Array.isArray(whole.allOf)) {
    const parts = (whole.allOf as readonly SchemaObject[]).map(description.resolve)
    return new Map([
      [name ?? '', { properties: Object.assign({}, ...parts.map(({ properties }) => properties)), required: parts.flatMap(getRequired) }],
    ])
  }
  if (whole.type === 'array') return objectsIn(description, (whole.items ?? {}) as SchemaObject)
  return new Map(branches(whole).flatMap((one) => [...objectsIn(description, one)]))
}

const getRequired = ({ required }: SchemaObject): readonly string[] => (Array.isArray(required) ? required : [])

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
  const always = new Set(getRequired({ required }))
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
