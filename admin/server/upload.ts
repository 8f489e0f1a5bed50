// Uploads by XMLHttpRequest, since `fetch` does not report progress.
import { ApiFailure, type Data } from './client.js'
import { Offline } from './connection.js'
import { pagePath } from './page-path.js'
import { accessToken } from './session.js'

/** A file of the media library. */
export type MediaFile = Data<'/files', 'GET'>[number]

/** One file on its way into the media library. */
export interface Upload {
  readonly file: File
  /** Row id of the folder; null: the root. */
  readonly folder: number | null
  readonly onProgress: (sent: number, total: number) => void
  readonly signal: AbortSignal
}

/** Uploads a file. @throws ApiFailure, Offline, the reason of the signal */
export async function uploadFile(upload: Upload): Promise<MediaFile> {
  const token = await accessToken()
  const first = await send(upload, token)
  const { status, body } = first.status === 401 ? await send(upload, await accessToken(token)) : first
  const { data, error } = (parse(body) ?? {}) as {
    readonly data?: readonly MediaFile[]
    readonly error?: { readonly name: string; readonly message: string; readonly details?: Readonly<Record<string, unknown>> }
  }
  if (status === 201 && data?.[0] !== undefined) return data[0]
  throw new ApiFailure(status, error?.name ?? 'Error', error?.message ?? 'The upload failed', error?.details ?? {})
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function send(
  { file, folder, onProgress, signal }: Upload,
  token: string | null,
): Promise<{ readonly status: number; readonly body: string }> {
  const form = new FormData()
  if (folder !== null) form.set('folder', String(folder))
  form.set('files', file)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const abort = () => {
      request.abort()
      reject(signal.reason)
    }
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const end = (act: () => void) => () => {
      signal.removeEventListener('abort', abort)
      act()
    }
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded, total))
    request.addEventListener(
      'load',
      end(() => resolve({ status: request.status, body: request.responseText })),
    )
    request.addEventListener(
      'error',
      end(() => reject(new Offline('The service cannot be reached'))),
    )
    request.open('POST', `${pagePath}/api/files`)
    if (token !== null) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.send(form)
  })
}
