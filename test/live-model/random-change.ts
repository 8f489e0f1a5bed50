// Possible changes of a random model: attributes, links, types, Draft & Publish, localization.
import {
  type Chances,
  kinds,
  type RandomChange,
  type RandomLink,
  type RandomModel,
  type RandomType,
  sidesOf,
  uidOf,
} from './random-model.js'

/** The attributes that are checked while everything else changes, by type. */
const fixed: Readonly<Record<string, readonly string[]>> = { base: ['label', 'count'] }
/** Few names, so that removed ones are often created again. */
const attributeNames = ['red', 'green', 'blue', 'deepBlue', 'white', 'dark_grey', 'black']
const typeNames = ['apple', 'berry', 'cedar', 'daisy', 'elder', 'fern', 'ginkgo']
const scalarTypes = [
  ...['string', 'text', 'email', 'integer', 'biginteger', 'float', 'decimal', 'boolean', 'date', 'time', 'datetime', 'json', 'richtext'],
  'enumeration',
]
const scalar = (type: string) => (type === 'enumeration' ? { type, enum: ['one', 'two'] } : { type })
const nested = [
  { type: 'component', component: 'part.note' },
  { type: 'component', component: 'part.mark', repeatable: true },
  { type: 'dynamiczone', components: ['part.note', 'part.mark'] },
]

const freeNames = (model: RandomModel, name: string) => {
  const taken = [...Object.keys(model.types[name]!.attributes), ...sidesOf(model, name).map((side) => side.name)]
  return attributeNames.filter((one) => !taken.includes(one))
}
const freeTypes = ({ types }: RandomModel) =>
  typeNames.filter((name) => !Object.hasOwn(types, name) && Object.values(types).every(({ table }) => table !== `${name}s`))

const withType = ({ types, links }: RandomModel, name: string, change: Partial<RandomType>): RandomModel => ({
  types: { ...types, [name]: { ...types[name]!, ...change } },
  links,
})
const without = (attributes: RandomType['attributes'], name: string) =>
  Object.fromEntries(Object.entries(attributes).filter(([own]) => own !== name))
const ends = ({ from, name, to, inverse }: RandomLink) => [`${from}.${name}`, ...(inverse === null ? [] : [`${to}.${inverse}`])]

/** A way to change a model; null: it is not possible in this one. */
type Way = (model: RandomModel, by: Chances) => RandomChange | null

/** A type and an attribute of it that may go, without links. */
function someAttribute({ types }: RandomModel, { pick }: Chances): readonly [string, string] | null {
  const all = Object.entries(types).flatMap(([name, { attributes }]) =>
    Object.keys(attributes).map((attribute) => [name, attribute] as const),
  )
  const free = all.filter(([name, attribute]) => fixed[name]?.includes(attribute) !== true)
  return free.length === 0 ? null : pick(free)
}

const addAttribute: Way = (model, { pick, is }) => {
  const name = pick(Object.keys(model.types))
  const free = freeNames(model, name)
  if (free.length < 2) return null
  const attribute = pick(free)
  const added = is(0.25) ? pick(nested) : scalar(pick(scalarTypes))
  const { attributes } = model.types[name]!
  const next = withType(model, name, { attributes: { ...attributes, [attribute]: added } })
  return { what: `add ${name}.${attribute} ${added.type}`, model: next, renames: [], touched: [`${name}.${attribute}`] }
}

const removeAttribute: Way = (model, by) => {
  const [name, attribute] = someAttribute(model, by) ?? []
  if (name === undefined || attribute === undefined) return null
  const attributes = without(model.types[name]!.attributes, attribute)
  return { what: `remove ${name}.${attribute}`, model: withType(model, name, { attributes }), renames: [], touched: [] }
}

const renameAttribute: Way = (model, by) => {
  const [name, from] = someAttribute(model, by) ?? []
  if (name === undefined || from === undefined) return null
  const to = by.pick(freeNames(model, name))
  if (to === undefined) return null
  const { attributes } = model.types[name]!
  const next = withType(model, name, { attributes: { ...without(attributes, from), [to]: attributes[from]! } })
  const renames = [{ kind: 'attribute', schema: uidOf(name), from, to }]
  return { what: `rename ${name}.${from} ${to}`, model: next, renames, touched: [] }
}

const retypeAttribute: Way = (model, by) => {
  const [name, attribute] = someAttribute(model, by) ?? []
  if (name === undefined || attribute === undefined) return null
  const { attributes } = model.types[name]!
  const former = attributes[attribute]!
  const types = scalarTypes.filter((type) => type !== former.type)
  const later = former.type === 'component' && by.is(0.7) ? { ...former, repeatable: former.repeatable !== true } : scalar(by.pick(types))
  const next = withType(model, name, { attributes: { ...attributes, [attribute]: later } })
  const what = `retype ${name}.${attribute} ${JSON.stringify(former)} ${JSON.stringify(later)}`
  return { what, model: next, renames: [], touched: [`${name}.${attribute}`] }
}

const addLink: Way = (model, { pick, is }) => {
  const [from, to] = [pick(Object.keys(model.types)), pick(Object.keys(model.types))]
  const name = pick(freeNames(model, from))
  const free = freeNames(model, to).filter((one) => from !== to || one !== name)
  if (model.links.length > 8 || name === undefined || free.length === 0) return null
  const link = { from, name, to, inverse: is(0.6) ? pick(free) : null, kind: pick(kinds), isFixed: false }
  return { what: `link ${JSON.stringify(link)}`, model: { ...model, links: [...model.links, link] }, renames: [], touched: ends(link) }
}

/** Changes one of the links that may change. */
function changeLink(
  model: RandomModel,
  { pick }: Chances,
  word: string,
  change: (link: RandomLink) => RandomLink | null,
): RandomChange | null {
  const former = pick(model.links.filter(({ isFixed }) => !isFixed))
  if (former === undefined) return null
  const later = change(former)
  const links = model.links.flatMap((link) => (link !== former ? [link] : later === null ? [] : [later]))
  const touched = later === null ? [] : ends(later)
  return { what: `${word} ${JSON.stringify(former)} ${JSON.stringify(later)}`, model: { ...model, links }, renames: [], touched }
}

const rekindLink: Way = (model, by) =>
  changeLink(model, by, 'change', (link) => ({ ...link, kind: by.pick(kinds.filter((kind) => kind !== link.kind)) }))

const removeLink: Way = (model, by) => changeLink(model, by, 'unlink', () => null)

const toggle: Way = ({ types, links }, { pick, is }) => {
  const name = pick(Object.keys(types))
  const type = types[name]!
  const switched = is(0.5) ? { drafts: !type.drafts } : { localized: !type.localized }
  const what = `switch ${name} ${JSON.stringify(switched)}`
  // A link of another document to a draft leads to the published version then (model-plans.12), also if it was created from the draft's side.
  const led = links.filter(({ from, to, kind }) => (kind === 'oneToMany' ? from : to) === name)
  const touched = switched.drafts === false ? led.flatMap(ends) : []
  return { what, model: withType({ types, links }, name, switched), renames: [], touched }
}

const createType: Way = (model, { pick, is }) => {
  const name = pick(freeTypes(model))
  if (name === undefined || Object.keys(model.types).length > 6) return null
  const attributes = { red: scalar(pick(scalarTypes)), green: { type: 'string' } }
  const type = { table: `${name}s`, drafts: is(0.5), localized: is(0.3), attributes }
  return { what: `create ${name}`, model: withType(model, name, type), renames: [], touched: [] }
}

const removeType: Way = ({ types, links }, { pick }) => {
  const name = pick(Object.keys(types).filter((one) => one !== 'base' && links.every(({ isFixed, to }) => !isFixed || to !== one)))
  if (name === undefined) return null
  const { [name]: _gone, ...others } = types
  const left = links.filter(({ from, to }) => from !== name && to !== name)
  return { what: `remove ${name}`, model: { types: others, links: left }, renames: [], touched: [] }
}

const renameType: Way = (model, { pick, is }) => {
  const to = pick(freeTypes(model))
  const from = pick(Object.keys(model.types).filter((name) => name !== 'base'))
  if (to === undefined || from === undefined) return null
  const { [from]: former, ...others } = model.types
  const named = (name: string) => (name === from ? to : name)
  const table = is(0.5) ? former!.table : `${to}s`
  const links = model.links.map((link) => ({ ...link, from: named(link.from), to: named(link.to) }))
  const renames = [{ kind: 'type', from: uidOf(from), to: uidOf(to) }]
  return {
    what: `rename ${from} ${to} ${table}`,
    model: { types: { ...others, [to]: { ...former!, table } }, links },
    renames,
    touched: [],
  }
}

const ways: readonly Way[] = [
  ...[addAttribute, addAttribute, addAttribute, addAttribute, removeAttribute, renameAttribute, renameAttribute],
  ...[retypeAttribute, retypeAttribute, retypeAttribute, addLink, addLink, addLink, rekindLink, rekindLink, rekindLink, removeLink],
  ...[toggle, toggle, toggle, toggle, createType, createType, removeType, renameType],
]

/** A random change of a model. */
export function randomChange(model: RandomModel, by: Chances): RandomChange {
  for (;;) {
    const change = by.pick(ways)(model, by)
    if (change !== null) return change
  }
}
