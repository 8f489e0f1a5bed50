// A change of the recorded project's model that has every kind of step: a type that is renamed and gets Draft & Publish, one of its
// attributes renamed and one of another type, and a component that is removed where it was used.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { planModelChange } from '../../src/model/diff/plan.js'
import type { ModelPlan, Rename } from '../../src/model/diff/types.js'
import type { Model } from '../../src/model/schema/types.js'
import { modelAfter } from '../model-plans/recorded.js'

const words: readonly (readonly [string, string])[] = [
  ['api/writer/content-types/writer', 'api/author/content-types/author'],
  ['api::writer.writer', 'api::author.author'],
  ['"singularName": "writer"', '"singularName": "author"'],
  ['"pluralName": "writers"', '"pluralName": "authors"'],
  ['"collectionName": "writers"', '"collectionName": "authors"'],
]

const inWords = (text: string): string => words.reduce((all, [before, after]) => all.replaceAll(before, after), text)

type Schema = { options?: object; attributes: Record<string, { type: string }> }

function changed(path: string, text: string): string {
  const schema = JSON.parse(inWords(text)) as Schema
  if (path.includes('/author/')) {
    const { name, age, ...others } = schema.attributes
    schema.attributes = { fullName: name!, age: { ...age!, type: 'string' }, ...others }
    schema.options = { draftAndPublish: true }
  }
  for (const [attribute, { component }] of Object.entries(schema.attributes as Record<string, { component?: string }>))
    if (component === 'shared.link') delete schema.attributes[attribute]
  return JSON.stringify(schema, null, 2)
}

/** The schema files of the project, by their paths. */
function schemaFiles(project: string): ReadonlyMap<string, string> {
  const files = (
    readdirSync(join(project, 'src'), { recursive: true, withFileTypes: true }) as { name: string; parentPath: string }[]
  ).filter(({ name, parentPath }) => name.endsWith('.json') && (name === 'schema.json' || /components\/\w+$/.test(parentPath)))
  return new Map(
    files.map(({ name, parentPath }) => [relative(project, join(parentPath, name)), readFileSync(join(parentPath, name), 'utf8')]),
  )
}

const renames: readonly Rename[] = [
  { kind: 'type', from: 'api::writer.writer', to: 'api::author.author' },
  { kind: 'attribute', schema: 'api::writer.writer', from: 'name', to: 'fullName' },
]

/** The change: the new model, and its plan. */
export async function richChange(
  project: string,
  folder: string,
  from: Model,
  name: string,
): Promise<{ readonly to: Model; readonly plan: ModelPlan }> {
  const files = schemaFiles(project)
  const after = [...files].map(([path, text]) => [inWords(path), changed(inWords(path), text)] as const)
  const to = await modelAfter(
    {
      name,
      filesDeleted: [...files.keys()],
      filesAfter: Object.fromEntries(after.filter(([path]) => !path.endsWith('shared/link.json'))),
    },
    project,
    folder,
  )
  return { to, plan: planModelChange(from, to, renames) }
}

/** The project without Draft & Publish of stories, which hold components, files and links. */
export function withoutDrafts(project: string, folder: string, name: string): Promise<Model> {
  const path = 'src/api/story/content-types/story/schema.json'
  const schema = JSON.parse(readFileSync(join(project, path), 'utf8')) as Schema
  return modelAfter(
    { name, filesDeleted: [], filesAfter: { [path]: JSON.stringify({ ...schema, options: { draftAndPublish: false } }) } },
    project,
    folder,
  )
}

/** The project with the tables of two types, and of two components, exchanged. */
export function withTablesExchanged(project: string, folder: string, name: string): Promise<Model> {
  const paths = ['src/api/writer/content-types/writer/schema.json', 'src/api/story/content-types/story/schema.json']
  const components = ['src/components/shared/seo.json', 'src/components/shared/link.json']
  const read = (path: string) => JSON.parse(readFileSync(join(project, path), 'utf8')) as { collectionName: string }
  const exchanged = [paths, components].flatMap(([one, other]) => [
    [one!, { ...read(one!), collectionName: read(other!).collectionName }],
    [other!, { ...read(other!), collectionName: read(one!).collectionName }],
  ])
  const filesAfter = Object.fromEntries(exchanged.map(([path, schema]) => [path, JSON.stringify(schema)]))
  return modelAfter({ name, filesDeleted: [], filesAfter }, project, folder)
}
