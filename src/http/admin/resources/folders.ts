// /folders: the folders of the media library.
import * as z from 'zod'
import { checkPasswordAge } from '../../../admin/identity/password-age.js'
import { changeFolder, createFolder, deleteMany } from '../../../admin/media/folder-changes.js'
import { mediaActions } from '../../../admin/media/media-rights.js'
import { listFolders, readFolder } from '../../../content/media/folders.js'
import { notFound } from '../../../foundation/errors/errors.js'
import { idOfCursor, pageOf } from '../cursors.js'
import { folderAnswer, idInput, mediaOf, shownFolder } from '../media.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, folderInput, pageInput, pageMeta } from '../values.js'

const may = (action: keyof typeof mediaActions) => ({ action: mediaActions[action], onFiles: true as const })

const one = z.strictObject({ data: folderAnswer })

async function respondFolder({ administration }: ResourceRequest, id: number) {
  const folder = await readFolder(administration.database, id)
  if (folder === null) throw notFound('Folder not found')
  return answer({ data: shownFolder(folder) })
}

/** As Strapi has names: no slashes, no spaces around them. */
const folderName = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => !name.includes('/'), { error: 'A name of a folder has no slashes' })
  .refine((name) => name.trim() === name, { error: 'A name of a folder neither begins nor ends with a space' })

/** The resources of folders. */
export const folderResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/folders', summary: 'List folders: all, or those in one', who: may('read') },
    query: z.strictObject({
      parent: folderInput.optional(),
      q: z.string().max(500).optional(),
      ...pageInput,
    }),
    answer: z.strictObject({ data: z.array(folderAnswer), meta: pageMeta }),
    handle: async ({ administration, query: { parent, q, limit, after } }) => {
      const inParent = parent === undefined ? undefined : parent === 'root' ? null : Number(parent)
      const wanted = ['folders', parent, q]
      const rows = await listFolders(administration.database, { parent: inParent, q, after: idOfCursor(after, wanted), limit: limit + 1 })
      const { shown, meta } = pageOf(rows, limit, wanted, ({ id }) => id)
      return answer({ data: shown.map(shownFolder), meta })
    },
  }),
  resource({
    ...{ method: 'POST', path: '/folders', summary: 'Make a folder', who: may('create'), status: 201 },
    body: z.strictObject({ name: folderName, parent: idInput.nullable().default(null) }),
    answer: one,
    handle: async (asked) => respondFolder(asked, await createFolder(mediaOf(asked), asked.body)),
    again: (asked, { ids }) => respondFolder(asked, Number(ids[0])),
  }),
  resource({
    ...{ method: 'GET', path: '/folders/:id', summary: 'Read a folder', who: may('read') },
    ...{ params: byId, answer: one },
    handle: (asked) => respondFolder(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PATCH', path: '/folders/:id', summary: 'Rename a folder, or move it with all that lies in it', who: may('update') },
    ...{ params: byId, body: z.strictObject({ name: folderName.optional(), parent: idInput.nullable().optional() }), answer: one },
    handle: async (asked) => {
      await changeFolder(mediaOf(asked), asked.params.id, asked.body)
      return respondFolder(asked, asked.params.id)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/folders/:id', summary: 'Delete a folder; with all that lies in it if that is said', who: may('update') },
    refusals: [409],
    ...{ params: byId, query: z.strictObject({ withContent: z.enum(['true', 'false']).default('false') }), answer: null },
    handle: async (asked) => {
      const withContent = asked.query.withContent === 'true'
      if (withContent) checkPasswordAge(asked.administration, asked.administrator)
      await deleteMany(mediaOf(asked), { files: [], folders: [asked.params.id] }, withContent)
      return nothing()
    },
  }),
]
