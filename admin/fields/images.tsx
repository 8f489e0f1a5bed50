// Pictures of the media library for rich text: the picker, and uploads of pasted files.
import { lazy, type ReactNode, Suspense, useCallback, useRef, useState } from 'react'
import type { Entry } from '../form/values.js'
import { useUploads } from './uploads.js'

const MediaPicker = lazy(() => import('./media-picker.js'))

/** Sources of pictures; `dialog` belongs next to the editor. */
export interface Images {
  readonly chooseImages: () => Promise<readonly Entry[]>
  readonly uploadImages: (files: readonly File[]) => Promise<readonly Entry[]>
  readonly dialog: ReactNode
}

/** Members of a file that rich text stores. */
const storedMembers = [
  ...['name', 'alternativeText', 'url', 'caption', 'width', 'height', 'formats', 'hash', 'ext', 'mime', 'size'],
  ...['previewUrl', 'provider', 'provider_metadata', 'createdAt', 'updatedAt'],
]

const toStored = (file: Entry): Entry =>
  Object.fromEntries(storedMembers.flatMap((name) => (file[name] === undefined ? [] : [[name, file[name]]])))

/** Gives an editor pictures of the media library. */
export function useImages(): Images {
  const [isOpen, setIsOpen] = useState(false)
  const answer = useRef((_files: readonly Entry[]) => {})
  const { upload } = useUploads()
  const chooseImages = useCallback(
    () =>
      new Promise<readonly Entry[]>((resolve) => {
        answer.current = (files) => resolve(files.map(toStored))
        setIsOpen(true)
      }),
    [],
  )
  const uploadImages = useCallback(async (files: readonly File[]) => (await upload(files)).map(toStored), [upload])
  const close = (files: readonly Entry[]) => {
    setIsOpen(false)
    answer.current(files)
  }
  const dialog = isOpen && (
    <Suspense>
      <MediaPicker kinds={['image']} isMultiple onChoose={close} onClose={() => close([])} />
    </Suspense>
  )
  return { chooseImages, uploadImages, dialog }
}
