// Differences from Strapi's content-type builder: requests that Strapi accepts and then cannot serve, or that lose content there.
import { expect } from 'vitest'
import type { ProjectSchemas } from '../../src/model/builder/project-schemas.js'
import { updateSchema } from '../../src/model/builder/update-schema.js'
import type { AttributeSource } from '../../src/model/schema/types.js'
import { rule } from '../support/rule.js'
import { projectFiles, schemasOf } from './recorded-project.js'

type Attributes = Readonly<Record<string, AttributeSource>>

const files = await projectFiles()
const project = schemasOf(files)

const listed = (attributes: Attributes, action: 'create' | 'update') =>
  Object.entries(attributes).map(([name, properties]) => ({ action, name, properties }))
const newType = (name: string, attributes: Attributes, more: object = {}) => ({
  action: 'create',
  uid: `api::${name}.${name}`,
  kind: 'collectionType',
  displayName: name,
  singularName: name,
  pluralName: `${name}s`,
  draftAndPublish: false,
  attributes: listed(attributes, 'create'),
  ...more,
})
const newComponent = (name: string, attributes: Attributes) => ({
  action: 'create',
  uid: `shared.${name}`,
  category: 'shared',
  displayName: name,
  attributes: listed(attributes, 'create'),
})
const lonely = (attributes: Attributes, more: object = {}) => ({
  action: 'update',
  uid: 'api::lonely.lonely',
  displayName: 'Lonely',
  draftAndPublish: false,
  attributes: listed(attributes, 'update'),
  ...more,
})

const update = (contentTypes: readonly object[], components: readonly object[] = [], current: ProjectSchemas = project) =>
  updateSchema(current, { data: { contentTypes, components } })
const create = (attributes: Attributes, more: object = {}) => update([newType('book', attributes, more)])

type Result = ReturnType<typeof updateSchema>
/** The attributes of a type after a change. */
const attributesOf = (result: Result, uid: string) => (result.kind === 'change' ? result.schemas.get(uid)?.content.attributes : result.body)
function reason({ kind, status, body }: Result): string {
  expect({ kind, status }).toEqual({ kind: 'refusal', status: 400 })
  return (body as { readonly error: string }).error
}
const relation = (kind: string, target: string, targetAttribute?: string): AttributeSource => ({
  type: 'relation',
  relation: kind,
  target,
  ...(targetAttribute === undefined ? {} : { targetAttribute }),
})

rule('content-type-builder.1', 'a TypeScript project gets TypeScript', () => {
  const result = update([newType('book', { title: { type: 'string' } })], [], { ...project, isTypeScript: true })
  if (result.kind === 'refusal') throw new Error(reason(result))
  expect([...result.files.keys()]).toEqual([
    'src/api/book/content-types/book/schema.json',
    'src/api/book/controllers/book.ts',
    'src/api/book/routes/book.ts',
    'src/api/book/services/book.ts',
  ])
  expect(result.files.get('src/api/book/routes/book.ts')).toBe(
    "/**\n * book router\n */\n\nimport { factories } from '@strapi/strapi';\n\nexport default factories.createCoreRouter('api::book.book');\n",
  )
})

rule('content-type-builder.1', 'the other side of a relation to users is written into src/extensions', () => {
  const result = update([newType('book', { owner: relation('manyToOne', 'plugin::users-permissions.user', 'books') })])
  if (result.kind === 'refusal') throw new Error(reason(result))
  const text = result.files.get('src/extensions/users-permissions/content-types/user/schema.json')!
  const { info, attributes } = JSON.parse(text) as { readonly info: object; readonly attributes: Attributes }
  expect(info).toEqual({ name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' })
  expect(attributes.username).toEqual({ type: 'string', minLength: 3, unique: true, configurable: false, required: true })
  expect(attributes.books).toEqual({ type: 'relation', relation: 'oneToMany', target: 'api::book.book', mappedBy: 'owner' })
})

rule('content-type-builder.1', 'the file of files marks attributes where Strapi does', () => {
  const result = create({ file: relation('manyToOne', 'plugin::upload.file', 'books') })
  const text = result.kind === 'change' && result.files.get('src/extensions/upload/content-types/file/schema.json')
  const { info, attributes } = JSON.parse(text as string)
  expect(info).toEqual({ singularName: 'file', pluralName: 'files', displayName: 'File', description: '' })
  expect(JSON.stringify(attributes.name)).toBe('{"type":"string","configurable":false,"required":true}')
  expect(JSON.stringify(attributes.related)).toBe('{"type":"relation","relation":"morphToMany","configurable":false}')
})

rule('content-type-builder.1', 'the file of a folder marks no attributes', () => {
  const result = create({ folders: relation('oneToMany', 'plugin::upload.folder', 'book') })
  const text = result.kind === 'change' && result.files.get('src/extensions/upload/content-types/folder/schema.json')
  const { options, pluginOptions, attributes } = JSON.parse(text as string)
  expect({ options, pluginOptions }).toEqual({
    options: {},
    pluginOptions: { 'content-manager': { visible: false }, 'content-type-builder': { visible: false } },
  })
  expect(attributes.name).toEqual({ type: 'string', minLength: 1, required: true })
})

rule('content-type-builder.1', 'the table of a component has the plural of its displayName', () => {
  for (const [displayName, name, table] of [
    ['Big Box', 'big-box', 'components_shared_big_boxes'],
    ['Ä Ö', 'ae-oe', 'components_shared_ae_oe'],
  ]) {
    const result = update([], [{ ...newComponent(name!, {}), displayName }])
    const [text] = result.kind === 'change' ? result.files.values() : []
    expect(JSON.parse(text!)).toMatchObject({ collectionName: table })
  }
})

rule('content-type-builder.1', 'names that only look like those of the system are accepted', () => {
  expect(create({ createdat: { type: 'string' } }).status).toBe(200)
})

rule('content-type-builder.1', 'update-schema stores no target of a polymorphic relation', () => {
  const about = relation('morphToMany', 'api::writer.writer')
  expect(attributesOf(update([newType('book', { about })]), 'api::book.book')).toEqual({
    about: { type: 'relation', relation: 'morphToMany' },
  })
})

rule('content-type-builder.2', 'every body gets a response', () => {
  for (const body of [null, [], 'x', 5, {}, { data: null }, { data: [] }, { data: { contentTypes: [null] } }, { data: { components: 5 } }])
    expect(updateSchema(project, body)).toMatchObject({ kind: 'refusal', status: 400 })
})

rule('content-type-builder.3', 'both sides of a relation of a type to itself are written', () => {
  const result = create({ next: relation('oneToOne', '__self__', 'previous') })
  expect(attributesOf(result, 'api::book.book')).toEqual({
    next: { type: 'relation', relation: 'oneToOne', target: 'api::book.book', inversedBy: 'previous' },
    previous: { type: 'relation', relation: 'oneToOne', target: 'api::book.book', mappedBy: 'next' },
  })
})

rule('content-type-builder.3', 'a type may have a relation to itself with one side', () => {
  for (const kind of ['oneToOne', 'manyToMany']) {
    const alone = { ...relation(kind, '__self__'), targetAttribute: null }
    const expected = { next: { type: 'relation', relation: kind, target: 'api::book.book' } }
    expect(attributesOf(create({ next: alone }), 'api::book.book')).toEqual(expected)
  }
})

rule('content-type-builder.4', 'new types name each other with one side', () => {
  const house = newType('house', { street: relation('manyToOne', 'api::street.street', 'houses') })
  const result = update([house, newType('street', { name: { type: 'string' } })])
  expect(attributesOf(result, 'api::street.street')).toEqual({
    name: { type: 'string' },
    houses: { type: 'relation', relation: 'oneToMany', target: 'api::house.house', mappedBy: 'street' },
  })
})

rule('content-type-builder.4', 'if two new types declare both sides, the later one decides', () => {
  const both = (kind: string) =>
    update([
      newType('house', { street: relation(kind, 'api::street.street', 'houses') }),
      newType('street', { houses: relation('manyToMany', 'api::house.house', 'street') }),
    ])
  for (const kind of ['manyToMany', 'manyToOne']) {
    expect(attributesOf(both(kind), 'api::house.house')).toEqual({
      street: { type: 'relation', relation: 'manyToMany', target: 'api::street.street', mappedBy: 'houses' },
    })
    expect(attributesOf(both(kind), 'api::street.street')).toEqual({
      houses: { type: 'relation', relation: 'manyToMany', target: 'api::house.house', inversedBy: 'street' },
    })
  }
})

rule('content-type-builder.5', 'a removed side takes the other one along', () => {
  const { title, prequel } = project.schemas.get('api::story.story')!.content.attributes
  const story = { action: 'update', uid: 'api::story.story', displayName: 'Story', draftAndPublish: true }
  const kept = listed({ title: title!, prequel: { ...prequel!, targetAttribute: 'sequel' } }, 'update')
  expect(Object.keys(attributesOf(update([{ ...story, attributes: kept }]), 'api::story.story') as object)).toEqual(['title'])
})

rule('content-type-builder.6', 'the other side never replaces an attribute', () => {
  const result = update([newType('book', { writers: relation('manyToMany', 'api::writer.writer', 'name') })])
  expect(reason(result)).toBe('The type api::writer.writer already has an attribute name: choose another targetAttribute for writers')
})

rule('content-type-builder.7', 'the other side has a valid name', () => {
  for (const name of ['locale', 'two words', 'createdAt'])
    expect(reason(update([newType('book', { notes: relation('manyToMany', 'api::note.note', name) })]))).toContain(JSON.stringify(name))
})

rule('content-type-builder.8', 'some relations have one side only', () => {
  const inComponent = newComponent('tag', { note: relation('oneToOne', 'api::note.note', 'tag') })
  expect(reason(update([], [inComponent]))).toContain('cannot have another side')
  expect(reason(update([newType('book', { role: relation('manyToMany', 'admin::role', 'books') })]))).toContain('part of the system')
})

rule('content-type-builder.9', 'morphBy is stored and required', () => {
  const remarks = { ...relation('morphMany', 'api::remark.remark'), morphBy: 'about' }
  expect(attributesOf(update([newType('book', { remarks })]), 'api::book.book')).toEqual({ remarks })
  expect(reason(create({ remarks: relation('morphMany', 'api::remark.remark') }))).toContain('needs morphBy')
})

rule('content-type-builder.10', 'columns keep their names', () => {
  const { content, ...schema } = project.schemas.get('api::lonely.lonely')!
  const attributes = { name: { type: 'string', columnName: 'label' } }
  const current = { ...project, schemas: new Map([...project.schemas, [schema.uid, { ...schema, content: { ...content, attributes } }]]) }
  const result = update([lonely({ name: { type: 'string', maxLength: 9 } })], [], current)
  expect(attributesOf(result, 'api::lonely.lonely')).toEqual({ name: { type: 'string', maxLength: 9, columnName: 'label' } })
  const retyped = update([lonely({ name: { type: 'integer' } })], [], current)
  expect(attributesOf(retyped, 'api::lonely.lonely')).toEqual({ name: { type: 'integer' } })
})

rule('content-type-builder.11', 'components exist', () => {
  expect(reason(update([newType('book', { tag: { type: 'component', component: 'shared.no' } })]))).toContain('no component shared.no')
  expect(reason(create({ zone: { type: 'dynamiczone', components: ['shared.no'] } }))).toContain('no component shared.no')
})

rule('content-type-builder.12', 'no component contains itself', () => {
  const part = (component: string): Attributes => ({ part: { type: 'component', component } })
  expect(reason(update([], [newComponent('one', part('shared.two')), newComponent('two', part('shared.one'))]))).toContain(
    'contains itself',
  )
})

rule('content-type-builder.13', 'names and tables are free', () => {
  expect(reason(update([newType('book', {}, { pluralName: 'notes' })]))).toBe('The pluralName "notes" is already used by api::note.note')
  expect(reason(create({}, { collectionName: 'lonelies' }))).toBe('The collectionName "lonelies" is the one of api::lonely.lonely')
  expect(reason(create({}, { collectionName: 'strapi_migrations' }))).toContain('reserved for tables of the system')
})

rule('content-type-builder.14', 'values of an enumeration stay different', () => {
  const said = (values: readonly string[], current = project) =>
    update([newType('book', { size: { type: 'enumeration', enum: values } })], [], current)
  const ofStrapi = [['a b', 'a-b'], ['?'], ['-1'], ['é', 'e'], ['日本']]
  for (const values of ofStrapi) {
    expect(reason(said(values))).toContain(`api::book.book.size: has ${JSON.stringify(values[0])}`)
    expect(reason(said(values))).toContain('Strapi does not start with')
  }
  const own = { ...project, isStrapis: false }
  for (const values of ofStrapi) expect(said(values, own).status, values.join()).toBe(200)
  for (const current of [project, own]) expect(reason(said([''], current))).toContain('attributes.size.enum has "", an empty value')
})

rule('content-type-builder.15', 'custom fields are registered', () => {
  const book = newType('book', { color: { type: 'customField', customField: 'plugin::color.color' } })
  expect(reason(update([book]))).toContain('is not registered')
  const current = { ...project, customFields: new Set(['plugin::color.color']) }
  expect(update([book], [], current).status).toBe(200)
})

rule('content-type-builder.16', 'types of the system stay', () => {
  for (const uid of ['admin::user', 'plugin::users-permissions.user'])
    expect(reason(update([{ action: 'delete', uid }]))).toContain('part of the system')
})

rule('content-type-builder.16', 'attributes that Strapi brings along stay', () => {
  for (const name of ['file', 'folder']) {
    const uid = `plugin::upload.${name}`
    const before = project.schemas.get(uid)!.content.attributes
    const type = { action: 'update', uid, displayName: name, draftAndPublish: false }
    const result = update([{ ...type, attributes: listed({ name: { type: 'integer' }, note: { type: 'text' } }, 'update') }])
    expect(attributesOf(result, uid)).toEqual({ ...before, note: { type: 'text' } })
    expect(result.kind === 'change' && [...result.files.keys()]).toEqual([`src/extensions/upload/content-types/${name}/schema.json`])
  }
})

rule('content-type-builder.18', 'a component that moves to another category is renamed everywhere', () => {
  const { attributes, info } = project.schemas.get('shared.og')!.content
  const moved = { action: 'update', uid: 'shared.og', category: 'Common', displayName: info.displayName }
  const result = update([], [{ ...moved, attributes: listed(attributes, 'update') }])
  if (result.kind === 'refusal') throw new Error(reason(result))
  expect(result.schemas.has('shared.og')).toBe(false)
  expect(attributesOf(result, 'shared.seo')).toMatchObject({ og: { component: 'common.og' } })
  expect(JSON.parse(result.files.get('src/components/common/og.json')!)).toMatchObject({ collectionName: 'components_shared_ogs' })
})

rule('content-type-builder.19', 'a deleted type leaves no traces', () => {
  const current = schemasOf(new Map([...files, ['src/api/lonely/content-types/lonely/lifecycles.js', '']]))
  const result = update([{ action: 'delete', uid: 'api::lonely.lonely' }], [], current)
  expect(result.kind === 'change' && result.deleted).toContain('src/api/lonely/content-types/lonely/lifecycles.js')
})

rule('content-type-builder.20', 'code is not overwritten', () => {
  const result = update([lonely({ name: { type: 'string' } }, { kind: 'singleType' })])
  expect(result.kind === 'change' && [...result.files.keys()]).toEqual(['src/api/lonely/content-types/lonely/schema.json'])
})

rule('content-type-builder.22', 'a change starts from the last one', () => {
  const first = update([newType('book', { title: { type: 'string' } })])
  if (first.kind === 'refusal') throw new Error(reason(first))
  const second = update([newType('page', { book: relation('manyToOne', 'api::book.book', 'pages') })], [], {
    ...project,
    schemas: first.schemas,
  })
  expect(Object.keys(attributesOf(second, 'api::book.book') as object)).toEqual(['title', 'pages'])
})

rule('content-type-builder.23', 'an invalid model is refused', () => {
  const remarks = { ...relation('morphMany', 'api::remark.remark'), morphBy: 'nothing' }
  expect(reason(update([newType('book', { remarks })]))).toContain('api::remark.remark has no attribute "nothing"')
})

rule('content-type-builder.24', 'one side of a relation owns it', () => {
  const { content } = project.schemas.get('api::note.note')!
  const keeper = relation('oneToOne', 'api::writer.writer', 'kept')
  const note = { displayName: 'Note', draftAndPublish: true }
  const attributes = listed({ ...content.attributes, keeper }, 'update')
  const result = update([{ action: 'update', uid: 'api::note.note', ...note, attributes }])
  expect(attributesOf(result, 'api::note.note')).toMatchObject({ keeper: { inversedBy: 'kept' } })
  expect(attributesOf(result, 'api::writer.writer')).toMatchObject({ kept: { mappedBy: 'keeper' } })
})

rule('content-type-builder.25', 'without pluginOptions, localization stays', () => {
  const { info, options, attributes, pluginOptions } = project.schemas.get('api::label.label')!.content
  const { stories, ...others } = attributes
  const all = listed({ ...others, stories: { ...stories!, targetAttribute: 'labels' } }, 'update')
  const label = { action: 'update', uid: 'api::label.label', displayName: info.displayName, ...options, attributes: all }
  const result = update([label])
  expect(result.kind === 'change' && result.schemas.get('api::label.label')!.content.pluginOptions).toEqual(pluginOptions)
})

rule('content-type-builder.26', 'a component has a name', () => {
  expect(reason(update([], [{ ...newComponent('', {}), displayName: '???' }]))).toBe('component.invalidUID')
})

rule('content-type-builder.29', 'an empty name names nothing', () => {
  for (const kind of ['oneToOne', 'oneToMany'])
    expect(attributesOf(create({ writer: relation(kind, 'api::writer.writer', '') }), 'api::book.book')).toEqual({
      writer: relation(kind, 'api::writer.writer'),
    })
})

rule('content-type-builder.30', 'a type of a plugin is one type', () => {
  const result = create({ title: { type: 'string' } }, { uid: 'plugin::users-permissions.book', plugin: 'users-permissions' })
  expect(result.kind === 'change' && [...result.files.keys()]).toEqual(['src/extensions/users-permissions/content-types/book/schema.json'])
})

rule('content-type-builder.28', 'attributes have any valid name', () => {
  const attributes: Attributes = { constructor: { type: 'string' } }
  expect(attributesOf(create(attributes), 'api::book.book')).toEqual(attributes)
})
