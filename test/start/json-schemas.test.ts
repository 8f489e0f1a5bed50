// The JSON schemas of the package, with which editors complete and check schema files: they accept Strapi's files, and mark errors.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { root } from './command.js'

let contentType: ValidateFunction
let component: ValidateFunction
beforeAll(() => {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, formats: { regex: true } })
  const compile = (name: string) => ajv.compile(JSON.parse(readFileSync(join(root, 'schemas', `${name}.json`), 'utf8')) as object)
  contentType = compile('content-type')
  component = compile('component')
})

/** Errors in a schema, as `path: message`. */
function problems(validate: ValidateFunction, schema: unknown): readonly string[] {
  validate(schema)
  return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`)
}

const projects = ['examples/magazine', 'test/golden/project', 'test/database/awkward', 'templates/blog', 'templates/blank']

/** The schema files of a project by their path. */
const schemasOf = (project: string): readonly string[] =>
  ['src/api', 'src/components', 'src/extensions'].flatMap((folder) => {
    try {
      return readdirSync(join(root, project, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.json'))
        .map((file) => join(root, project, folder, file))
    } catch {
      return []
    }
  })

rule('projects.12', 'every schema of the projects in this repository is valid', () => {
  const files = projects.flatMap(schemasOf)
  expect(files.length).toBeGreaterThan(50)
  const found = files.flatMap((file) => {
    const validate = file.includes('/components/') ? component : contentType
    return problems(validate, JSON.parse(readFileSync(file, 'utf8'))).map((problem) => `${file}${problem}`)
  })
  expect(found).toEqual([])
})

const recipe = {
  $schema: '../../../../../node_modules/octavo/schemas/content-type.json',
  kind: 'collectionType',
  info: { singularName: 'recipe', pluralName: 'recipes', displayName: 'Recipe' },
  options: { draftAndPublish: true },
  attributes: { title: { type: 'string', required: true } },
}

describe('content-types', () => {
  test('one without errors is valid', () => {
    expect(problems(contentType, recipe)).toEqual([])
    const colour = { customField: 'plugin::color-picker.color', options: { format: 'hex' } }
    expect(problems(contentType, { ...recipe, attributes: { colour } })).toEqual([])
  })

  test.each([
    [{ options: { draftAndPublsh: true } }, '/options: must NOT have additional properties {"additionalProperty":"draftAndPublsh"}'],
    [{ info: { ...recipe.info, singularName: 'Recipe!' } }, '/info/singularName: must match pattern'],
    [{ info: { singularName: 'recipe', displayName: 'Recipe' } }, '/info: must have required property'],
    [{ atributes: {} }, ': must NOT have additional properties {"additionalProperty":"atributes"}'],
    [{ kind: 'colectionType' }, '/kind: must be equal to one of the allowed values'],
    [{ pluginOptions: { i18n: { localized: 'yes' } } }, '/pluginOptions/i18n/localized: must be boolean'],
  ])('%j', (over, said) => {
    expect(problems(contentType, { ...recipe, ...over }).join('\n')).toContain(said)
  })

  test.each([
    [
      { name: { type: 'string', requierd: true } },
      '/attributes/name: must NOT have additional properties {"additionalProperty":"requierd"}',
    ],
    [{ name: { type: 'string', required: 'yes' } }, '/attributes/name/required: must be boolean,null'],
    [{ name: { type: 'strng' } }, '/attributes/name/type: must be equal to constant'],
    [{ name: { type: 'string', maxLength: '10' } }, '/attributes/name/maxLength: must be integer,null'],
    [
      { author: { type: 'relation', relation: 'manyToon', target: 'api::author.author' } },
      '/attributes/author/relation: must be equal to one of',
    ],
    [{ author: { type: 'relation', relation: 'manyToOne' } }, "/attributes/author: must have required property 'target'"],
    [{ format: { type: 'enumeration', enum: [] } }, '/attributes/format/enum: must NOT have fewer than 1 items'],
    [{ format: { type: 'enumeration' } }, "/attributes/format: must have required property 'enum'"],
    [{ id: { type: 'string' } }, '/attributes: property name must be valid'],
    [{ created_at: { type: 'datetime' } }, '/attributes: property name must be valid'],
    [{ picture: { type: 'media', allowedTypes: ['pictures'] } }, '/attributes/picture/allowedTypes/0: must be equal to one of'],
    [{ parts: { type: 'component' } }, "/attributes/parts: must have required property 'component'"],
    [{ zone: { type: 'dynamiczone', components: ['part'] } }, '/attributes/zone/components/0: must match pattern'],
    [{ nothing: {} }, "/attributes/nothing: must have required property 'type'"],
  ])('%j', (attributes, said) => {
    expect(problems(contentType, { ...recipe, attributes }).join('\n')).toContain(said)
  })
})

test('components have neither kind nor names of a type; their entries have an id', () => {
  const part = { collectionName: 'components_shared_parts', info: { displayName: 'Part' }, attributes: { size: { type: 'integer' } } }
  expect(problems(component, part)).toEqual([])
  expect(problems(component, { ...part, attributes: { id: { type: 'integer' } } }).join()).toContain('property name must be valid')
  expect(problems(component, { ...part, attributes: { createdAt: { type: 'datetime' } } })).toEqual([])
})
