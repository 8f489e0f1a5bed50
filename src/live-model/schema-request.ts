// Reads a request that changes schemas: complete schemas in the format of schema.json by uid, null to delete one. Returns the files to write.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { codeFiles, componentKeys, fileText, typeKeys } from '../content-type-builder/files.js'
import { takenTypeNames, typeNamesIn, unstartable } from '../content-type-builder/loadable.js'
import { attributeName, categoryName, isReservedAttribute, isReservedType, schemaPath } from '../content-type-builder/names.js'
import { isBuiltin, type ProjectSchema, type SchemaContent } from '../content-type-builder/project-schemas.js'
import { excessOf, longUid } from '../content-type-builder/request-bounds.js'
import { validationError } from '../errors/errors.js'
import { schemaIndexes } from '../model/load.js'
import { oneNameForBoth } from '../model/schema-keys.js'
import type { ChangeableModel, ChangeRequest } from './change.js'
import { customFieldsFor, schemaPlaces } from './project-schemas.js'

const apiUid = /^api::([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\.([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/
const componentUid = /^([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)\.([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/
/** What the names of tables of Strapi and of Octavo begin with. */
const reservedTable = /^(?:strapi|octavo)_/i

const name = (pattern: RegExp, what: string) => z.string().regex(pattern, `must be ${what}`)
const attributes = z.record(
  name(attributeName, 'a letter from A to Z followed by such letters, digits and _'),
  z.looseObject({ type: z.string() }),
)
const info = z.looseObject({ displayName: z.string().min(1), description: z.string().optional() })
const common = {
  collectionName: name(categoryName, 'a name of a table: a letter from A to Z followed by such letters, digits, - and _').optional(),
  options: z.looseObject({}).optional(),
  indexes: schemaIndexes.optional(),
  attributes,
}
const type = z.looseObject({
  ...common,
  kind: z.enum(['collectionType', 'singleType']),
  info: info.extend({ singularName: z.string().min(1), pluralName: z.string().min(1) }),
  pluginOptions: z.looseObject({}).optional(),
})
const component = z.looseObject({ ...common, info })
/** Renames of one request. */
const mostRenames = 1_000
const renamed = { from: z.string(), to: z.string() }
/** The body of a request that changes schemas; each schema of `data` is checked by itself. */
export const schemaRequest = z.strictObject({
  data: z.record(z.string(), z.looseObject({}).nullable()),
  renames: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.enum(['type', 'component']), ...renamed }),
        z.strictObject({ kind: z.literal('attribute'), schema: z.string(), ...renamed }),
      ]),
    )
    .max(mostRenames)
    .default([]),
  neverPublished: z.enum(['keepAside', 'publish']).default('keepAside'),
  version: z.string().optional(),
})

type TypeSchema = z.output<typeof type>
type ComponentSchema = z.output<typeof component>

/**
 * Reads the body of a request. `folder`: of the project; `agreed`: what may be hidden.
 * @throws ApiError 400 with `details.errors`, each with its path in the body
 */
export async function readSchemaRequest(
  folder: string,
  inForce: ChangeableModel,
  sent: unknown,
  agreed: ReadonlySet<string>,
): Promise<ChangeRequest> {
  const excess = excessOf(sent)
  if (excess !== null) throw invalid(excess.path, excess.message)
  const { data, renames, neverPublished, version } = checked(schemaRequest, sent, [])
  const uids = Object.keys(data)
  if (uids.length === 0) throw invalid(['data'], 'must name a schema')
  const { files, places } = await filesOfSchemas(folder, inForce, data)
  await refuseUnstartable(inForce, data)
  return {
    ...{ summary: uids.join(', '), files, places, renames, choices: { neverPublished }, agreed, path: ['data'] },
    ...(version === undefined ? {} : { version }),
  }
}

/** The files that schemas become, and which schema of the body each is of. @throws ApiError 400 */
async function filesOfSchemas(
  folder: string,
  { unwritten, isStrapis }: ChangeableModel,
  data: Readonly<Record<string, object | null>>,
): Promise<Required<Pick<ChangeRequest, 'files' | 'places'>>> {
  const uids = Object.keys(data)
  const known = await schemaPlaces({ folder, unwritten })
  const places = new Map<string, readonly string[]>()
  const isTypeScript = existsSync(join(folder, 'tsconfig.json'))
  const codeOf = (uid: string) => (uid.startsWith('api::') ? codeFiles(uid, uid.slice(uid.indexOf('.') + 1), isTypeScript) : [])
  const isThere = (path: string): boolean => (unwritten.has(path) ? unwritten.get(path) !== null : existsSync(join(folder, path)))
  const files = new Map<string, string | null>()
  for (const uid of uids) {
    const schema = data[uid]!
    const former = known.get(uid)
    const tooLong = former === undefined ? longUid(uid) : null
    if (tooLong !== null) throw invalid(['data', uid], tooLong)
    const place = former ?? placeOf(uid)
    if (place === null)
      throw invalid(['data', uid], 'is no uid of a content-type (api::name.name) or component (category.name) of a project')
    if (schema === null) {
      if (former === undefined) throw invalid(['data', uid], 'does not exist')
      files.set(place, null)
      for (const [path] of codeOf(uid)) if (isThere(path)) files.set(path, null)
      continue
    }
    const text = textOf(uid, schema, isStrapis)
    files.set(place, text)
    places.set(place, ['data', uid])
    if (former === undefined) for (const [path, code] of codeOf(uid)) if (!isThere(path)) files.set(path, code)
  }
  return { files, places }
}

/** Refuses what this service could serve, and what Strapi does not start with. @throws ApiError 400 */
async function refuseUnstartable(inForce: ChangeableModel, data: Readonly<Record<string, object | null>>): Promise<void> {
  const { model, isStrapis } = inForce
  const schemaOf = (uid: string, content: SchemaContent): ProjectSchema => ({ uid, path: null, content })
  const schemas = new Map([...model.types, ...model.components].map(([uid, { source }]) => [uid, schemaOf(uid, source as SchemaContent)]))
  const after = new Map(schemas)
  const newTypes: (readonly [string, SchemaContent])[] = []
  for (const [uid, content] of Object.entries(data)) {
    if (content === null) after.delete(uid)
    else after.set(uid, schemaOf(uid, content as SchemaContent))
    const former = schemas.get(uid)
    if (former === undefined && content !== null && uid.startsWith('api::')) newTypes.push([uid, content as SchemaContent])
    const known = former?.content.attributes ?? {}
    for (const name of Object.keys((content as SchemaContent | null)?.attributes ?? {}))
      if (isReservedAttribute(name) && !Object.hasOwn(known, name)) throw invalid(['data', uid, 'attributes', name], 'is a reserved name')
  }
  const names = typeNamesIn(after)
  for (const [uid, content] of newTypes) {
    const [taken] = takenTypeNames(uid, content, names)
    if (taken !== undefined) throw invalid(['data', uid, 'info', ...taken.path.slice(1)], taken.message)
  }
  const [mistake] = unstartable({ schemas, isStrapis, customFields: await customFieldsFor(data, schemas, inForce) }, after)
  if (mistake === undefined) return
  const [uid, ...attribute] = mistake.path
  throw invalid(['data', uid!, ...(attribute.length === 0 ? [] : ['attributes', ...attribute])], mistake.message)
}

/** The path of a new schema; null if there is none by this uid. */
function placeOf(uid: string): string | null {
  const [, api, singular] = apiUid.exec(uid) ?? []
  const isKnown = api === undefined ? componentUid.test(uid) || isBuiltin(uid) : api === singular
  return isKnown ? schemaPath(uid) : null
}

/** The text of the file, with the keys in Strapi's order. */
function textOf(uid: string, sent: object, isStrapis: boolean): string {
  const path = ['data', uid]
  if (!uid.includes('::')) {
    const schema = checked(component, sent, path)
    checkTable(schema.collectionName, path)
    return fileText(inOrder(schema, componentKeys))
  }
  const schema = checked(type, sent, path)
  checkNames(uid, schema, isStrapis)
  return fileText(inOrder(schema, typeKeys))
}

function checkNames(uid: string, { info: { singularName, pluralName }, collectionName: table }: TypeSchema, isStrapis: boolean): void {
  const path = ['data', uid]
  const own = uid.slice(uid.indexOf('.') + 1)
  if (singularName !== own) throw invalid([...path, 'info', 'singularName'], `must be "${own}", as the uid says`)
  if (isStrapis && singularName === pluralName) throw invalid([...path, 'info', 'pluralName'], oneNameForBoth)
  if (uid.startsWith('plugin::')) return
  for (const one of [singularName, pluralName])
    if (isReservedType(one)) throw invalid([...path, 'info', one === singularName ? 'singularName' : 'pluralName'], `is reserved: ${one}`)
  checkTable(table, path)
}

function checkTable(table: string | undefined, path: readonly string[]): void {
  if (table !== undefined && reservedTable.test(table)) throw invalid([...path, 'collectionName'], `is reserved: ${table}`)
}

function inOrder(schema: TypeSchema | ComponentSchema, keys: readonly string[]): object {
  const given = schema as Readonly<Record<string, unknown>>
  const first = keys.filter((key) => given[key] !== undefined).map((key) => [key, given[key]] as const)
  return { ...Object.fromEntries(first), ...Object.fromEntries(Object.entries(given).filter(([key]) => !keys.includes(key))) }
}

const invalid = (path: readonly PropertyKey[], message: string) =>
  validationError(`${path.join('.')} ${message}`, { errors: [{ path: path.map(String), message, name: 'ValidationError' }] })

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, path: readonly string[]): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.map((issue) => ({
    path: [...path, ...issue.path.map(String)],
    message: issue.code === 'invalid_key' ? issue.issues[0]!.message : issue.message,
    name: 'ValidationError',
  }))
  throw validationError(`${errors[0]!.path.join('.') || 'The body'}: ${errors[0]!.message}`, { errors })
}
