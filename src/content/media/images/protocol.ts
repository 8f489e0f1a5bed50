// The messages between the service and an image process, and the results. A process handles one image at a time.
import type { ImageBounds } from './memory-needs.js'

/** The settings of Strapi's media library in the database. */
export interface ImageSettings {
  readonly sizeOptimization: boolean
  readonly responsiveDimensions: boolean
  readonly autoOrientation: boolean
}

/** An image derived from another one, as a file in the same folder. */
export interface DerivedImage {
  readonly path: string
  readonly width: number
  readonly height: number
  readonly bytes: number
}

/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** A processed image with its formats. */
export interface SourceImage {
  /** Null if even reading the header exceeds the limits. */
  readonly width: number | null
  readonly height: number | null
  /** A smaller encoding of the whole image; null if the original is the best. */
  readonly encoded: DerivedImage | null
  readonly formats: ReadonlyMap<string, DerivedImage>
}

/** A part of an image as it is shown, in pixels from its upper left corner. */
export interface CropBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** An image to process. */
export interface ToImageProcess {
  readonly path: string
  /** Bytes of the file. */
  readonly bytes: number
  readonly mime: string
  readonly settings: ImageSettings
  readonly bounds: ImageBounds
  /** Null: formats are made. Otherwise only this part of it, in place of a smaller encoding. */
  readonly crop: CropBox | null
}

/** A message of an image process. */
export type FromImageProcess =
  /** The process has started and loaded the image library. */
  | { readonly kind: 'ready' }
  /** The image library cannot be loaded. */
  | { readonly kind: 'unstarted'; readonly message: string }
  /** The size is known; later steps may still exceed the limits. */
  | { readonly kind: 'measured'; readonly size: ImageSize }
  | { readonly kind: 'formats'; readonly formats: ReadonlyMap<string, DerivedImage> }
  /** All steps are done; `encoded` is null if the original file is kept, or if it cannot be cropped like this. */
  | { readonly kind: 'done'; readonly encoded: DerivedImage | null }
  | { readonly kind: 'broken' }
  /** The image exceeds the limits; the process must be killed. */
  | { readonly kind: 'beyond' }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
