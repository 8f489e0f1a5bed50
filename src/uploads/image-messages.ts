// What the service and the picture process say to each other.
import type { Picture, PictureBounds, PictureSettings } from './image-work.js'

export interface ToPictures {
  readonly id: number
  readonly path: string
  readonly mime: string
  readonly settings: PictureSettings
  readonly bounds: PictureBounds
}

export type FromPictures =
  /** Null: the picture is broken. */
  | { readonly id: number; readonly kind: 'made'; readonly picture: Picture | null }
  | { readonly id: number; readonly kind: 'failed'; readonly code: string | undefined; readonly message: string }
