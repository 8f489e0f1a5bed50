// The start page of a project without content-types offers a first one. In development, browsers of this machine may create it without
// credentials.

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../foundation/config/config.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { ChangeableModel, ChangeRequest } from '../../project/model-changes/change.js'
import { readSchemaRequest } from '../../project/model-changes/schema-request.js'
import type { MountContext } from '../backend.js'
import { readBody } from '../body.js'
import { isFromOwnMachine } from '../own-machine.js'
import { escapeHtml } from './assets.js'

/** The offer. `creates`: the page may create types. */
export function firstTypeHtml(creates: boolean): string {
  if (!creates)
    return '<p class="note">There are no content-types yet. Add a <code>schema.json</code> below <code>src/api</code>: <code>octavo dev</code> serves it as soon as it is saved.</p>'
  const choices = readyTypes.map((schema) => {
    const names = Object.keys(schema.attributes).join(', ')
    return `<button type="button" class="choice" data-schema="${escapeHtml(JSON.stringify(schema))}"><b>${schema.info.displayName}</b> ${names}</button>`
  })
  return `<section class="first"><h2>Create the first content-type</h2>
<p class="note">Begin with one of these, or add a <code>schema.json</code> below <code>src/api</code>: <code>octavo dev</code> serves it as soon as it is saved.</p>
${choices.join('')}<details class="paste"><summary>Paste a schema</summary><textarea id="schema" aria-label="Schema as JSON" rows="10" spellcheck="false">${escapeHtml(JSON.stringify(readyTypes[0], null, 2))}</textarea><button type="button" id="create">Create the type</button></details>
<p id="problem" class="bad" role="alert"></p></section>`
}

const newTypePath = '/_octavo/content-types'

/** The route exists only in development, and only if the model may be changed while serving. */
export const canCreateTypes = ({ hints, modelChanges }: Pick<Config, 'hints' | 'modelChanges'>): boolean => hints && modelChanges

/** Adds the route. */
export function addNewTypeRoute(app: FastifyInstance, { config, backend, bodies }: MountContext): void {
  app.post(newTypePath, async (request, reply) => {
    refuseOthers(request)
    const schema = await readBody(request.raw, request.ip, bodies, config.limits)
    const name = nameIn(schema)
    const file = `src/api/${name}/content-types/${name}/schema.json`
    await backend.modelChanges.live.change((inForce) => preparedChange(config, inForce, { schema, name, file }))
    return reply
      .status(201)
      .header('cache-control', 'no-store')
      .send({ data: { uid: `api::${name}.${name}`, file } })
  })
}

/**
 * Refuses all requests but those that the page of this service sends from a browser of this machine: other sites may not write files, and
 * neither may names that lead here.
 * @throws ApiError 403, 415
 */
function refuseOthers({ raw, headers }: FastifyRequest): void {
  const isOwnPage = headers.origin === `http://${headers.host}`
  const site = headers['sec-fetch-site']
  if (!isFromOwnMachine(raw) || !isOwnPage || (site !== undefined && site !== 'same-origin'))
    throw new ApiError('ForbiddenError', 'Only the start page can create content-types here, in a browser of this machine')
  if (headers['content-type'] !== 'application/json') throw new ApiError('UnsupportedMediaTypeError', 'The schema must be application/json')
}

/** Names of folders below src/api: no character leads elsewhere. */
const typeName = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/

/** The singularName of a schema. @throws ApiError 400 */
function nameIn(schema: unknown): string {
  const { info } = (schema ?? {}) as { readonly info?: { readonly singularName?: unknown } | null }
  const name = info?.singularName
  if (typeof name === 'string' && typeName.test(name)) return name
  throw validationError('info.singularName must be a name of lower-case letters, digits and single hyphens, such as "article"')
}

interface NewType {
  readonly schema: unknown
  readonly name: string
  readonly file: string
}

/** The change that adds the type. @throws ApiError 400 as changes of the model by other requests, 409 if the project has one of this name */
async function preparedChange(
  { folder, contract }: Config,
  inForce: ChangeableModel,
  { schema, name, file }: NewType,
): Promise<ChangeRequest> {
  const uid = `api::${name}.${name}`
  const isThere = await lstat(join(folder, 'src', 'api', name)).then(
    () => true,
    () => false,
  )
  if (isThere || inForce.model.types.has(uid) || inForce.unwritten.has(file))
    throw new ApiError('ConflictError', `There is something at src/api/${name} already; nothing was written`)
  const change = await readSchemaRequest(folder, inForce, { data: { [uid]: schema } }, new Set())
  // Strapi serves no type without its code; this service does.
  return contract === 'strapi' ? change : { ...change, files: new Map([...change.files].filter(([path]) => path === file)) }
}

const text = { type: 'string' } as const
const title = { type: 'string', required: true, maxLength: 120 } as const
const slugFor = (targetField: string) => ({ type: 'uid', targetField }) as const
const picture = { type: 'media', multiple: false, allowedTypes: ['images'] } as const

const ready = (singularName: string, draftAndPublish: boolean, attributes: object) => ({
  kind: 'collectionType',
  collectionName: `${singularName}s`,
  info: { singularName, pluralName: `${singularName}s`, displayName: singularName.charAt(0).toUpperCase() + singularName.slice(1) },
  options: { draftAndPublish },
  attributes,
})

const readyTypes = [
  ready('article', true, {
    title,
    slug: slugFor('title'),
    summary: { type: 'text', maxLength: 400 },
    body: { type: 'richtext' },
    cover: picture,
  }),
  ready('product', false, {
    name: title,
    slug: slugFor('name'),
    description: { type: 'text' },
    price: { type: 'decimal', min: 0 },
    inStock: { type: 'boolean', default: true },
    picture,
  }),
  ready('event', false, {
    title,
    slug: slugFor('title'),
    starts: { type: 'datetime', required: true },
    ends: { type: 'datetime' },
    place: text,
    description: { type: 'text' },
    picture,
  }),
] as const
