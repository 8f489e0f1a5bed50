// Requests of one conversation: documents and fields, in one of the many forms that bodies may have.
// `{ $doc: 3 }` is the documentId of the conversation's fourth document, `{ $row: … }` and `{ $entry: … }` are row
// ids that each server generated.
import { anyValue, fitting, oddValue } from './writes-values.mjs'

const isUser = (uid) => uid === 'plugin::users-permissions.user' || uid === 'plugin::upload.file'
const fixtures = (uid) => (uid.includes('upload') ? [1, 2, 3, 4, 5, 6] : [1, 2, 3, 4])

/** Makes request bodies for `schemas`; `choice` decides, `world` knows the documents so far, `wild` is the share of odd values. */
export function requestsOf({ schemas, choice, world, wild, conversation, strict }) {
  const { pick, chance, below, some } = choice

  /** A document that links to itself loses the link at each publication, in Strapi. */
  const targets = (uid) =>
    world.docs.flatMap((doc, index) => (doc?.uid === uid && !(strict && (index === world.writing || world.gone.has(index))) ? [index] : []))

  function reference(uid, type) {
    if (isUser(uid)) {
      const id = pick(fixtures(uid))
      return { id: chance(wild / 20) ? 99_999 : id, typed: type }
    }
    const known = targets(uid)
    if (known.length === 0 || chance(wild / 20)) return chance(0.5) ? { documentId: 'nothing'.padEnd(24, 'x') } : { id: 999_999 }
    const index = pick(known)
    if (chance(wild / 4)) return { id: { $row: [index, chance(0.7) ? 'draft' : 'published'] } }
    return { documentId: { $doc: index } }
  }

  function entry(uid, type, isLong) {
    const { typed, ...found } = reference(uid, type)
    if (type) return { ...found, __type: type }
    if (isLong || chance(0.4))
      return {
        ...found,
        ...(chance(wild / 3) ? { locale: pick(['en', 'fr', 'de', null]) } : {}),
        ...(chance(wild / 3) ? { status: pick(['draft', 'published']) } : {}),
      }
    return found.documentId ?? found.id
  }

  /** Rows of the project's types have other ids on the other server, so a bare number would name something else there. */
  function notRow(uid, value) {
    const [entry] = Array.isArray(value) ? value : [value]
    const id = entry?.id ?? entry
    return !isUser(uid) && /^ ?[1-9]\d* ?$/.test(String(id)) ? -1 : value
  }

  const list = (uid, most, type) => Array.from({ length: below(most + 1) }, () => entry(uid, type, false))

  function positioned(uid) {
    const made = entry(uid, null, true)
    if (!chance(0.5)) return made
    const neighbour = reference(uid)
    const at = neighbour.documentId ?? neighbour.id
    const position = chance(0.4) ? { start: true } : chance(0.2) ? { end: true } : { [pick(['before', 'after'])]: at }
    return { ...made, position }
  }

  function relationValue(uid, many, type = null) {
    if (chance(wild / 8)) return notRow(uid, oddValue(choice))
    if (!isUser(uid) && targets(uid).length === 0 && !chance(wild / 10)) return chance(0.5) ? undefined : []
    const form = below(10)
    const most = many ? 4 : chance(0.1) ? 2 : 1
    if (form < 3) return list(uid, most, type)
    if (form === 3) return { set: list(uid, most, type) }
    if (form === 4 && !type) return chance(0.3) ? null : entry(uid, type, false)
    if (form < 8)
      return {
        connect: Array.from({ length: 1 + below(most) }, () => (type ? entry(uid, type, true) : positioned(uid))),
        ...(chance(0.3) ? { disconnect: list(uid, 2, type) } : {}),
      }
    if (form === 8) return { disconnect: list(uid, 2, type) }
    return chance(0.5)
      ? []
      : { connect: list(uid, most, type), disconnect: list(uid, 1, type), ...(chance(wild) ? { set: list(uid, most, type) } : {}) }
  }

  const morphTargets = [...schemas.values()].filter(
    ({ kind, attributes, options }) =>
      kind && !(strict && options?.draftAndPublish) && Object.values(attributes).some(({ relation }) => relation === 'morphMany'),
  )

  function value(attribute, isNew, path, present) {
    switch (attribute.type) {
      case 'relation': {
        if (attribute.relation === 'morphToMany') {
          const known = morphTargets.filter(({ uid }) => targets(uid).length > 0)
          if (known.length === 0) return []
          const uid = pick(known).uid
          return relationValue(uid, true, uid)
        }
        if (attribute.relation.startsWith('morph')) return undefined
        return relationValue(attribute.target, /ToMany$/.test(attribute.relation))
      }
      case 'media':
        return relationValue('plugin::upload.file', attribute.multiple === true)
      case 'component':
        if (chance(wild / 6)) return oddValue(choice)
        if (!attribute.repeatable)
          return chance(0.15) && !attribute.required ? null : componentEntry(attribute.component, isNew, path, present)
        return entriesOf(attribute, () => attribute.component, isNew, path, present)
      case 'dynamiczone':
        if (chance(wild / 6)) return oddValue(choice)
        return entriesOf(attribute, () => pick(attribute.components), isNew, path, present)
      default:
        return anyValue(choice, attribute, conversation, wild / 2)
    }
  }

  /** A list of entries: some that are there already, in any order, and new ones. */
  function entriesOf(attribute, component, isNew, path, present) {
    const { min = 0, max = 3 } = attribute
    const there = Array.isArray(present) ? present.map((one, index) => ({ one, index })) : []
    const kept = isNew ? [] : some(there, there.length)
    const least = chance(wild / 2) ? 0 : Math.max(min - kept.length, 0)
    const most = chance(wild / 3) ? max + 1 : Math.max(max - kept.length, least)
    const count = least + below(Math.min(most - least, 2) + 1)
    const isZone = attribute.type === 'dynamiczone'
    return [
      ...kept.map(({ one, index }) => existing(one.__component ?? attribute.component, one, [...path, index], isZone)),
      ...Array.from({ length: count }, () => {
        const uid = component()
        const made = componentEntry(uid, true, null, null)
        return isZone && typeof made === 'object' && made !== null ? { __component: chance(wild / 8) ? 'no.such' : uid, ...made } : made
      }),
    ]
  }

  function existing(uid, one, path, isZone) {
    const schema = schemas.get(uid)
    return { id: { $entry: path }, ...(isZone ? { __component: uid } : {}), ...fields(schema, false, path, one, 3) }
  }

  function componentEntry(uid, isNew, path, present) {
    const schema = schemas.get(uid)
    if (!isNew && present && chance(0.6)) return existing(uid, present, path, false)
    const stolen = chance(wild / 8) && world.entries.length > 0 ? { id: { $any: pick(world.entries) } } : {}
    return { ...stolen, ...fields(schema, true, null, null, 4) }
  }

  /** Some attributes of `schema`, and all that are required where the entry is new. */
  function fields(schema, isNew, path, present, most) {
    const names = Object.keys(schema.attributes)
    const required = isNew && !chance(wild / 6) ? names.filter((name) => schema.attributes[name].required) : []
    const chosen = new Set([...required, ...some(names, most)])
    const body = {}
    for (const name of chosen) {
      const attribute = schema.attributes[name]
      const given =
        required.includes(name) &&
        attribute.type !== 'component' &&
        attribute.type !== 'dynamiczone' &&
        attribute.type !== 'media' &&
        attribute.type !== 'relation' &&
        !chance(wild / 3)
          ? fitting(choice, attribute, conversation)
          : value(attribute, isNew, path === null ? null : [...path, name], present?.[name])
      if (given !== undefined) body[name] = given
    }
    if (chance(wild / 20))
      body[pick(['id', 'documentId', 'nope', 'createdAt', 'publishedAt', 'locale', 'localizations', 'createdBy', 'status'])] =
        oddValue(choice)
    return body
  }

  const strange = () =>
    pick([undefined, {}, { data: null }, { data: [] }, { data: 'x' }, { data: 5 }, [], { data: [{}] }, { data: {}, x: 1 }])

  return {
    /** The `data` of a body, or something else in its place. */
    body: (schema, isNew, path, present, most) => (chance(wild / 25) ? strange() : { data: fields(schema, isNew, path, present, most) }),
    fields,
  }
}
