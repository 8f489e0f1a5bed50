// Schemas without a valid meaning end the start, with the file, the position in it and the correction.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadModel } from '../../src/model/schema/load.js'
import { access, component, contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { goldenProject, serveExisting, serveGolden, serveProject } from '../support/serve.js'
import { octavo, project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const other = contentType('dish', {
  name: { type: 'string' },
  menu: { type: 'relation', relation: 'manyToOne', target: 'api::menu.menu', inversedBy: 'dishes' },
})
const file = 'src/api/menu/content-types/menu/schema.json'
const dishes = { type: 'relation', relation: 'oneToMany', target: 'api::dish.dish', mappedBy: 'menu' }

/** Output for a project with a type `menu` of these attributes. */
const withAttributes = (attributes: object) =>
  saidOf({ ...other, ...contentType('menu', { title: { type: 'string' }, dishes, ...attributes }) })

async function saidOf(
  files: Readonly<Record<string, unknown>>,
): Promise<{ readonly error: string | null; readonly warnings: readonly string[] }> {
  try {
    return { error: null, warnings: (await loadModel({ folder: project(files) })).warnings }
  } catch (error) {
    return { error: (error as Error).message, warnings: [] }
  }
}

describe('ends the start', () => {
  test.each([
    [
      { dishes: { ...dishes, relation: 'manyToon' } },
      'attributes.dishes.relation "manyToon" is not a kind of relation; did you mean "manyToOne"?',
    ],
    [{ dishes: { ...dishes, relation: undefined } }, 'attributes.dishes.relation nothing is not a kind of relation'],
    [
      { dishes: { ...dishes, target: 'api::dihs.dish' } },
      'attributes.dishes.target "api::dihs.dish" is not a content-type; did you mean "api::dish.dish"?',
    ],
    [
      { dishes: { ...dishes, mappedBy: 'menus' } },
      'attributes.dishes.mappedBy api::dish.dish has no attribute "menus"; did you mean "menu"?',
    ],
    [
      { dishes: { ...dishes, mappedBy: 'name' } },
      'attributes.dishes.mappedBy "name" of api::dish.dish is of the type string, not a relation',
    ],
    [
      { dishes, best: { ...dishes, relation: 'oneToOne', mappedBy: undefined, inversedBy: 'chef' } },
      'attributes.best.inversedBy api::dish.dish has no attribute "chef"',
    ],
    [{ slug: { type: 'uid', targetField: 'titel' } }, 'attributes.slug.targetField "titel" is not an attribute; did you mean "title"?'],
    [{ kind: { type: 'enumeration', enum: [] } }, 'attributes.kind.enum must name at least one value'],
    [{ kind: { type: 'enumeration' } }, 'attributes.kind.enum must name at least one value'],
    [{ kind: { type: 'enumeration', enum: ['a', 'b', 'a'] } }, 'attributes.kind.enum has "a" twice'],
    [
      { kind: { type: 'enumeration', enum: ['lunch', 'dinner'], default: 'diner' } },
      'attributes.kind.default "diner" is not one of the values; did you mean "dinner"?',
    ],
    [{ id: { type: 'string' } }, 'attributes.id is not allowed: every document already has "id"'],
    [{ documentId: { type: 'string' } }, 'attributes.documentId is not allowed'],
    [{ created_at: { type: 'datetime' } }, 'attributes.created_at is not allowed: every document already has "createdAt"'],
    [{ name: { type: 'strng' } }, 'attributes.name.type "strng" is not an attribute type; did you mean "string"?'],
    [{ cover: { type: 'image' } }, 'attributes.cover.type "image" is not an attribute type; write "media"'],
    [{ name: { type: 'string', required: 'yes' } }, 'attributes.name.required is "yes"; it must be true or false'],
    [{ name: { type: 'string', maxLength: '10' } }, 'attributes.name.maxLength is "10"; it must be a whole number'],
    [{ name: { type: 'string', minLength: 5, maxLength: 2 } }, 'attributes.name.minLength is 5, above maxLength (2), so no value is valid'],
    [{ name: { type: 'string', regex: '(' } }, 'attributes.name.regex is "("; it must be a regular expression'],
    [{ name: { type: 'string', default: 5 } }, 'attributes.name.default is 5; it must be a text'],
    [{ price: { type: 'decimal', min: 9, max: 1 } }, 'attributes.price.min is 9, above max (1), so no value is valid'],
    [{ price: { type: 'integer', default: 'many' } }, 'attributes.price.default is "many"; it must be a number'],
    [{ open: { type: 'boolean', default: 'true' } }, 'attributes.open.default is "true"; it must be true or false'],
    [{ picture: { type: 'media', multiple: 1 } }, 'attributes.picture.multiple is 1; it must be true or false'],
    [{ part: { type: 'component', component: 'menu.part' } }, 'attributes.part.component "menu.part" is not a component'],
    [{ a: { type: 'string', column: { name: 'id' } } }, 'attributes.a.column.name is "id", a column that every row has'],
    [{ a: { type: 'string' }, b: { type: 'string', column: { name: 'a' } } }, 'attributes.b has the same column as "a": a'],
    [{ fooBar: { type: 'string' }, foo_bar: { type: 'string' } }, 'attributes.foo_bar has the same column as "fooBar": foo_bar'],
  ])('%j', async (attributes, said) => {
    const { error } = await withAttributes(attributes)
    expect(error).toContain(`${file}: ${said}`)
  })

  test('options and names of a type', async () => {
    const schema = contentType('menu', { name: { type: 'string' } })[file] as Record<string, unknown>
    const said = async (over: object) => (await saidOf({ [file]: { ...schema, ...over } })).error
    expect(await said({ options: { draftAndPublsh: true } })).toContain(
      `${file}: options.draftAndPublsh is not an option; did you mean "draftAndPublish"?`,
    )
    expect(await said({ info: { singularName: 'Menu!', pluralName: 'menus', displayName: 'Menu' } })).toContain(
      'info.singularName is "Menu!"; it must be in kebab-case, like "menu"',
    )
    expect(await said({ pluginOptions: { i18n: { localized: 'yes' } } })).toContain(
      'pluginOptions.i18n.localized is "yes"; it must be true or false',
    )
    expect(await said({ options: { draftAndPublish: 'yes' } })).toContain('draftAndPublish')
    expect(await said({})).toBe(null)
  })

  test('components and extensions, one sentence of the command', async () => {
    expect((await saidOf(component('menu', 'part', { size: { type: 'intger' } }))).error).toContain(
      'src/components/menu/part.json: attributes.size.type "intger"',
    )
    const { status, err } = await octavo(['start', project(contentType('menu', { name: { type: 'strng' } }))])
    expect([status, err]).toEqual([1, expect.stringMatching(/^octavo: [^\n]*schema\.json: attributes\.name\.type "strng"[^\n]*\n$/)])
  })
})

describe('is reported', () => {
  test('a schema at a place where no content-type is looked for', async () => {
    const { error, warnings } = await saidOf({ 'src/api/post/schema.json': {}, 'src/api/page/content-types/schema.json': {} })
    expect([error, warnings.toSorted()]).toEqual([
      null,
      [
        'src/api/page/content-types/schema.json is not read: a content-type is at src/api/page/content-types/<name>/schema.json',
        'src/api/post/schema.json is not read: a content-type is at src/api/post/content-types/<name>/schema.json',
      ],
    ])
  })

  test('unknown and ignored keys and options', async () => {
    const { error, warnings } = await withAttributes({
      name: { type: 'string', requierd: true },
      locale: { type: 'string' },
      at: { type: 'uid', targetField: 'price' },
      price: { type: 'integer' },
    })
    expect(error).toBe(null)
    expect(warnings).toEqual([
      `${file}: attributes.locale is ignored: documents have their own locale`,
      `${file}: attributes.name.requierd is not an option of the type string; did you mean "required"?`,
      `${file}: attributes.at.targetField "price" is of the type integer; a uid is generated from a string or text`,
    ])
  })

  test('a column of another type than the model says, columns and tables that nothing in the model has', async () => {
    const served = await serveProject(
      contentType('menu', { title: { type: 'string' }, served: { type: 'integer' }, old: { type: 'string' } }),
    )
    expect(served.log.join('')).not.toMatch(/"level":[45]0/)
    await served.sql('create table left_overs (id integer)')
    // As a database of Strapi, which Octavo has not seen yet.
    await served.sql('delete from octavo_schemas')
    writeFileSync(
      join(served.folder, file),
      JSON.stringify(contentType('menu', { title: { type: 'string' }, served: { type: 'date' } })[file]),
    )
    const again = await serveExisting(served)
    const warned = again.log.map((text) => JSON.parse(text)).filter(({ level }) => level === 40)
    await again.close()
    expect(warned).toMatchObject([
      { types: [expect.stringMatching(/^menus\.served is int(eger|\(11\)), the model says date$/)] },
      { columns: ['menus.old'], tables: ['left_overs'] },
    ])
    const { out, status } = await octavo(['doctor', served.folder])
    expect(out).toMatch(/WRONG +1 {2}column types match the model\n +menus\.served is int[^,]*, the model says date\n +→ /)
    expect(out).toMatch(/note +1 {2}[^\n]*column[^\n]*\n +menus\.old\n/)
    expect(out).toMatch(/note +1 {2}[^\n]*table[^\n]*\n +left_overs\n/)
    expect(status).toBe(1)
    await served.close()
  })
})

const strapis = { 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } } }

describe('ends the start, but is only reported if Strapi serves the project too', () => {
  test.each([
    [{ name: { type: 'string', required: 'yes' } }, 'attributes.name.required is "yes"; it must be true or false'],
    [{ name: { type: 'string', maxLength: '10' } }, 'attributes.name.maxLength is "10"; it must be a whole number'],
    [{ name: { type: 'string', default: 5 } }, 'attributes.name.default is 5; it must be a text'],
    [{ name: { type: 'string', regex: '(' } }, 'attributes.name.regex is "("; it must be a regular expression'],
    [{ price: { type: 'decimal', min: 9, max: 1 } }, 'attributes.price.min is 9, above max (1), so no value is valid'],
    [{ price: { type: 'integer', min: '1' } }, 'attributes.price.min is "1"; it must be a number'],
    [{ picture: { type: 'media', multiple: 1 } }, 'attributes.picture.multiple is 1; it must be true or false'],
    [{ slug: { type: 'uid', targetField: 'titel' } }, 'attributes.slug.targetField "titel" is not an attribute; did you mean "title"?'],
    [{ kind: { type: 'enumeration', enum: [] } }, 'attributes.kind.enum must name at least one value'],
    [
      { kind: { type: 'enumeration', enum: ['lunch', 'dinner'], default: 'diner' } },
      'attributes.kind.default "diner" is not one of the values; did you mean "dinner"?',
    ],
    [{ createdAt: { type: 'string' } }, 'attributes.createdAt is not allowed: every document already has "createdAt"'],
    [{ zone: { type: 'dynamiczone', components: ['menu.part'] } }, 'attributes.zone.components.0 "menu.part" is not a component'],
    [{ zone: { type: 'dynamiczone' } }, 'attributes.zone.components must be a list of components'],
    [
      { dishes: { ...dishes, mappedBy: 'menus' } },
      'attributes.dishes.mappedBy api::dish.dish has no attribute "menus"; did you mean "menu"?',
    ],
    [
      { dishes: { ...dishes, mappedBy: 'name' } },
      'attributes.dishes.mappedBy "name" of api::dish.dish is of the type string, not a relation',
    ],
    [
      { best: { type: 'relation', relation: 'oneToOne', target: 'api::menu.menu', inversedBy: 'dishes' } },
      'attributes.best.inversedBy "dishes" of api::menu.menu refers to api::dish.dish, not back to api::menu.menu',
    ],
  ])('%j', async (attributes, said) => {
    const files = { ...other, ...contentType('menu', { title: { type: 'string' }, dishes, ...attributes }) }
    expect((await saidOf(files)).error).toContain(`${file}: ${said}`)
    expect(await saidOf({ ...files, ...strapis })).toEqual({ error: null, warnings: [expect.stringContaining(`${file}: ${said}`)] })
  })

  test.each([
    [{ options: { draftAndPublsh: true } }, 'options.draftAndPublsh is not an option; did you mean "draftAndPublish"?'],
    [{ options: { draftAndPublish: 'yes' } }, 'options.draftAndPublish is "yes"; it must be true or false'],
    [{ options: [] }, 'options is []; it must be an object'],
    [{ options: { privateAttributes: 'title' } }, 'options.privateAttributes is "title"; it must be a list of names'],
    [{ pluginOptions: { i18n: { localized: 'yes' } } }, 'pluginOptions.i18n.localized is "yes"; it must be true or false'],
    [{ kind: 'colectionType' }, 'kind is "colectionType"; it must be collectionType or singleType; did you mean "collectionType"?'],
  ])('%j', async (over, said) => {
    const schema = contentType('menu', { title: { type: 'string' } })[file] as Record<string, unknown>
    const files = { [file]: { ...schema, ...over } }
    expect((await saidOf(files)).error).toContain(`${file}: ${said}`)
    expect(await saidOf({ ...files, ...strapis })).toEqual({ error: null, warnings: [expect.stringContaining(`${file}: ${said}`)] })
  })

  rule('projects.10', 'such a project is served as Strapi serves it', async () => {
    const schema = contentType('menu', {
      title: { type: 'string' },
      name: { type: 'string', required: 'yes', maxLength: '3' },
      price: { type: 'integer', min: '1' },
      dishes: { ...dishes, mappedBy: 'menus' },
      zone: { type: 'dynamiczone', components: ['menu.part', 'menu.nothing'] },
    })[file] as Record<string, unknown>
    const served = await serveProject({
      ...strapis,
      ...other,
      ...component('menu', 'part', { size: { type: 'integer' } }),
      [file]: { ...schema, kind: 'colectionType', options: { draftAndPublsh: true } },
      ...access(['api::menu.menu.find', 'api::menu.menu.create']),
    })
    const headers = { 'content-type': 'application/json' }
    const create = async (data: object) => {
      const body = JSON.stringify({ data: { title: 'a', ...data } })
      return (await served.request('/api/menus?populate=*', { method: 'POST', headers, body })).body
    }
    const warned = served.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 40)
    const answers = [
      await create({}),
      await create({ name: 'long', price: 0 }),
      await create({ name: 'long', zone: [{ __component: 'menu.part', size: 1 }] }),
    ]
    await served.close()
    expect(warned.length).toBeGreaterThan(0)
    expect(answers).toMatchObject([
      { error: { message: 'name must be defined.' } },
      { error: { message: 'price must be greater than or equal to 1' } },
      { data: { name: 'long', zone: [{ __component: 'menu.part', size: 1 }] } },
    ])
  })
})

test('the schemas of real projects, as Strapi takes them, pass without a word', async () => {
  for (const folder of [goldenProject, join(root, 'examples', 'magazine'), join(root, 'test', 'database', 'awkward')])
    expect([folder, (await loadModel({ folder })).warnings]).toEqual([folder, []])
})

test("Strapi's own database has nothing that the golden model does not", async () => {
  const golden = await serveGolden()
  const lines = golden.log.map((text) => JSON.parse(text) as { readonly level: number })
  await golden.close()
  expect(lines.filter(({ level }) => level >= 40)).toEqual([])
})
