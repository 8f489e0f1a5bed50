// Messages between the service and an image process, and results.
import type { ImageBounds } from './memory-needs.js'

/** Settings of Strapi's media library. */
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

/** A part of an image as displayed, in pixels from the upper left corner. */
export interface CropBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface ToImageProcess {
  readonly path: string
  readonly bytes: number
  readonly mime: string
  readonly settings: ImageSettings
  readonly bounds: ImageBounds
  /** Null: create formats. Otherwise: only this part, as `encoded`. */
  readonly crop: CropBox | null
}

export type FromImageProcess =
  /** The process has loaded the image library. */
  | { readonly kind: 'ready' }
  /** The image library cannot be loaded. */
  | { readonly kind: 'unstarted'; readonly message: string }
  /** The size is known; later steps may still exceed the limits. */
  | { readonly kind: 'measured'; readonly size: ImageSize }
  | { readonly kind: 'formats'; readonly formats: ReadonlyMap<string, DerivedImage> }
  /** All steps are done; `encoded` is null to use the original file, or if it cannot be cropped. */
  | { readonly kind: 'done'; readonly encoded: DerivedImage | null }
  | { readonly kind: 'broken' }
  /** The image exceeds the limits; the process must be killed. */
  | { readonly kind: 'beyond' }
  | { readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
