// /files: the files of the media library.
import * as z from 'zod'
import { checkPasswordAge } from '../../../admin/identity/password-age.js'
import { addFiles, changeFile, cropFile, deleteFiles, replaceFile } from '../../../admin/media/file-changes.js'
import { countFiles, fileKinds, fileSorts, filesWithIds, fileWithId, listFiles } from '../../../admin/media/file-list.js'
import { usesOfFile } from '../../../admin/media/file-uses.js'
import { deleteMany, moveMany } from '../../../admin/media/folder-changes.js'
import { checkChangeable, checkMediaRight, mediaActions } from '../../../admin/media/media-rights.js'
import { readFileInfos } from '../../../content/media/file-info.js'
import { validationError } from '../../../foundation/errors/errors.js'
import { versionAnswer } from '../content.js'
import { cursorInput } from '../list-query.js'
import { fileAnswer, idInput, mediaOf } from '../media.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, folderInput, pageInput } from '../values.js'

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

const one = z.strictObject({ data: fileAnswer.extend({ may: z.array(z.enum(['update', 'download', 'copyLink'])) }) })

async function respondFile(asked: ResourceRequest, id: number) {
  return answer({ data: (await fileWithId(mediaOf(asked), id)) as never })
}

const text = z.string().max(100_000).nullable()
const pixels = z.int().min(0).max(1_000_000)
const percent = z.number().min(0).max(100)
const file = z.string().meta({ contentMediaType: 'application/octet-stream' })
const ids = z.array(idInput).max(200).default([])

const lists: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/files', summary: 'List files of the media library', who: may('read') },
    query: z.strictObject({
      ...query,
      sort: z.enum(fileSorts).default('createdAt:desc'),
      ...{ limit: pageInput.limit, after: cursorInput, before: cursorInput },
    }),
    answer: z.strictObject({
      data: z.array(fileAnswer),
      meta: z.strictObject({ limit: z.int(), next: z.string().nullable(), previous: z.string().nullable() }),
    }),
    handle: async (asked) => {
      const { sort, limit, after, before, ...wanted } = asked.query
      const { data, meta } = await listFiles(mediaOf(asked), wanted, { sort, limit, after, before })
      return answer({ data: data as never, meta })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/files/total', summary: 'Count the files of a list, up to 10,000', who: may('read') },
    query: z.strictObject(query),
    answer: z.strictObject({ data: z.strictObject({ total: z.int(), exact: z.boolean() }) }),
    handle: async (asked) => answer({ data: { ...(await countFiles(mediaOf(asked), asked.query)) } }),
  }),
  resource({
    ...{ method: 'POST', path: '/files', summary: 'Upload files to a folder', who: may('create'), status: 201 },
    form: z.strictObject({
      files: z.array(file),
      fileInfo: z.string().optional().describe('JSON: name, alternativeText, caption and focalPoint, one object for each file'),
      folder: z.string().optional().describe('The row id of a folder; without it, the root'),
    }),
    answer: z.strictObject({ data: z.array(fileAnswer) }),
    // The response shows what is stored.
    admit: async ({ administrator }) => checkMediaRight(administrator, 'read'),
    handle: async (asked) => {
      const { files, fields } = asked.form
      const infos = readFileInfos(fields.get('fileInfo'), files.length, 'refused')
      return respondFiles(asked, await addFiles(mediaOf(asked), files, infos, folderOf(fields.get('folder'))))
    },
    again: (asked, { ids }) => respondFiles(asked, ids.map(Number)),
  }),
  resource({
    ...{ method: 'POST', path: '/files/bulk', summary: 'Move or delete files and folders, all or none', who: may('update'), status: 204 },
    ...{ refusals: [404, 409] },
    body: z.strictObject({
      action: z.enum(['move', 'delete']),
      files: ids,
      folders: ids,
      /** Of `move`: where to; null: the root. */
      folder: idInput.nullable().optional(),
      /** Of `delete`: folders need not be empty. */
      withContent: z.boolean().default(false),
    }),
    answer: null,
    handle: async (asked) => {
      const { action, files, folders, folder, withContent } = asked.body
      const many = { files: [...new Set(files)], folders: [...new Set(folders)] }
      if (action === 'move') {
        if (folder === undefined) throw validationError('Say the folder: null is the root')
        await moveMany(mediaOf(asked), many, folder)
        return nothing()
      }
      checkPasswordAge(asked.administration, asked.administrator)
      await deleteMany(mediaOf(asked), many, withContent)
      return nothing()
    },
    again: async () => nothing(),
  }),
]

/** The folder that a form names. @throws ApiError 400 */
function folderOf(given: string | readonly string[] | undefined): number | null {
  if (given === undefined || given === '') return null
  if (typeof given !== 'string' || !/^[1-9]\d{0,14}$/.test(given)) throw validationError('folder must be the row id of a folder')
  return Number(given)
}

/** New files as a response, in the order in which they were sent. */
async function respondFiles(asked: ResourceRequest, ids: readonly number[]) {
  const rows = await filesWithIds(mediaOf(asked), ids)
  return answer({ data: ids.flatMap((id) => rows.find((row) => row.id === id) ?? []) as never })
}

const single: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/files/:id', summary: 'Read a file, and what one may do with it', who: may('read') },
    ...{ params: byId, answer: one },
    handle: (asked) => respondFile(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PATCH', path: '/files/:id', summary: 'Change what is said about a file, or its folder', who: may('update') },
    params: byId,
    body: z.strictObject({
      name: z.string().trim().min(1).max(255).optional(),
      ...{ alternativeText: text.optional(), caption: text.optional() },
      focalPoint: z.strictObject({ x: percent, y: percent }).nullable().optional(),
      folder: idInput.nullable().optional(),
    }),
    answer: one,
    handle: async (asked) => {
      await changeFile(mediaOf(asked), asked.params.id, asked.body)
      return respondFile(asked, asked.params.id)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/files/:id', summary: 'Delete a file with its formats', who: may('update') },
    ...{ params: byId, answer: null },
    handle: async (asked) => {
      await deleteFiles(mediaOf(asked), [asked.params.id])
      return nothing()
    },
  }),
  resource({
    ...{ method: 'POST', path: '/files/:id/replace', summary: 'Give a file other content; its address stays', who: may('update') },
    params: byId,
    form: z.strictObject({ files: z.array(file).length(1), fileInfo: z.string().optional().describe('JSON, as for an upload') }),
    answer: one,
    admit: ({ administration, administrator, params }) => checkChangeable(administration.database, administrator, 'files', [params.id]),
    handle: async (asked) => {
      const { files, fields } = asked.form
      const [sent, ...others] = files
      if (others.length > 0) throw validationError('Cannot replace a file with multiple ones')
      const [info] = readFileInfos(fields.get('fileInfo'), 1, 'refused')
      await replaceFile(mediaOf(asked), asked.params.id, sent!, info!)
      return respondFile(asked, asked.params.id)
    },
    again: (asked) => respondFile(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'POST', path: '/files/:id/crop', summary: 'Cut a part out of a picture, as a new file or in its place', who: may('read') },
    params: byId,
    body: z.strictObject({
      x: pixels,
      y: pixels,
      width: pixels.min(1),
      height: pixels.min(1),
      place: z.enum(['beside', 'instead']).default('beside'),
    }),
    answer: one,
    handle: async (asked) => {
      const access = mediaOf(asked)
      const { place, ...part } = asked.body
      // A picture is not fetched for nothing.
      if (place === 'instead') await checkChangeable(asked.administration.database, asked.administrator, 'files', [asked.params.id])
      else await fileWithId(access, asked.params.id)
      return respondFile(asked, await cropFile(access, asked.params.id, part, place))
    },
    again: (asked, { ids }) => respondFile(asked, Number(ids[0])),
  }),
  resource({
    ...{ method: 'GET', path: '/files/:id/uses', summary: 'List the documents that use a file', who: may('read') },
    params: byId,
    answer: z.strictObject({
      data: z.array(z.strictObject({ type: z.string(), path: z.string(), documents: z.array(versionAnswer), more: z.boolean() })),
      meta: z.strictObject({ more: z.boolean() }),
    }),
    handle: async (asked) => {
      const { administration, administrator, installation, params } = asked
      const grants = await administration.grantsOf(administrator, installation.model)
      const { uses, more } = await usesOfFile(mediaOf(asked), grants, params.id)
      return answer({ data: uses.map((use) => ({ ...use, documents: [...use.documents] as never })), meta: { more } })
    },
  }),
]

/** The resources of files. */
export const fileResources: readonly Resource[] = [...lists, ...single]
