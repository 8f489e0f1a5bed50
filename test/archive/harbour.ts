// A small project of the tests' own with one of everything that an archive has: boats with parts, pictures, relations and drafts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { component, contentType, plain, reading, seeded } from '../spec/library.js'
import { createDatabase, isOnServer, nameDatabase } from '../support/databases.js'
import { emptyFolder, type Project, run } from './projects.js'

type Files = Readonly<Record<string, unknown>>

const relation = (kind: string, target: string, more: object = {}) => ({
  ...{ type: 'relation', relation: kind, target: `api::${target}.${target}` },
  ...more,
})

const boat = {
  name: { type: 'string' },
  crew: { type: 'integer' },
  picture: { type: 'media', multiple: false },
  harbours: relation('manyToMany', 'harbour', { inversedBy: 'boats' }),
  sails: { type: 'component', component: 'parts.sail', repeatable: true },
  gear: { type: 'dynamiczone', components: ['parts.sail', 'parts.anchor'] },
}

/** The schemas; attributes of boats can be changed. */
export const schemas = (attributes: Files = boat, options: { readonly draftAndPublish?: boolean } = {}): Files => ({
  ...contentType('boat', attributes, options),
  ...contentType('harbour', { name: { type: 'string' }, boats: relation('manyToMany', 'boat', { mappedBy: 'harbours' }) }),
  ...component('parts', 'sail', { area: { type: 'integer' }, made: relation('oneToOne', 'harbour') }),
  ...component('parts', 'anchor', { weight: { type: 'decimal' } }),
})

export const boatAttributes: Files = boat

const file = (key: string, content: string): Files => ({
  [`seed/files/${key}.txt`]: content,
})

const fileRow = (key: string) => ({
  ...{ key, file: `seed/files/${key}.txt`, name: `${key}.txt`, hash: key, ext: '.txt', mime: 'text/plain', size: 0.1 },
  url: `/uploads/${key}.txt`,
})

/** Users of a seed. */
const users = (names: readonly string[]) =>
  names.map((name) => ({ username: name, email: `${name}@harbour.example`, password: 'open-sesame', role: 'authenticated' }))

const sail = (area: number, harbour: string) => ({ area, made: `@harbour:${harbour}` })

/** Heron and Gull. */
export const oldContent: Files = {
  ...seeded('harbour', plain({ Oban: {}, Mallaig: {} })),
  ...seeded(
    'boat',
    plain({
      Heron: {
        crew: 3,
        picture: '@file:heron',
        harbours: ['@harbour:Oban'],
        sails: [sail(12, 'Oban')],
        gear: [{ __component: 'parts.anchor', weight: 8.5 }],
      },
      Gull: { crew: 2, picture: '@file:gull', harbours: ['@harbour:Mallaig', '@harbour:Oban'] },
    }),
  ),
  'seed/files.json': ['heron', 'gull'].map(fileRow),
  ...file('heron', 'heron '.repeat(1000)),
  ...file('gull', 'gull '.repeat(1000)),
  'seed/access.json': { locales: [], roles: { public: reading('boat', 'harbour') }, users: users(['anna', 'bert']) },
}

/** Heron in another form, and Tern. */
export const newContent: Files = {
  ...seeded('harbour', plain({ Mallaig: {}, Tarbert: {} })),
  ...seeded(
    'boat',
    plain({
      Heron: { crew: 4, picture: '@file:heron', harbours: ['@harbour:Tarbert'], sails: [sail(14, 'Tarbert'), sail(6, 'Mallaig')] },
      Tern: {
        crew: 1,
        picture: '@file:tern',
        gear: [
          { __component: 'parts.sail', area: 3 },
          { __component: 'parts.anchor', weight: 4 },
        ],
      },
    }),
  ),
  'seed/files.json': ['heron', 'tern'].map(fileRow),
  ...file('heron', 'another heron '.repeat(900)),
  ...file('tern', 'tern '.repeat(1000)),
  'seed/access.json': { locales: [], roles: { public: reading('boat') }, users: users(['carla', 'anna']) },
}

/** A project with these files, whose database is created by its first command. */
export async function harbour(files: Files): Promise<Project> {
  const folder = emptyFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const database = isOnServer ? await createDatabase(false) : {}
  nameDatabase(folder, database)
  return { folder, database: database.DATABASE_URL ?? join(folder, '.tmp', 'data.db') }
}

/** The same with its database, as a first start creates it. */
export async function settled(files: Files): Promise<Project> {
  const project = await harbour(files)
  const { status, err } = await run(['roles', 'grant', 'public', 'api::boat.boat.find', project.folder])
  if (status !== 0) throw new Error(err)
  return project
}
