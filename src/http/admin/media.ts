// The media library as the resources of the administration API use it: forms with files, and files and folders in responses.
import * as z from 'zod'
import type { MediaAccess } from '../../admin/media/media-access.js'
import { timestamp, toTimestampOrNull } from '../../admin/values.js'
import type { FolderRow } from '../../content/media/folders.js'
import { inputError } from '../../foundation/errors/errors.js'
import { isMultipart, type MultipartBody, readMultipart } from '../multipart.js'
import type { ResourceRequest } from './resource.js'

/** The media library for the administrator of a request. */
export const mediaAccess = ({ administration, administrator, actor, installation, parts }: ResourceRequest): MediaAccess => ({
  administration,
  administrator,
  actor,
  documents: installation.documents,
  model: installation.model,
  watch: installation.watch,
  library: parts.backend.library,
  signsAddresses: parts.backend.signsAddresses,
})

/**
 * Reads a form with files, runs `work`, and deletes remaining temporary files.
 * @throws ApiError 400 for another body, and for unknown fields; 413 beyond a limit
 */
export async function withForm<Result>(
  { parts, request }: Pick<ResourceRequest, 'parts' | 'request'>,
  { shape }: z.ZodObject,
  work: (form: MultipartBody) => Promise<Result>,
): Promise<Result> {
  const { library } = parts.backend
  if (!isMultipart(request.raw))
    throw inputError('The body must be a form with files, with the content type multipart/form-data', [], 'type', { expected: 'form' })
  const form = await readMultipart(request.raw, library, () => parts.bodies.begin(request.ip))
  try {
    const [unknown] = [...form.fields.keys()].filter((name) => name === 'files' || !Object.hasOwn(shape, name)).concat(form.otherFiles)
    if (unknown !== undefined) throw unknownField(unknown.slice(0, 100))
    if (form.files.length === 0 || form.files.every(({ bytes }) => bytes === 0)) throw inputError('Files are empty', ['files'], 'required')
    return await work(form)
  } finally {
    await library.discard(form.files)
  }
}

const unknownField = (name: string) => inputError(`Unknown field: ${name}`, [name], 'unknown', { name })

const person = z.looseObject({ id: z.int(), firstname: z.string().nullable(), lastname: z.string().nullable() }).nullable()

/** A file in a response. */
export const fileSchema = z.looseObject({
  id: z.int(),
  documentId: z.string(),
  name: z.string(),
  alternativeText: z.string().nullable(),
  caption: z.string().nullable(),
  focalPoint: z.unknown(),
  width: z.int().nullable(),
  height: z.int().nullable(),
  /** The smaller formats of an image by their names. */
  formats: z.unknown(),
  ext: z.string().nullable(),
  mime: z.string(),
  /** Kilobytes. */
  size: z.number(),
  url: z.string(),
  /** Null: in the root. */
  folder: z.looseObject({ id: z.int(), name: z.string(), path: z.string() }).nullable(),
  createdAt: z.string().nullable(),
  updatedAt: z.string().nullable(),
  createdBy: person,
  updatedBy: person,
})

/** A folder in a response. */
export const folderSchema = z.strictObject({
  id: z.int(),
  documentId: z.string(),
  name: z.string(),
  path: z.string(),
  parent: z.int().nullable(),
  createdAt: timestamp.nullable(),
  updatedAt: timestamp.nullable(),
})

/** A folder as a response. */
export const toFolder = ({ id, documentId, name, path, parent, createdAt, updatedAt }: FolderRow): z.input<typeof folderSchema> => ({
  id,
  documentId,
  name,
  path,
  parent,
  createdAt: toTimestampOrNull(createdAt),
  updatedAt: toTimestampOrNull(updatedAt),
})

/** A row id in a body. */
export const idInput = z.int().positive().max(999_999_999_999_999)
