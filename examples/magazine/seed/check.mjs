// Checks the example project: the model is consistent, the seed fits the model, every reference and every file exists.
// Run: node examples/magazine/seed/check.mjs   (exit code 1 and a list of problems when something is wrong)
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const problems = []
const problem = (where, what) => problems.push(`${where}: ${what}`)
const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const folders = (path) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((e) => e.isDirectory())
    .map((e) => e.name)

const ATTRIBUTE_TYPES = [
  'string',
  'text',
  'richtext',
  'blocks',
  'email',
  'password',
  'uid',
  'enumeration',
  'integer',
  'biginteger',
  'float',
  'decimal',
  'boolean',
  'json',
  'date',
  'time',
  'datetime',
  'timestamp',
  'media',
  'relation',
  'component',
  'dynamiczone',
]
const TEXTUAL = ['string', 'text', 'richtext', 'email', 'password', 'uid']
const NUMERIC = ['integer', 'biginteger', 'float', 'decimal']
const RESERVED = ['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'locale', 'localizations', 'meta']

// ---- the model

const types = new Map() // uid -> schema
const components = new Map() // category.name -> schema
for (const api of folders('src/api')) {
  for (const name of folders(`src/api/${api}/content-types`)) {
    const schema = json(`src/api/${api}/content-types/${name}/schema.json`)
    if (schema.info.singularName !== name) problem(`api::${api}.${name}`, 'folder and singularName differ')
    types.set(`api::${api}.${name}`, schema)
  }
}
for (const category of folders('src/components')) {
  for (const file of readdirSync(join(root, 'src/components', category))) {
    components.set(`${category}.${basename(file, '.json')}`, json(`src/components/${category}/${file}`))
  }
}
const hasDrafts = (schema) => schema.options?.draftAndPublish === true
const isLocalized = (schema) => schema.pluginOptions?.i18n?.localized === true
const isToMany = (a) => (a.type === 'relation' ? /ToMany$|^morphMany$/.test(a.relation) : a.multiple === true)

function checkModel() {
  const tables = new Map()
  for (const [uid, schema] of [...types, ...components]) {
    if (tables.has(schema.collectionName))
      problem(uid, `collectionName ${schema.collectionName} is taken by ${tables.get(schema.collectionName)}`)
    tables.set(schema.collectionName, uid)
    for (const [name, a] of Object.entries(schema.attributes)) {
      const at = `${uid} ${name}`
      if (!/^[A-Za-z][_0-9A-Za-z]*$/.test(name) || RESERVED.includes(name)) problem(at, 'not a valid attribute name')
      if (!ATTRIBUTE_TYPES.includes(a.type)) problem(at, `unknown type ${a.type}`)
      if (a.type === 'uid' && a.targetField && !schema.attributes[a.targetField]) problem(at, `targetField ${a.targetField} does not exist`)
      if (a.type === 'enumeration' && (!a.enum?.length || (a.default !== undefined && !a.enum.includes(a.default))))
        problem(at, 'bad enumeration')
      if (a.type === 'component' && !components.has(a.component)) problem(at, `unknown component ${a.component}`)
      if (a.type === 'dynamiczone') for (const c of a.components) if (!components.has(c)) problem(at, `unknown component ${c}`)
      if (a.type === 'media' && (typeof a.multiple !== 'boolean' || !a.allowedTypes?.length))
        problem(at, 'media without multiple or allowedTypes')
      if (a.regex) new RegExp(a.regex)
      if (a.type === 'relation') checkRelation(uid, name, a, at)
      const localizable = types.has(uid) && isLocalized(schema) && a.type !== 'relation'
      if (localizable && typeof a.pluginOptions?.i18n?.localized !== 'boolean') problem(at, 'does not say whether it is localized')
      if (!localizable && a.pluginOptions?.i18n) problem(at, 'has an i18n option where none belongs')
    }
  }
}

function checkRelation(uid, name, a, at) {
  if (a.relation === 'morphToMany') return
  if (a.target === 'plugin::users-permissions.user') {
    if (a.inversedBy || a.mappedBy) problem(at, 'a relation to users must be one-way')
    return
  }
  const target = types.get(a.target)
  if (!target) return problem(at, `unknown target ${a.target}`)
  if (a.relation === 'morphMany') {
    if (target.attributes[a.morphBy]?.relation !== 'morphToMany') problem(at, `morphBy ${a.morphBy} is not a morphToMany of ${a.target}`)
    return
  }
  const other = a.inversedBy ?? a.mappedBy
  if (!other) return
  const back = target.attributes[other]
  const mirror = { oneToOne: 'oneToOne', oneToMany: 'manyToOne', manyToOne: 'oneToMany', manyToMany: 'manyToMany' }
  if (back?.type !== 'relation' || back.target !== uid) problem(at, `${a.target} has no relation ${other} back`)
  else if (back.relation !== mirror[a.relation]) problem(at, `${a.relation} meets ${back.relation}`)
  else if ((a.inversedBy ? back.mappedBy : back.inversedBy) !== name) problem(at, `${a.target} ${other} does not name it`)
}

// ---- the seed

const files = new Map(json('seed/files.json').map((f) => [f.key, f]))
const access = json('seed/access.json')
const localeCodes = access.locales.map((l) => l.code)
const seeds = new Map() // singularName -> { uid, schema, documents: Map }
for (const file of readdirSync(join(root, 'seed/content')).sort()) {
  const { uid, documents } = json(`seed/content/${file}`)
  const schema = types.get(uid)
  if (!schema || `${schema.info.singularName}.json` !== file) {
    problem(file, `does not belong to ${uid}`)
    continue
  }
  const byKey = new Map(documents.map((d) => [d.key, d]))
  if (byKey.size !== documents.length) problem(file, 'two documents with one key')
  seeds.set(schema.info.singularName, { uid, schema, documents: byKey })
}

const used = new Map(ATTRIBUTE_TYPES.map((t) => [t, 0]))
const kinds = new Map() // relations, media and components by kind
const usedFiles = new Set()
const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1)

const allowed = (file, kindsOf) => {
  const kind = file.mime.split('/')[0]
  return kindsOf.includes({ image: 'images', video: 'videos', audio: 'audios' }[kind] ?? 'files')
}

function checkReference(value, a, at, context) {
  const match = /^@([a-z-]+):(.+)$/.exec(typeof value === 'string' ? value : '')
  if (!match) return problem(at, `not a reference: ${JSON.stringify(value)}`)
  const [, singular, key] = match
  if (a.target === 'plugin::users-permissions.user') {
    if (singular !== 'user' || !access.users.some((u) => u.username === key)) problem(at, `unknown user ${value}`)
    return
  }
  const seed = seeds.get(singular)
  const doc = seed?.documents.get(key)
  if (!doc) return problem(at, `${value} does not exist`)
  if (a.target && seed.uid !== a.target) return problem(at, `${value} is not a ${a.target}`)
  if (
    a.relation === 'morphToMany' &&
    !Object.values(seed.schema.attributes).some(
      (x) => x.relation === 'morphMany' && x.target === context.uid && x.morphBy === context.attribute,
    )
  ) {
    problem(at, `${seed.uid} has no morphMany for it`)
  }
  const locale = !isLocalized(seed.schema) ? '-' : context.locale === '-' ? localeCodes[0] : context.locale
  const version = doc.locales[locale]
  if (!version) return problem(at, `${value} has no version in "${locale}"`)
  if (context.drafts && context.state === 'published' && !version.published)
    problem(at, `${value} is not published in "${locale}", but what refers to it is`)
}

function checkBlocks(value, at) {
  if (!Array.isArray(value) || !value.length) return problem(at, 'blocks must be a list')
  const inline = (nodes) =>
    nodes?.length > 0 &&
    nodes.every((n) => (n.type === 'text' ? typeof n.text === 'string' : n.type === 'link' && n.url && inline(n.children)))
  for (const node of value) {
    const ok = {
      paragraph: () => inline(node.children),
      quote: () => inline(node.children),
      code: () => inline(node.children),
      heading: () => node.level >= 1 && node.level <= 6 && inline(node.children),
      list: () =>
        ['ordered', 'unordered'].includes(node.format) &&
        node.children.length > 0 &&
        node.children.every((c) => c.type === 'list-item' && inline(c.children)),
    }[node.type]?.()
    if (!ok) problem(at, `bad block ${JSON.stringify(node).slice(0, 80)}`)
  }
}

function checkText(a, value, wrong) {
  if (typeof value !== 'string') return wrong('not a string')
  const longest = a.maxLength ?? (['text', 'richtext'].includes(a.type) ? Infinity : 255)
  if (value.length > longest) wrong(`longer than ${longest} (${value.length})`)
  if (value.length < (a.minLength ?? 0)) wrong(`shorter than ${a.minLength}`)
  if (a.regex && !new RegExp(a.regex).test(value)) wrong(`does not match ${a.regex}`)
  if (a.type === 'email' && !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)) wrong('not an e-mail address')
  if (a.type === 'uid' && !/^[A-Za-z0-9-_.~]+$/.test(value)) wrong('not a uid')
}

function checkNumber(a, value, wrong) {
  const right = a.type === 'biginteger' ? typeof value === 'string' && /^-?\d+$/.test(value) : typeof value === 'number'
  if (!right) return wrong(`not a ${a.type}`)
  if (a.type === 'integer' && !Number.isInteger(value)) wrong('not whole')
  if (a.min !== undefined && Number(value) < Number(a.min)) wrong(`below ${a.min}`)
  if (a.max !== undefined && Number(value) > Number(a.max)) wrong(`above ${a.max}`)
}

// The entries of a value that is a list when `many`, and one thing when not.
function entries(value, many, wrong, min = 0, max = Infinity) {
  if (Array.isArray(value) !== many) {
    wrong(many ? 'not a list' : 'a list where one thing is expected')
    return []
  }
  if (many && (value.length < min || value.length > max)) wrong(`${value.length} entries, ${min} to ${max} are allowed`)
  return many ? value : [value]
}

function checkMedia(a, value, at, wrong) {
  count(kinds, `media ${a.multiple ? 'multiple' : 'single'}`)
  for (const ref of entries(value, a.multiple, wrong, a.required ? 1 : 0)) {
    const file = String(ref).startsWith('@file:') && files.get(ref.slice('@file:'.length))
    if (!file) {
      problem(at, `unknown file ${ref}`)
      continue
    }
    usedFiles.add(file.key)
    if (!allowed(file, a.allowedTypes)) problem(at, `${ref} is none of ${a.allowedTypes}`)
  }
}

function relationKind(a, uid) {
  if (a.relation.startsWith('morph')) return `relation ${a.relation}`
  return `relation ${a.relation}, ${a.target === uid ? 'self' : a.inversedBy ? 'with inverse' : 'one-way'}`
}

function checkLinks(a, value, at, wrong, context) {
  count(kinds, relationKind(a, context.uid))
  if (a.mappedBy || a.morphBy) return wrong('is set on the inverse side')
  const refs = entries(value, isToMany(a), wrong)
  if (new Set(refs).size !== refs.length) wrong('the same target twice')
  for (const ref of refs) checkReference(ref, a, at, context)
}

function checkComponents(a, value, at, wrong, context) {
  const zone = a.type === 'dynamiczone'
  const many = zone || a.repeatable === true
  for (const [i, v] of entries(value, many, wrong, a.min, a.max).entries()) {
    const uid = zone ? v.__component : a.component
    const place = many ? `${at}[${i}]` : at
    if (zone && !a.components.includes(uid)) {
      problem(place, `component ${uid} is not allowed`)
      continue
    }
    count(kinds, zone ? `zone ${uid}` : `component ${many ? 'repeatable' : 'single'}${context.depth ? ', nested' : ''}`)
    checkObject(uid, components.get(uid), v, place, { ...context, depth: context.depth + 1, inZone: zone })
  }
}

const isDay = (v) => typeof v === 'string' && /^\d{4}-\d\d-\d\d$/.test(v) && !Number.isNaN(Date.parse(v))
const isTime = (v) => typeof v === 'string' && /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}$/.test(v)
const isIso = (v) => typeof v === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(v) && !Number.isNaN(Date.parse(v))

function checkValue(a, value, at, context) {
  count(used, a.type)
  const wrong = (what) => problem(at, `${what}: ${JSON.stringify(value)?.slice(0, 80)}`)
  if (TEXTUAL.includes(a.type)) return checkText(a, value, wrong)
  if (NUMERIC.includes(a.type)) return checkNumber(a, value, wrong)
  if (a.type === 'enumeration' && !a.enum.includes(value)) wrong(`not one of ${a.enum}`)
  if (a.type === 'boolean' && typeof value !== 'boolean') wrong('not a boolean')
  if (a.type === 'date' && !isDay(value)) wrong('not a date')
  if (a.type === 'time' && !isTime(value)) wrong('not a time')
  if (['datetime', 'timestamp'].includes(a.type) && !isIso(value)) wrong('not an ISO datetime')
  if (a.type === 'blocks') checkBlocks(value, at)
  if (a.type === 'media') checkMedia(a, value, at, wrong)
  if (a.type === 'relation') checkLinks(a, value, at, wrong, context)
  if (['component', 'dynamiczone'].includes(a.type)) checkComponents(a, value, at, wrong, context)
}

function checkObject(uid, schema, data, at, context) {
  for (const key of Object.keys(data)) {
    if (!schema.attributes[key] && !(key === '__component' && context.inZone)) problem(at, `${uid} has no attribute ${key}`)
  }
  for (const [name, a] of Object.entries(schema.attributes)) {
    const value = data[name]
    if (value === undefined || value === null) {
      if (a.required && context.state === 'published') problem(`${at}.${name}`, 'is required')
    } else checkValue(a, value, `${at}.${name}`, { ...context, uid, attribute: name })
  }
}

// What readers of one state see: drafts are the draft, or the published version when the draft does not differ.
const side = (version, state) => (state === 'published' ? version?.published : (version?.draft ?? version?.published))

const rows = []
function checkDocuments() {
  for (const [singular, { uid, schema, documents }] of seeds) {
    const expected = isLocalized(schema) ? localeCodes : ['-']
    if (schema.kind === 'singleType' && documents.size !== 1) problem(singular, 'a single type has exactly one document')
    const tally = Object.fromEntries(expected.map((l) => [l, { published: 0, draft: 0, modified: 0 }]))
    for (const [key, doc] of documents) {
      const at = `${singular}:${key}`
      for (const t of ['createdAt', 'updatedAt', 'publishedAt'])
        if (doc[t] !== undefined && !isIso(doc[t])) problem(at, `${t} is not an ISO datetime`)
      if (doc.updatedAt < doc.createdAt || doc.publishedAt < doc.createdAt) problem(at, 'older than its creation')
      if (!doc.locales[expected[0]]) problem(at, `no version in "${expected[0]}"`)
      const anyPublished = Object.values(doc.locales).some((v) => v.published)
      if (anyPublished !== (doc.publishedAt !== undefined)) problem(at, 'publishedAt does not fit its state')
      for (const [locale, version] of Object.entries(doc.locales)) {
        if (!expected.includes(locale)) {
          problem(at, `locale ${locale}`)
          continue
        }
        if (!version.published && !version.draft) problem(at, `empty version in ${locale}`)
        if (version.draft && !hasDrafts(schema)) problem(at, 'a draft in a type without draft & publish')
        if (version.published && version.draft && isDeepStrictEqual(version.published, version.draft))
          problem(at, 'draft and published are the same')
        for (const state of ['published', 'draft']) {
          if (version[state])
            checkObject(uid, schema, version[state], `${at}/${locale}/${state}`, {
              uid,
              locale,
              state,
              drafts: hasDrafts(schema),
              depth: 0,
            })
        }
        tally[locale][!version.published ? 'draft' : version.draft ? 'modified' : 'published'] += 1
      }
      checkShared(schema, doc, at)
    }
    checkUnique(singular, schema, documents, expected)
    for (const locale of expected) rows.push([singular, locale, tally[locale]])
  }
}

// Attributes that are not localized have one value for all locales. Relations and uids always belong to a locale.
function checkShared(schema, doc, at) {
  for (const state of ['published', 'draft']) {
    const versions = Object.values(doc.locales)
      .map((v) => side(v, state))
      .filter(Boolean)
    for (const [name, a] of Object.entries(schema.attributes)) {
      if (a.type === 'relation' || a.type === 'uid' || a.pluginOptions?.i18n?.localized !== false) continue
      if (versions.some((v) => !isDeepStrictEqual(v[name] ?? null, versions[0][name] ?? null)))
        problem(at, `${name} is not localized, but differs between locales (${state})`)
    }
  }
}

function checkUnique(singular, schema, documents, locales) {
  for (const [name, a] of Object.entries(schema.attributes)) {
    const exclusive = a.type === 'relation' && a.relation === 'oneToOne' && a.inversedBy
    if (!a.unique && a.type !== 'uid' && !exclusive) continue
    for (const locale of locales)
      for (const state of ['published', 'draft']) {
        const seen = new Map()
        for (const [key, doc] of documents) {
          const value = side(doc.locales[locale], state)?.[name]
          if (value === undefined || value === null) continue
          if (seen.has(value)) problem(`${singular}:${key}/${locale}`, `${name} "${value}" is taken by ${seen.get(value)}`)
          seen.set(value, key)
        }
      }
  }
}

// ---- files and access

const kilobytes = (bytes) => Math.round(bytes / 10) / 100

function imageSize(path) {
  const b = readFileSync(path)
  if (path.endsWith('.png')) return [b.readUInt32BE(16), b.readUInt32BE(20)]
  if (path.endsWith('.svg')) return [/\bwidth="(\d+)"/, /\bheight="(\d+)"/].map((r) => Number(r.exec(b.toString())?.[1]))
  if (!path.endsWith('.jpg')) return [null, null]
  let i = 2
  while (!(b[i + 1] >= 0xc0 && b[i + 1] <= 0xc3)) i += 2 + b.readUInt16BE(i + 2)
  return [b.readUInt16BE(i + 7), b.readUInt16BE(i + 5)]
}

let totalBytes = 0
function checkFiles() {
  const known = new Set()
  const one = (at, f, path) => {
    known.add(basename(path))
    if (!existsSync(path)) return problem(at, `${path} is missing`)
    const bytes = statSync(path).size
    totalBytes += bytes
    if (kilobytes(bytes) !== f.size || (f.sizeInBytes ?? bytes) !== bytes) problem(at, `says ${f.size} kB, has ${kilobytes(bytes)} kB`)
    const [width, height] = imageSize(path)
    if (width !== f.width || height !== f.height) problem(at, `says ${f.width} x ${f.height}, is ${width} x ${height}`)
    if (f.url !== `/uploads/${f.hash}${f.ext}` || extname(path) !== f.ext) problem(at, 'url, hash and ext do not fit')
  }
  for (const [key, f] of files) {
    if (!/^[A-Za-z0-9_]+_[0-9a-f]{10}$/.test(f.hash)) problem(`file ${key}`, `hash ${f.hash}`)
    if (f.file !== `seed/uploads/${f.hash}${f.ext}`) problem(`file ${key}`, `path ${f.file}`)
    one(`file ${key}`, f, join(root, f.file))
    const boxes = { thumbnail: [245, 156], small: [500, 500], medium: [750, 750], large: [1000, 1000] }
    for (const [name, [w, h]] of Object.entries(boxes)) {
      const format = f.formats?.[name]
      const wanted = ['.jpg', '.png'].includes(f.ext) && (f.width > w || f.height > h)
      if (wanted !== Boolean(format)) problem(`file ${key}`, `format ${name} is ${wanted ? 'missing' : 'superfluous'}`)
      if (!format) continue
      if (
        format.width > w ||
        format.height > h ||
        format.hash !== `${name}_${f.hash}` ||
        format.name !== `${name}_${f.name}` ||
        format.mime !== f.mime
      )
        problem(`file ${key}`, `format ${name} is inconsistent`)
      one(`file ${key} ${name}`, format, join(root, 'seed/uploads', `${format.hash}${format.ext}`))
    }
    if (!usedFiles.has(key)) problem(`file ${key}`, 'is used nowhere')
  }
  for (const name of readdirSync(join(root, 'seed/uploads'))) if (!known.has(name)) problem('seed/uploads', `${name} is not in files.json`)
  if (totalBytes > 1.4e6) problem('seed/uploads', `${totalBytes} bytes, more than 1.4 MB`)
}

function checkAccess() {
  if (access.locales.filter((l) => l.default).length !== 1) problem('access.json', 'exactly one locale is the default one')
  for (const [role, actions] of Object.entries(access.roles)) {
    if (new Set(actions).size !== actions.length) problem(`role ${role}`, 'an action twice')
    for (const action of actions.filter((x) => x.startsWith('api::'))) {
      const [uid, verb] = [action.slice(0, action.lastIndexOf('.')), action.slice(action.lastIndexOf('.') + 1)]
      const verbs = types.get(uid)?.kind === 'singleType' ? ['find', 'update', 'delete'] : ['find', 'findOne', 'create', 'update', 'delete']
      if (!types.has(uid) || !verbs.includes(verb)) problem(`role ${role}`, `unknown action ${action}`)
    }
  }
  for (const user of access.users)
    if (!access.roles[user.role] || !user.email || !(user.password?.length >= 6))
      problem(`user ${user.username}`, 'role, e-mail or password')
  const hidden = [...types.keys()].filter((uid) => !access.roles.public.includes(`${uid}.find`))
  if (hidden.length !== 1) problem('access.json', `one type is meant to be hidden from the public, not: ${hidden}`)
}

checkModel()
checkDocuments()
checkFiles()
checkAccess()
for (const [uid] of types) if (![...seeds.values()].some((s) => s.uid === uid)) problem(uid, 'has no content')
for (const [uid] of components)
  if (
    ![...types.values(), ...components.values()].some((s) =>
      Object.values(s.attributes).some((a) => a.component === uid || a.components?.includes(uid)),
    )
  )
    problem(uid, 'is used nowhere')
for (const [type, n] of used) if (!n) problem('model', `no content uses an attribute of type ${type}`)

const pad = (v, n) => String(v).padEnd(n)
console.log(`${pad('type', 12)}${pad('locale', 8)}${pad('published', 11)}${pad('draft', 7)}modified`)
for (const [type, locale, t] of rows) console.log(`${pad(type, 12)}${pad(locale, 8)}${pad(t.published, 11)}${pad(t.draft, 7)}${t.modified}`)
const documents = [...seeds.values()].reduce((n, s) => n + s.documents.size, 0)
console.log(
  `\n${types.size} types, ${components.size} components, ${documents} documents, ${files.size} files (${totalBytes} bytes with formats)`,
)
console.log(`values by attribute type: ${[...used].map(([t, n]) => `${t} ${n}`).join(', ')}`)
console.log(
  `kinds: ${[...kinds]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([t, n]) => `${t} ${n}`)
    .join('; ')}`,
)
if (problems.length) {
  console.error(`\n${problems.length} problems\n  ${problems.join('\n  ')}`)
  process.exitCode = 1
} else console.log('\nEverything fits.')
