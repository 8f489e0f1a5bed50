// One conversation: a few documents are made, changed and removed on both servers at once, and read back after each write.
import { firstDifference, normal } from './writes-compare.mjs'
import { namedEnd, namedPoint } from './writes-named.mjs'
import { random } from './writes-random.mjs'
import { requestsOf } from './writes-requests.mjs'

const locales = ['en', 'fr', 'de']

/** Whole documents: every attribute, relations as documentIds, components as deep as they go. */
export function everything(schemas, schema, depth = 0) {
  const populate = {}
  for (const [name, attribute] of Object.entries(schema.attributes)) {
    if (attribute.relation === 'morphMany' || attribute.relation === 'morphOne') continue
    if (attribute.type === 'relation')
      populate[name] = /^morphTo/.test(attribute.relation) ? true : isPlugin(attribute.target) ? true : { fields: ['documentId'] }
    else if (attribute.type === 'media') populate[name] = { fields: ['name'] }
    else if (attribute.type === 'component') populate[name] = below(schemas, attribute.component, depth)
    else if (attribute.type === 'dynamiczone')
      populate[name] = { on: Object.fromEntries(attribute.components.map((uid) => [uid, below(schemas, uid, depth)])) }
  }
  return populate
}
const isPlugin = (uid) => uid.startsWith('plugin::')
const below = (schemas, uid, depth) => {
  const populate = everything(schemas, schemas.get(uid), depth + 1)
  return Object.keys(populate).length === 0 ? true : { populate }
}

function queryText(value, prefix) {
  if (value === true) return [`${prefix}=true`]
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' || inner === true ? queryText(inner, `${prefix}[${key}]`) : [`${prefix}[${key}]=${inner}`],
  )
}

/** The schemas with what one conversation looks at: some of the relations, with both their sides, and some of the components. */
function viewOf(schemas, { chance }) {
  const dropped = new Set()
  for (const { uid, attributes } of schemas.values()) {
    for (const [name, { type, required, target, inversedBy, mappedBy }] of Object.entries(attributes)) {
      if (mappedBy || required || !['relation', 'component', 'dynamiczone', 'media'].includes(type)) continue
      if (chance(type === 'relation' ? 0.3 : 0.5)) continue
      dropped.add(`${uid} ${name}`)
      if (inversedBy) dropped.add(`${target} ${inversedBy}`)
    }
  }
  const kept = ({ uid, attributes }) => Object.fromEntries(Object.entries(attributes).filter(([name]) => !dropped.has(`${uid} ${name}`)))
  return new Map([...schemas].map(([uid, schema]) => [uid, { ...schema, attributes: kept(schema) }]))
}

/** @returns a function that holds the conversation of a seed with both servers and returns the first difference */
export function conversations({ schemas: all, token, servers, strict, only }) {
  let schemas = all
  let types = [...schemas.values()].filter(({ kind, attributes }) => (kind === 'collectionType' || kind === 'singleType') && attributes)
  const isDraft = ({ options }) => options?.draftAndPublish === true
  const isLocal = ({ pluginOptions }) => pluginOptions?.i18n?.localized === true
  let wholeQuery = new Map()
  const pathOf = (schema) => (schema.kind === 'singleType' ? schema.info.singularName : schema.info.pluralName)

  async function send(server, { method, path, body }) {
    const answer = await fetch(`${server.origin}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }

  return async function converse(seed) {
    const choice = random(`conversation ${seed}`)
    schemas = viewOf(all, choice)
    types = [...schemas.values()].filter(({ kind, attributes }) => (kind === 'collectionType' || kind === 'singleType') && attributes)
    wholeQuery = new Map(types.map((schema) => [schema.uid, queryText(everything(schemas, schema), 'populate').join('&')]))
    const { pick, chance, below: under } = choice
    const wild = strict ? 0 : pick([0, 0.05, 0.3])
    const conversation = 1000 + seed
    const world = { docs: [], entries: [], gone: new Set() }
    const bodies = requestsOf({ schemas, choice, world, wild, conversation, strict })
    const sides = servers.map((server) => ({ server, docs: [], seen: new Map(), names: [] }))
    const steps = []
    const points = []
    let requests = 0
    const cast = (only ? types.filter(({ info }) => only.includes(info.singularName)) : types)
      .map((type) => ({ type, at: choice.next() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, 1 + under(4))
      .map(({ type }) => type)

    const resolve = (value, side) => {
      if (Array.isArray(value)) return value.map((one) => resolve(one, side))
      if (typeof value !== 'object' || value === null) return value
      if ('$doc' in value) return side.docs[value.$doc]
      if ('$row' in value)
        return (
          side.seen.get(`${value.$row[0]}|${value.$row[1]}|en`)?.id ?? side.seen.get(`${value.$row[0]}|${value.$row[1]}|`)?.id ?? 999_999
        )
      if ('$entry' in value) return at(side, value.$entry)
      if ('$any' in value) return at(side, value.$any)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner, side)]))
    }
    const at = (side, [version, ...path]) => path.reduce((here, key) => here?.[key], side.seen.get(version))?.id ?? 888_888

    async function exchange({ method, schema, doc, query, body }) {
      requests += 1
      return Promise.all(
        sides.map((side) => {
          const id = doc === null || schema.kind === 'singleType' ? '' : `/${side.docs[doc] ?? 'missing'}`
          return send(side.server, { method, path: `${pathOf(schema)}${id}${query ? `?${query}` : ''}`, body: resolve(body, side) })
        }),
      )
    }

    /** The documents that were without a published version at some time, by their symbols. */
    const hadDraftsOnly = (symbol) => {
      const doc = Number(symbol.slice(1))
      return (
        steps.some(
          (step) =>
            (step.creates === doc && /status=draft/.test(step.query)) ||
            (step.doc === doc && (step.method === 'DELETE' || /locale=/.test(step.query))),
        ) || isLocal(world.docs[doc]?.schema ?? {})
      )
    }

    /** Null where both answer alike; refusals that differ as it is named are noted, and the conversation goes on. */
    /** A new document may be given several targets of a relation to one. */
    const connectsSeveral = (symbol) => {
      const made = steps.find((step) => step.creates === Number(symbol.slice(1)))
      return Object.values(made?.body?.data ?? {}).some((value) => Array.isArray(value?.connect) && value.connect.length > 1)
    }

    /** A draft may take a unique value; the published version of the former owner keeps it until the next publication. */
    const namedByDraft = (symbol) =>
      steps.some(
        (step) =>
          step.method === 'PUT' && /status=draft/.test(step.query) && JSON.stringify(step.body).includes(`{"$doc":${symbol.slice(1)}}`),
      )

    const wasDrafted = (symbol) =>
      steps.some(({ method, doc, query }) => method === 'PUT' && `#${doc}` === symbol && /status=draft/.test(query))

    /** Several locales of a document may share a unique value, until Strapi publishes it again. */
    const isSharedBy = (document) => (symbol) => {
      const named = steps.filter(
        ({ creates, doc, body }) =>
          `#${creates ?? doc}` === document && JSON.stringify(body ?? null).includes(`{"$doc":${symbol.slice(1)}}`),
      )
      const written = new Set(named.map(({ query }) => /locale=(\w+)/.exec(query)?.[1] ?? 'en'))
      return written.size > 1 && steps.some(({ method, doc }) => method === 'PUT' && `#${doc}` === symbol)
    }

    function differ(answers, request) {
      const [strapi, octavo] = answers.map((answer, index) => normal(answer, sides[index].names))
      const found = strapi.status === octavo.status ? firstDifference(strapi, octavo) : { path: 'status', strapi, octavo }
      if (found === null) return null
      const document = `#${request.creates ?? request.doc}`
      const refused = /^(Invalid format|Expected a string)/.test(steps.at(-1).says ?? '') ? 'Invalid format' : null
      const named = namedPoint({
        schemas: all,
        path: found.path,
        strapi,
        octavo,
        request,
        written: steps.at(-1)?.body,
        refused,
        document,
        hadDraftsOnly,
        connectsSeveral,
        namedByDraft,
        wasDrafted,
        isShared: isSharedBy(document),
      })
      if (named === null || strapi.status < 400 || octavo.status < 400) return { ...found, named }
      points.push(named)
      return null
    }

    /** Reads all versions of a document on both sides. */
    async function look(doc, only) {
      const { schema } = world.docs[doc]
      const isSingle = schema.kind === 'singleType'
      for (const locale of isLocal(schema) ? (only ?? locales) : ['']) {
        for (const status of isDraft(schema) ? ['draft', 'published'] : ['published']) {
          const query = `status=${status}${locale ? `&locale=${locale}` : ''}&${wholeQuery.get(schema.uid)}`
          const answers = await exchange({ method: 'GET', schema, doc, query })
          answers.forEach((answer, index) => {
            const key = `${doc}|${isDraft(schema) ? status : 'only'}|${locale}`
            if (answer.status === 200 && answer.body.data) sides[index].seen.set(key, answer.body.data)
            else sides[index].seen.delete(key)
            if (isSingle && answer.body?.data && !sides[index].docs[doc]) name(doc, index, answer.body.data.documentId)
          })
          const found = differ(answers, { method: 'GET', schema, doc, query })
          if (found !== null) return { what: `GET ${schema.info.singularName} #${doc} ${status} ${locale}`, ...found }
        }
      }
      return null
    }

    function name(doc, index, documentId) {
      sides[index].docs[doc] = documentId
      sides[index].names.push([documentId, `#${doc}`])
    }

    async function run(step) {
      steps.push(step)
      const answers = await exchange(step)
      step.status = answers.map(({ status }) => status)
      step.says = answers[0].body?.error?.message
      answers.forEach(({ body }, index) => {
        const [doc, id] = [step.creates ?? step.doc, body?.data?.documentId]
        if (step.method !== 'DELETE' && id && sides[index].docs[doc] !== id) name(doc, index, id)
      })
      const found = differ(answers, step)
      if (found !== null) return { ...found, what: found.what ?? `${step.method} ${step.schema.info.singularName}` }
      if (step.creates !== undefined && answers[0].status < 300) world.docs[step.creates] ??= { uid: step.schema.uid, schema: step.schema }
      if (step.method === 'DELETE') world.gone.add(step.doc)
      const doc = step.creates ?? step.doc
      return doc === null || world.docs[doc] === undefined ? null : look(doc, [/locale=(\w+)/.exec(step.query)?.[1] ?? 'en'])
    }

    const versionsOf = (doc) => [...sides[0].seen.keys()].filter((key) => key.startsWith(`${doc}|`))

    function queryOf(schema, isStrictDraft) {
      const parts = []
      if (isDraft(schema) ? chance(strict ? 0.3 : 0.45) && isStrictDraft : chance(0.05)) parts.push('status=draft')
      if (isLocal(schema) ? chance(0.4) : chance(wild / 4)) parts.push(`locale=${chance(wild / 5) ? pick(['xx', '*', '']) : pick(locales)}`)
      if (chance(0.2) && !JSON.stringify(schema.attributes).includes('morphMany')) parts.push('populate=*')
      else if (chance(0.15)) parts.push(wholeQuery.get(schema.uid))
      return parts.join('&')
    }

    function nextStep() {
      const schema = pick(cast)
      const known = world.docs.flatMap((doc, index) => (doc?.uid === schema.uid ? [index] : []))
      const isSingle = schema.kind === 'singleType'
      const index = isSingle ? (known[0] ?? world.docs.length) : world.docs.length
      const roll = choice.next()
      world.writing = null
      if (!isSingle && (known.length === 0 || roll < 0.15))
        return {
          method: 'POST',
          schema,
          doc: null,
          creates: index,
          query: queryOf(schema, !strict),
          body: bodies.body(schema, true, null, null, 5),
        }
      if (roll < 0.25 && (!isSingle || known.length > 0))
        return {
          method: 'DELETE',
          schema,
          doc: pick(known),
          query: isLocal(schema) ? pick(['', 'locale=fr', 'locale=*', 'locale=de']) : '',
        }
      const doc = isSingle ? index : pick(known)
      const query = queryOf(schema, true)
      const locale = /locale=(\w+)/.exec(query)?.[1] ?? (isLocal(schema) ? 'en' : '')
      world.writing = doc
      const key = `${doc}|${isDraft(schema) ? 'draft' : 'only'}|${locale}`
      const present = sides[0].seen.get(key)
      const body = bodies.body(schema, present === undefined, [key], present, 5)
      return { method: 'PUT', schema, doc, ...(isSingle && known.length === 0 ? { creates: doc } : {}), query, body }
    }

    const hold = async () => {
      for (const schema of cast.filter(({ kind }) => kind === 'singleType'))
        await exchange({ method: 'DELETE', schema, doc: null, query: isLocal(schema) ? 'locale=*' : '' })
      const first = cast.filter(({ kind }) => kind === 'collectionType')
      for (let index = 0; index < first.length + 3; index += 1) {
        const schema = first[index % first.length]
        if (schema === undefined) break
        const doc = world.docs.length
        const locale = isLocal(schema) && chance(0.2) && !strict ? `&locale=${pick(locales)}` : ''
        const draft = isDraft(schema) && !strict && chance(0.4) ? '&status=draft' : ''
        const found = await run({
          method: 'POST',
          schema,
          doc: null,
          creates: doc,
          query: (draft + locale).slice(1),
          body: { data: bodies.fields(schema, true, null, null, strict ? 1 : 3) },
        })
        if (found !== null) return { seed, steps, ...found }
        if (strict && isLocal(schema) && chance(0.4)) {
          for (const other of ['fr', 'de']) {
            const more = await run({
              method: 'PUT',
              schema,
              doc,
              query: `locale=${other}`,
              body: { data: bodies.fields(schema, true, null, null, 0) },
            })
            if (more !== null) return { seed, steps, ...more }
          }
        }
      }
      for (let count = 4 + under(10); count > 0; count -= 1) {
        world.entries = [...sides[0].seen].flatMap(([key, data]) =>
          Object.entries(data).flatMap(([field, value]) =>
            value && typeof value === 'object' && !Array.isArray(value) && 'id' in value && !('documentId' in value) ? [[key, field]] : [],
          ),
        )
        const found = await run(nextStep())
        if (found !== null) return { seed, steps, ...found }
      }
      for (const doc of world.docs.keys()) {
        if (world.docs[doc] === undefined) continue
        const found = await look(doc)
        if (found !== null) return { seed, steps, ...found, what: `at last: ${found.what}`, versions: versionsOf(doc) }
      }
      return { seed, steps, what: null }
    }
    const outcome = (told) => ({
      ...told,
      points: told.named ? [...points, told.named] : points,
      requests,
      refused: steps.filter(({ status }) => status?.[0] >= 400).length,
    })
    try {
      return outcome(await hold())
    } catch (error) {
      for (const server of servers) {
        const lives = await fetch(`${server.origin}/_health`).then(
          () => true,
          () => false,
        )
        if (lives) continue
        await server.again()
        // A draft is looked at as a whole when it is published.
        const last = steps.at(-1)
        const bodies = steps.filter((step) => (step.creates ?? step.doc) === (last.creates ?? last.doc)).map(({ body }) => body)
        const points = bodies.map((body) => namedEnd(all, last.schema, body))
        const named = server.name === 'strapi' ? (points.find((point) => point !== null) ?? null) : null
        return outcome({ seed, steps, what: `${server.name} ended`, path: '', named })
      }
      return outcome({ seed, steps, what: 'error', path: String(error.stack), named: null })
    }
  }
}
