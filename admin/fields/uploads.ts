// Uploads of a field: a few at once, with progress, and each can be cancelled.
import { useCallback, useEffect, useRef, useState } from 'react'
import { announce } from '../parts/announce.js'
import { useToasts } from '../parts/toasts.js'
import { useWords } from '../parts/words.js'
import type { MediaFile } from '../server/upload.js'

/** Uploads under way at once. */
const maxAtOnce = 3

/** A file on its way. */
export interface RunningUpload {
  readonly id: number
  readonly name: string
  /** Sent share, 0 to 1. */
  readonly share: number
  readonly cancel: () => void
}

/** Uploads of one place. */
export interface Uploads {
  readonly running: readonly RunningUpload[]
  /** Uploads files; resolves to those that arrived, in their order. What fails is said. */
  readonly upload: (files: readonly File[], folder?: number | null) => Promise<readonly MediaFile[]>
}

let lastId = 0

/** Uploads that end with their component. */
export function useUploads(): Uploads {
  const words = useWords().fields.media
  const toasts = useToasts()
  const [running, setRunning] = useState<readonly RunningUpload[]>([])
  const controllers = useRef(new Set<AbortController>())
  useEffect(() => {
    const all = controllers.current
    return () => {
      for (const controller of all) controller.abort()
    }
  }, [])
  const one = useCallback(
    async (file: File, folder: number | null): Promise<MediaFile | null> => {
      const controller = new AbortController()
      controllers.current.add(controller)
      lastId += 1
      const id = lastId
      const change = (share: number) => setRunning((all) => all.map((upload) => (upload.id === id ? { ...upload, share } : upload)))
      setRunning((all) => [...all, { id, name: file.name, share: 0, cancel: () => controller.abort() }])
      try {
        const { uploadFile } = await import('../server/upload.js')
        return await uploadFile({
          file,
          folder,
          signal: controller.signal,
          onProgress: (sent, total) => change(total === 0 ? 0 : sent / total),
        })
      } catch (error) {
        if (!controller.signal.aborted) toasts.say(words.failed(file.name, error instanceof Error ? error.message : ''), { kind: 'wrong' })
        return null
      } finally {
        controllers.current.delete(controller)
        setRunning((all) => all.filter((upload) => upload.id !== id))
      }
    },
    [toasts, words],
  )
  const upload = useCallback<Uploads['upload']>(
    async (files, folder = null) => {
      const results: (MediaFile | null)[] = []
      const waiting = [...files.entries()]
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) results[next[0]] = await one(next[1], folder)
      }
      await Promise.all(Array.from({ length: Math.min(maxAtOnce, files.length) }, work))
      const arrived = results.filter((file) => file !== null)
      if (arrived.length > 0) announce(words.uploaded(arrived.length))
      return arrived
    },
    [one, words],
  )
  return { running, upload }
}
