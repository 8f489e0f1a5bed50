// The public types of uploads by code of a project: files from a path, from memory or from a stream, for the media library.
import type { Grants } from '../grants.js'

/** The media attribute of a document that a file is linked to. */
export interface FileTarget {
  readonly uid: string
  /** Optional for single types. */
  readonly documentId?: string
  /** The name of the media attribute. A list gets the file at its end, a single one loses the file that it had. */
  readonly field: string
  /** Default: the default locale. */
  readonly locale?: string
}

interface UploadInfo {
  /** The media type that is assumed where the content does not show another one. */
  readonly type?: string
  readonly alternativeText?: string | null
  readonly caption?: string | null
  /** In percent of width and height. */
  readonly focalPoint?: { readonly x: number; readonly y: number } | null
  /** The file is linked to the draft of the document, or to its only version. */
  readonly linkTo?: FileTarget
}

/** A file to upload: the one at `path`, whose name is the default of `name`, or this content. */
export type FileUpload = UploadInfo &
  (
    | { readonly path: string; readonly content?: never; readonly name?: string }
    | { readonly path?: never; readonly content: Uint8Array | AsyncIterable<Uint8Array>; readonly name: string }
  )

/** A file of the media library, as `/api/upload/files` shows it. */
export interface UploadedFile {
  readonly id: number
  readonly documentId: string
  readonly name: string
  readonly alternativeText: string | null
  readonly caption: string | null
  readonly width: number | null
  readonly height: number | null
  readonly formats: Readonly<Record<string, unknown>> | null
  readonly hash: string
  readonly ext: string
  readonly mime: string
  /** Kilobytes. */
  readonly size: number
  readonly url: string
  readonly [attribute: string]: unknown
}

/**
 * Adds a file to the media library, under the rules of `POST /api/upload`: media types, sizes, formats of images. Throws an `ApiError`: 400
 * for a file that may not be stored or a target that is not there, 403 without permission, 413 beyond `limits.fileBytes`.
 */
export type Upload = (file: FileUpload, options?: { readonly grants?: Grants }) => Promise<UploadedFile>
