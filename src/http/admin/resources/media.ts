// /files and /folders: the media library.

import * as z from 'zod'
import { checkPasswordAge } from '../../../admin/identity/sign-in.js'
import { listFileUses } from '../../../admin/media/file-uses.js'
import {
  addFiles,
  changeFile,
  countFiles,
  cropFile,
  deleteFiles,
  fileKinds,
  fileSorts,
  listFiles,
  readFileView,
  readFileViews,
  replaceFile,
} from '../../../admin/media/files.js'
import { changeFolder, createFolder, deleteMany, moveMany } from '../../../admin/media/folders.js'
import { checkChangeable, checkMediaRight, mediaActions } from '../../../admin/media/media-access.js'
import { byId, folderInput, pageInput, pageMeta, parseCursor, toPage } from '../../../admin/values.js'
import { readFileInfos } from '../../../content/media/file-info.js'
import { listFolders, readFolder } from '../../../content/media/folders.js'
import { inputError, notFound } from '../../../foundation/errors/errors.js'
import { refusal } from '../../../foundation/errors/schema-issues.js'
import { cursorInput, cursorMeta, totalSchema, usesSchema } from '../content.js'
import { fileSchema, folderSchema, idInput, mediaAccess, toFolder } from '../media.js'
import { type Resource, type ResourceRequest, resource, respond, respondNothing } from '../resource.js'

const may = (action: keyof typeof mediaActions) => ({ action: mediaActions[action], onFiles: true as const })

const query = {
  folder: folderInput.optional(),
  q: z.string().max(500).optional(),
  kind: z.enum(fileKinds).optional(),
  mime: z.string().max(255).optional(),
  lacksText: z
    .literal('true')
    .transform(() => true as const)
    .optional(),
}

const fileResponse = z.strictObject({ data: fileSchema.extend({ may: z.array(z.enum(['update', 'download', 'copyLink'])) }) })

async function respondFile(context: ResourceRequest, id: number) {
  return respond({ data: (await readFileView(mediaAccess(context), id)) as never })
}

const text = z.string().max(100_000).nullable()
const pixels = z.int().min(0).max(1_000_000)
const percent = z.number().min(0).max(100)
const file = z.string().meta({ contentMediaType: 'application/octet-stream' })
const ids = z.array(idInput).max(200).default([])

const lists: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/files',
    summary: 'List files of the media library',
    who: may('read'),
    query: z.strictObject({
      ...query,
      sort: z.enum(fileSorts).default('createdAt:desc'),
      limit: pageInput.limit,
      after: cursorInput,
      before: cursorInput,
    }),
    response: z.strictObject({ data: z.array(fileSchema), meta: cursorMeta }),
    handle: async (context) => {
      const { sort, limit, after, before, ...wanted } = context.query
      const { data, meta } = await listFiles(mediaAccess(context), wanted, { sort, limit, after, before })
      return respond({ data: data as never, meta })
    },
  }),
  resource({
    method: 'GET',
    path: '/files/total',
    summary: 'Count the files of a list, up to 10,000',
    who: may('read'),
    query: z.strictObject(query),
    response: totalSchema,
    handle: async (context) => respond({ data: await countFiles(mediaAccess(context), context.query) }),
  }),
  resource({
    method: 'POST',
    path: '/files',
    summary: 'Upload files to a folder',
    who: may('create'),
    status: 201,
    form: z.strictObject({
      files: z.array(file),
      fileInfo: z.string().optional().describe('JSON: name, alternativeText, caption and focalPoint, one object for each file'),
      folder: z.string().optional().describe('The row id of a folder; without it, the root'),
    }),
    response: z.strictObject({ data: z.array(fileSchema) }),
    // The response contains the stored file.
    admit: async ({ administrator }) => checkMediaRight(administrator, 'read'),
    handle: async (context) => {
      const { files, fields } = context.form
      const infos = readFileInfos(fields.get('fileInfo'), files.length, 'refused')
      return respondFiles(context, await addFiles(mediaAccess(context), files, infos, folderOf(fields.get('folder'))))
    },
    respondAgain: (context, { ids }) => respondFiles(context, ids.map(Number)),
  }),
  resource({
    method: 'POST',
    path: '/files/bulk',
    summary: 'Move or delete files and folders, all or none',
    who: may('update'),
    status: 204,
    refusals: [404, 409],
    body: z.strictObject({
      action: z.enum(['move', 'delete']),
      files: ids,
      folders: ids,
      /** For `move`: the target; null: the root. */
      folder: idInput.nullable().optional(),
      /** For `delete`: folders need not be empty. */
      withContent: z.boolean().default(false),
    }),
    response: null,
    handle: async (context) => {
      const { action, files, folders, folder, withContent } = context.body
      const many = { files: [...new Set(files)], folders: [...new Set(folders)] }
      if (action === 'move') {
        if (folder === undefined) throw inputError('Say the folder: null is the root', ['folder'], 'required')
        await moveMany(mediaAccess(context), many, folder)
        return respondNothing()
      }
      checkPasswordAge(context.administration, context.administrator)
      await deleteMany(mediaAccess(context), many, withContent)
      return respondNothing()
    },
    respondAgain: async () => respondNothing(),
  }),
]

/** The folder of a form. @throws ApiError 400 */
function folderOf(given: string | readonly string[] | undefined): number | null {
  if (given === undefined || given === '') return null
  if (typeof given !== 'string' || !/^[1-9]\d{0,14}$/.test(given))
    throw inputError('folder must be the row id of a folder', ['folder'], 'type', { expected: 'integer' })
  return Number(given)
}

/** New files as a response, in the order of the upload. */
async function respondFiles(context: ResourceRequest, ids: readonly number[]) {
  const rows = await readFileViews(mediaAccess(context), ids)
  return respond({ data: ids.flatMap((id) => rows.find((row) => row.id === id) ?? []) as never })
}

const single: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/files/:id',
    summary: 'Read a file, and what one may do with it',
    who: may('read'),
    params: byId,
    response: fileResponse,
    handle: (context) => respondFile(context, context.params.id),
  }),
  resource({
    method: 'PATCH',
    path: '/files/:id',
    summary: 'Change the information about a file, or its folder',
    who: may('update'),
    params: byId,
    body: z.strictObject({
      name: z.string().trim().min(1).max(255).optional(),
      alternativeText: text.optional(),
      caption: text.optional(),
      focalPoint: z.strictObject({ x: percent, y: percent }).nullable().optional(),
      folder: idInput.nullable().optional(),
    }),
    response: fileResponse,
    handle: async (context) => {
      await changeFile(mediaAccess(context), context.params.id, context.body)
      return respondFile(context, context.params.id)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/files/:id',
    summary: 'Delete a file with its formats',
    who: may('update'),
    params: byId,
    response: null,
    handle: async (context) => {
      await deleteFiles(mediaAccess(context), [context.params.id])
      return respondNothing()
    },
  }),
  resource({
    method: 'POST',
    path: '/files/:id/replace',
    summary: 'Give a file other content; its address stays',
    who: may('update'),
    params: byId,
    form: z.strictObject({ files: z.array(file).length(1), fileInfo: z.string().optional().describe('JSON, as for an upload') }),
    response: fileResponse,
    admit: ({ administration, administrator, params }) => checkChangeable(administration.database, administrator, 'files', [params.id]),
    handle: async (context) => {
      const { files, fields } = context.form
      const [sent, ...others] = files
      if (others.length > 0) throw inputError('Cannot replace a file with multiple ones', ['files'], 'maxItems', { max: 1 })
      const [info] = readFileInfos(fields.get('fileInfo'), 1, 'refused')
      await replaceFile(mediaAccess(context), context.params.id, sent!, info!)
      return respondFile(context, context.params.id)
    },
    respondAgain: (context) => respondFile(context, context.params.id),
  }),
  resource({
    method: 'POST',
    path: '/files/:id/crop',
    summary: 'Cut a part out of a picture, as a new file or in its place',
    who: may('read'),
    params: byId,
    body: z.strictObject({
      x: pixels,
      y: pixels,
      width: pixels.min(1),
      height: pixels.min(1),
      place: z.enum(['beside', 'instead']).default('beside'),
    }),
    response: fileResponse,
    handle: async (context) => {
      const access = mediaAccess(context)
      const { place, ...part } = context.body
      // A picture is not fetched for nothing.
      if (place === 'instead') await checkChangeable(context.administration.database, context.administrator, 'files', [context.params.id])
      else await readFileView(access, context.params.id)
      return respondFile(context, await cropFile(access, context.params.id, part, place))
    },
    respondAgain: (context, { ids }) => respondFile(context, Number(ids[0])),
  }),
  resource({
    method: 'GET',
    path: '/files/:id/uses',
    summary: 'List the documents that use a file',
    who: may('read'),
    params: byId,
    response: z.strictObject({ data: usesSchema, meta: z.strictObject({ more: z.boolean() }) }),
    handle: async (context) => {
      const { administration, administrator, installation, params } = context
      const grants = await administration.grantsOf(administrator, installation.model)
      const { uses, more } = await listFileUses(mediaAccess(context), grants, params.id)
      return respond({ data: uses, meta: { more } })
    },
  }),
]

/** The resources of files. */
export const fileResources: readonly Resource[] = [...lists, ...single]

const folderResponse = z.strictObject({ data: folderSchema })

async function respondFolder({ administration }: ResourceRequest, id: number) {
  const folder = await readFolder(administration.database, id)
  if (folder === null) throw notFound('Folder not found')
  return respond({ data: toFolder(folder) })
}

/** Names as in Strapi: without slashes and surrounding spaces. */
const folderName = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => !name.includes('/'), refusal('A name of a folder has no slashes', { code: 'format', params: { expected: 'name' } }))
  .refine(
    (name) => name.trim() === name,
    refusal('A name of a folder neither begins nor ends with a space', { code: 'format', params: { expected: 'name' } }),
  )

/** The resources of folders. */
export const folderResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/folders',
    summary: 'List folders: all, or those in one',
    who: may('read'),
    query: z.strictObject({
      parent: folderInput.optional(),
      q: z.string().max(500).optional(),
      ...pageInput,
    }),
    response: z.strictObject({ data: z.array(folderSchema), meta: pageMeta }),
    handle: async ({ administration, query: { parent, q, limit, after } }) => {
      const inParent = parent === undefined ? undefined : parent === 'root' ? null : Number(parent)
      const wanted = ['folders', parent, q]
      const rows = await listFolders(administration.database, { parent: inParent, q, after: parseCursor(after, wanted), limit: limit + 1 })
      const { shown, meta } = toPage(rows, limit, wanted, ({ id }) => id)
      return respond({ data: shown.map(toFolder), meta })
    },
  }),
  resource({
    method: 'POST',
    path: '/folders',
    summary: 'Make a folder',
    who: may('create'),
    status: 201,
    body: z.strictObject({ name: folderName, parent: idInput.nullable().default(null) }),
    response: folderResponse,
    handle: async (context) => respondFolder(context, await createFolder(mediaAccess(context), context.body)),
    respondAgain: (context, { ids }) => respondFolder(context, Number(ids[0])),
  }),
  resource({
    method: 'GET',
    path: '/folders/:id',
    summary: 'Read a folder',
    who: may('read'),
    params: byId,
    response: folderResponse,
    handle: (context) => respondFolder(context, context.params.id),
  }),
  resource({
    method: 'PATCH',
    path: '/folders/:id',
    summary: 'Rename a folder, or move it with its content',
    who: may('update'),
    params: byId,
    body: z.strictObject({ name: folderName.optional(), parent: idInput.nullable().optional() }),
    response: folderResponse,
    handle: async (context) => {
      await changeFolder(mediaAccess(context), context.params.id, context.body)
      return respondFolder(context, context.params.id)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/folders/:id',
    summary: 'Delete a folder, optionally with its content',
    who: may('update'),
    refusals: [409],
    params: byId,
    query: z.strictObject({ withContent: z.enum(['true', 'false']).default('false') }),
    response: null,
    handle: async (context) => {
      const withContent = context.query.withContent === 'true'
      if (withContent) checkPasswordAge(context.administration, context.administrator)
      await deleteMany(mediaAccess(context), { files: [], folders: [context.params.id] }, withContent)
      return respondNothing()
    },
  }),
]
