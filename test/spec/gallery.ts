// A project for tests of lists of components: pages with a repeatable component, a dynamic zone, and lists inside of their entries.
import type { Served, ServeOptions } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { secrets } from './callers.js'

export const page = 'api::page.page'

const files = {
  'src/components/block/part.json': {
    collectionName: 'components_block_parts',
    info: { displayName: 'Part' },
    attributes: { label: { type: 'string' }, count: { type: 'integer' } },
  },
  'src/components/block/group.json': {
    collectionName: 'components_block_groups',
    info: { displayName: 'Group' },
    attributes: {
      name: { type: 'string' },
      parts: { type: 'component', component: 'block.part', repeatable: true },
      lead: { type: 'component', component: 'block.part' },
    },
  },
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'Page' },
    options: { draftAndPublish: true },
    attributes: {
      title: { type: 'string', required: true },
      slug: { type: 'uid', targetField: 'title' },
      code: { type: 'string', unique: true },
      kind: { type: 'enumeration', enum: ['guide', 'note'] },
      lead: { type: 'component', component: 'block.part' },
      parts: { type: 'component', component: 'block.part', repeatable: true },
      groups: { type: 'component', component: 'block.group', repeatable: true, max: 4 },
      body: { type: 'dynamiczone', components: ['block.part', 'block.group'] },
      related: { type: 'relation', relation: 'oneToMany', target: page },
    },
  },
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: false },
    attributes: {
      text: { type: 'string', required: true },
      code: { type: 'string', unique: true },
      count: { type: 'integer' },
    },
  },
}

/** Serves the project. */
export const serveGallery = (options: ServeOptions = {}): Promise<Served> =>
  serveProject(files, { environment: secrets, config: { limits: { authRateLimit: 1_000 } }, ...options })

/** An entry of a list, as a document has it. */
export interface Entry {
  readonly id: number
  readonly __component?: string
  readonly label?: string
  readonly name?: string
}

/** The name of an entry in a path. */
export const nameOf = ({ id, __component = '' }: Entry): string => `${__component}#${id}`
