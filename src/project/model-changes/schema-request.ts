// Reads a request that changes schemas: complete schemas by uid in the format of schema.json, null to delete. Returns the files to write.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { mistakenInput } from '../../foundation/errors/errors.js'
import { toMistakes } from '../../foundation/errors/schema-issues.js'
import { codeFiles, componentKeys, fileText, typeKeys } from '../../model/builder/files.js'
import { takenTypeNames, typeNamesIn, unstartable } from '../../model/builder/loadable.js'
import { schemaPath } from '../../model/builder/names.js'
import { isBuiltin, type ProjectSchema, type SchemaContent } from '../../model/builder/project-schemas.js'
import { excessOf, longUid } from '../../model/builder/request-bounds.js'
import { schemaIndexes } from '../../model/schema/load.js'
import type { ChangeableModel, ChangeRequest } from './change.js'
import { faultOfNames } from './change.js'
import { customFieldsFor, schemaPlaces } from './project-schemas.js'

const apiUid = /^api::([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\.([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/
const componentUid = /^([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)\.([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/

const attributes = z.record(z.string(), z.looseObject({ type: z.string() }))
const info = z.looseObject({ displayName: z.string().min(1), description: z.string().optional() })
const common = {
  collectionName: z.string().optional(),
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
const mostRenames = 1_000
const renamed = { from: z.string(), to: z.string() }
/** The body of a request; schemas in `data` are validated separately. */
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
 * Reads the body of a request. `folder`: of the project; `agreed`: content that may be hidden.
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
  await refuseUnstartable(inForce, data, renames)
  return {
    summary: uids.join(', '),
    files,
    places,
    renames,
    choices: { neverPublished },
    agreed,
    path: ['data'],
    ...(version === undefined ? {} : { version }),
  }
}

/** The files of schemas, and the location of each in the body. @throws ApiError 400 */
async function filesOfSchemas(
  folder: string,
  { unwritten }: ChangeableModel,
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
      throw invalid(['data', uid], 'is not a uid of a content-type (api::name.name) or component (category.name) of a project')
    if (schema === null) {
      if (former === undefined) throw invalid(['data', uid], 'does not exist')
      files.set(place, null)
      for (const [path] of codeOf(uid)) if (isThere(path)) files.set(path, null)
      continue
    }
    const text = textOf(uid, schema)
    files.set(place, text)
    places.set(place, ['data', uid])
    if (former === undefined) for (const [path, code] of codeOf(uid)) if (!isThere(path)) files.set(path, code)
  }
  return { files, places }
}

/** Refuses schemas that Strapi would not start with, although this service could serve them. @throws ApiError 400 */
async function refuseUnstartable(
  inForce: ChangeableModel,
  data: Readonly<Record<string, object | null>>,
  renames: readonly { readonly kind: string; readonly from: string; readonly to: string }[],
): Promise<void> {
  const { model, isStrapis } = inForce
  const formerUid = (uid: string) => renames.find(({ kind, to }) => kind !== 'attribute' && to === uid)?.from ?? uid
  const schemaOf = (uid: string, content: SchemaContent): ProjectSchema => ({ uid, path: null, content })
  const schemas = new Map([...model.types, ...model.components].map(([uid, { source }]) => [uid, schemaOf(uid, source as SchemaContent)]))
  const after = new Map(schemas)
  const newTypes: (readonly [string, SchemaContent])[] = []
  for (const [uid, content] of Object.entries(data)) {
    if (content === null) after.delete(uid)
    else after.set(uid, schemaOf(uid, content as SchemaContent))
    if (content !== null) refuseName(uid, content as SchemaContent, schemas.get(formerUid(uid))?.content, isStrapis)
    const former = schemas.get(uid)
    if (former === undefined && content !== null && uid.startsWith('api::')) newTypes.push([uid, content as SchemaContent])
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

/** Refuses the first invalid name that a schema introduces. @throws ApiError 400 */
function refuseName(uid: string, content: SchemaContent, former: SchemaContent | undefined, isStrapis: boolean): void {
  const fault = faultOfNames(uid, content, former, isStrapis)
  if (fault !== null) throw invalid(['data', uid, ...fault.path], fault.message)
}

/** The path of a new schema; null for an invalid uid. */
function placeOf(uid: string): string | null {
  const [, api, singular] = apiUid.exec(uid) ?? []
  const isKnown = api === undefined ? componentUid.test(uid) || isBuiltin(uid) : api === singular
  return isKnown ? schemaPath(uid) : null
}

/** The text of the file, with keys in Strapi's order. */
function textOf(uid: string, sent: object): string {
  const path = ['data', uid]
  if (!uid.includes('::')) return fileText(inOrder(checked(component, sent, path), componentKeys))
  const schema = checked(type, sent, path)
  const own = uid.slice(uid.indexOf('.') + 1)
  if (schema.info.singularName !== own) throw invalid([...path, 'info', 'singularName'], `must be "${own}", as the uid says`)
  return fileText(inOrder(schema, typeKeys))
}

function inOrder(schema: TypeSchema | ComponentSchema, keys: readonly string[]): object {
  const given = schema as Readonly<Record<string, unknown>>
  const first = keys.filter((key) => given[key] !== undefined).map((key) => [key, given[key]] as const)
  return { ...Object.fromEntries(first), ...Object.fromEntries(Object.entries(given).filter(([key]) => !keys.includes(key))) }
}

const invalid = (path: readonly PropertyKey[], message: string) =>
  mistakenInput([{ path: path.map(String), message }]).reworded(`${path.join('.')} ${message}`)

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, path: readonly string[]): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const mistakes = toMistakes(parsed.error.issues, value).map((mistake) => ({ ...mistake, path: [...path, ...mistake.path] }))
  throw mistakenInput(mistakes).reworded(`${mistakes[0]!.path.join('.') || 'The body'}: ${mistakes[0]!.message}`)
}
