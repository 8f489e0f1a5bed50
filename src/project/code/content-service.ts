// The service for scripts, hooks, routes and schedules: documents, transactions, uploads and e-mails, for one actor.

import { open } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { type Actor, type ReadyActor, resolveActor, toDocumentId, withGrants } from '../../content/documents/code/actor.js'
import { createService } from '../../content/documents/code/service.js'
import { createTransact } from '../../content/documents/code/transaction.js'
import { readStoredFile } from '../../content/documents/read/service-reads.js'
import { readFileInfos } from '../../content/media/file-info.js'
import type { Library } from '../../content/media/library.js'
import type { MediaLink } from '../../content/media/rows.js'
import type { Config } from '../../foundation/config/config.js'
import { forbidden, validationError } from '../../foundation/errors/errors.js'
import { fullAccess } from '../../foundation/grants.js'
import type { ContentService, SendMail } from '../../foundation/public/content-service.js'
import type { FileTarget, FileUpload, Upload, UploadedFile } from '../../foundation/public/uploads.js'
import { outsideOfCode } from '../../foundation/runtime/project-code.js'
import type { Installation } from '../installation.js'

export type ContentServices = (actor: Actor) => ContentService

export function openContentServices({ folder }: Config, mail: SendMail, options: Omit<UploadServiceOptions, 'folder'>): ContentServices {
  const { withInstallation } = options
  return (actor) => ({
    documents: createService(withInstallation, actor),
    transaction: createTransact(withInstallation, actor),
    upload: openUploadService({ ...options, folder }, actor),
    mail,
  })
}

/** Runs work with the current installation, which stays open until the work has ended. */
export type WithInstallation = <Result>(work: (installation: Installation) => Promise<Result>) => Promise<Result>

interface UploadServiceOptions {
  readonly withInstallation: WithInstallation
  readonly library: Library
  /** True if every file in a response states whether its URL is signed. */
  readonly signsAddresses: boolean
  /** Base folder of relative file paths. */
  readonly folder: string
}

/** The action that `POST /api/upload` requires. */
const uploadAction = 'plugin::upload.content-api.upload'

function openUploadService({ withInstallation, library, signsAddresses, folder }: UploadServiceOptions, actor: Actor): Upload {
  return async (file, { grants } = {}) => {
    const allowed = withGrants(actor, grants)
    checkFile(file)
    const { alternativeText, caption, focalPoint, type = 'application/octet-stream', linkTo } = file
    const infos = readFileInfos({ alternativeText, caption, focalPoint }, 1)
    return outsideOfCode(() =>
      withInstallation(async (installation) => {
        const as = await resolveActor(allowed)
        if (!as.grants.may(uploadAction)) throw forbidden(uploadAction)
        const link = linkTo === undefined ? null : await linkOf(installation, as, linkTo)
        const { name, content } = await contentOf(file, folder)
        const received = await library.receive(content, { name, declared: type })
        try {
          if (received.bytes === 0) throw validationError('Files are empty')
          const { model, watch } = installation
          const caller = as.caller === null ? undefined : `${as.caller.kind} ${as.caller.id ?? ''}`
          const [id] = await library.add([received], infos, link, { model, watch, ...(caller === undefined ? {} : { caller }) })
          return (await readStoredFile(installation.documents, id!, signsAddresses)) as UploadedFile
        } finally {
          await library.discard([received])
        }
      }),
    )
  }
}

const known = [
  'path',
  'content',
  'name',
  'type',
  'alternativeText',
  'caption',
  'focalPoint',
  'linkTo',
] satisfies readonly (keyof FileUpload)[]

/** @throws TypeError unless `file` is a valid upload */
function checkFile(file: FileUpload): void {
  const unknown = Object.keys(file ?? {}).find((key) => !(known as readonly string[]).includes(key))
  if (unknown !== undefined) throw new TypeError(`upload has no parameter ${unknown}: there are ${known.join(', ')}`)
  if ((file?.path === undefined) === (file?.content === undefined))
    throw new TypeError('upload needs either the path of a file or its content')
  if (file.path === undefined && typeof file.name !== 'string') throw new TypeError('upload needs the name of a file whose content it gets')
}

/** Returns name and content of a file. @throws Error if its path does not exist */
async function contentOf(
  file: FileUpload,
  folder: string,
): Promise<{ readonly name: string; readonly content: AsyncIterable<Uint8Array> }> {
  if (file.content !== undefined) return { name: file.name, content: checkedChunks(file.name, file.content) }
  const path = resolve(folder, file.path)
  // Opened first: a missing file is an error of the caller, while later disk errors mean that nothing can be stored.
  const handle = await open(path)
  return { name: file.name ?? basename(path), content: checkedChunks(path, handle.createReadStream()) }
}

/** The chunks of a content. Its errors never count as storage failures, whatever their codes. */
async function* checkedChunks(name: string, content: Uint8Array | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of content instanceof Uint8Array ? [content] : content) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a chunk is not a Uint8Array')
      yield chunk
    }
  } catch (error) {
    throw new Error(`The content of ${name} cannot be read`, { cause: error })
  }
}

/** The row and media attribute that a file is linked to. @throws ApiError 400 if it does not exist; 403 */
async function linkOf({ documents }: Installation, { caller, grants, requestId }: ReadyActor, target: FileTarget): Promise<MediaLink> {
  const { uid, documentId, field, locale } = target
  const type = documents.context.model.types.get(uid)
  const attribute = type?.attributes.get(field)
  if (type === undefined || attribute?.kind !== 'media') throw validationError(`${uid} has no media attribute ${field}`)
  if (!grants.may(`${uid}.update`)) throw forbidden(`${uid}.update`)
  const named = toDocumentId(type, 'upload', documentId === undefined ? {} : { documentId })
  const found = (await documents.findData(
    { ...fullAccess, key: grants.key, scopes: grants.scopes },
    {
      type,
      action: `${uid}.find`,
      mode: 'first',
      envelope: 'bare',
      paged: false,
      ...(named === null ? {} : { identity: { attribute: 'documentId', value: named } }),
      parameters: { status: 'draft', fields: ['id'], ...(locale === undefined ? {} : { locale }) },
    },
  )) as { readonly id: number } | null
  if (found === null) throw validationError(`There is no document ${named ?? ''} of ${uid} to link the file to`)
  const asker = caller === null ? null : { caller, requestId }
  await documents.checkUpload(grants, asker, { shape: type, id: found.id, attribute: field })
  return { shape: type, id: found.id, attribute, everyVersion: false }
}
