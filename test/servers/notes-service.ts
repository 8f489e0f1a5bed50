// A small project on a database of a server, PostgreSQL or MariaDB, for tests of many requests at once and of faults.
import { type Served, type ServeOptions, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { environmentOf, type TestServer } from './server.js'

const actions = (type: string): readonly string[] =>
  ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'].map(
    (action) => `api::${type}.${type}.${action}`,
  )

const typeOf = (name: string, drafts: boolean, attributes: object): Readonly<Record<string, unknown>> => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: drafts },
    attributes,
  },
})

export const notesProject = {
  ...typeOf('note', false, { code: { type: 'string', unique: true }, text: { type: 'text' } }),
  ...typeOf('memo', true, {
    title: { type: 'string', required: true },
    text: { type: 'text' },
    code: { type: 'string', unique: true },
    part: { type: 'component', component: 'desk.part' },
  }),
  'src/components/desk/part.json': {
    collectionName: 'components_desk_parts',
    info: { displayName: 'part' },
    attributes: { name: { type: 'string' } },
  },
  ...typeOf('card', false, {
    name: { type: 'string' },
    boards: { type: 'relation', relation: 'manyToMany', target: 'api::board.board', inversedBy: 'cards' },
  }),
  ...typeOf('board', false, {
    name: { type: 'string' },
    cards: { type: 'relation', relation: 'manyToMany', target: 'api::card.card', mappedBy: 'boards' },
  }),
  'seed/access.json': { roles: { public: ['note', 'memo', 'card', 'board'].flatMap(actions) } },
}

export interface NotesService extends Served {
  send(method: string, path: string, data?: object): Promise<TestResponse>
}

function service(served: Served): NotesService {
  const json = { 'content-type': 'application/json' }
  return {
    ...served,
    send: (method, path, data) =>
      served.request(path, data === undefined ? { method } : { method, headers: json, body: JSON.stringify({ data }) }),
  }
}

/** Serves the project on a database; the first one on it prepares it. */
export const serveNotes = async (url: string, { environment, ...options }: ServeOptions = {}): Promise<NotesService> =>
  service(await serveProject(notesProject, { ...options, environment: { ...environmentOf(url), ...environment } }))

/** A second service of the same project. */
export const serveSecondNotes = async (other: Served, url: string, environment: ServeOptions['environment'] = {}): Promise<NotesService> =>
  service(await serveExisting(other, { ...environmentOf(url), ...environment }))

/** On a busy machine, hundreds of writers wait for a connection for longer than the three seconds of the default. */
const patient = { DATABASE_CONNECTION_TIMEOUT: '60000' }

/** Two services of the project on one new database. */
export async function serveTwoNotes(
  server: TestServer,
): Promise<{ readonly url: string; readonly first: NotesService; readonly second: NotesService }> {
  const url = await server.createDatabase()
  const first = await serveNotes(url, { environment: patient, config: { limits: { writeTimeout: 300_000 } } })
  return { url, first, second: await serveSecondNotes(first, url, patient) }
}

/** Closes services, one after the other. */
export async function closeServices(...services: readonly NotesService[]): Promise<void> {
  for (const service of services) await service.close()
}

export const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

export const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
