// What the service and a picture process say to each other, and what comes of it. A process works on one picture at a time.
import type { ImageBounds } from './memory-needs.js'

/** The settings that Strapi's media library keeps in the database. */
export interface ImageSettings {
  readonly sizeOptimization: boolean
  readonly responsiveDimensions: boolean
  readonly autoOrientation: boolean
}

/** A picture made from another, as a file beside it. */
export interface Made {
  readonly path: string
  readonly width: number
  readonly height: number
  readonly bytes: number
}

export interface ImageSize {
  readonly width: number
  readonly height: number
}

export interface SourceImage {
  /** Null where even the header needs more than the bounds allow. */
  readonly width: number | null
  readonly height: number | null
  /** A smaller encoding of the whole picture; null: the one that came is the best. */
  readonly encoded: Made | null
  readonly formats: ReadonlyMap<string, Made>
}

export interface ToImageProcess {
  readonly path: string
  /** Bytes of the file. */
  readonly bytes: number
  readonly mime: string
  readonly settings: ImageSettings
  readonly bounds: ImageBounds
}

export type FromImageProcess =
  /** The process is there, and so is the picture library. */
  | { readonly kind: 'ready' }
  /** The picture library cannot be loaded. */
  | { readonly kind: 'unstarted'; readonly message: string }
  /** The size is known; what follows may take longer or more memory than it may. */
  | { readonly kind: 'measured'; readonly size: ImageSize }
  | { readonly kind: 'formats'; readonly formats: ReadonlyMap<string, Made> }
  /** All is done. Null: the original file is kept. */
  | { readonly kind: 'done'; readonly encoded: Made | null }
  | { readonly kind: 'broken' }
  /** More than the bounds allow is needed; the process is of no use any more. */
  | { readonly kind: 'beyond' }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
