// Messages at the bottom of the page that belong to no field. Their region is loaded with the first one, or soon after the page.
import { useEffect, useSyncExternalStore } from 'react'
import { announce } from './announce.js'

/** Kind of a message, by colour and icon. */
type ToastKind = 'info' | 'good' | 'wrong'

/** Options of a message. */
export interface ToastOptions {
  readonly kind?: ToastKind
  readonly action?: { readonly label: string; readonly onPress: () => void }
  /** Stays until it is closed; errors always do. */
  readonly isKept?: boolean
}

/** Ways to show messages. */
interface Toasts {
  /** Shows a message; the returned function takes it away. */
  readonly say: (text: string, options?: ToastOptions) => () => void
}

type Region = typeof import('./toast-region.js')

/** After the screen has asked for its own files. */
const preloadMs = 2_000

let region: Region | null = null
let loading: Promise<Region> | null = null
const listeners = new Set<() => void>()

function load(): Promise<Region> {
  loading ??= import('./toast-region.js').then(
    (loaded) => {
      region = loaded
      for (const listener of listeners) listener()
      return loaded
    },
    (error: unknown) => {
      loading = null
      throw error
    },
  )
  return loading
}

/** Messages outside of components; inside, `useToasts()`. */
export const toasts: Toasts = {
  say: (text, options = {}) => {
    if (region !== null) return region.show({ text, ...options })
    let isClosed = false
    let close = () => {}
    load().then(
      ({ show }) => {
        if (!isClosed) close = show({ text, ...options })
      },
      () => announce(text),
    )
    return () => {
      isClosed = true
      close()
    }
  },
}

/** Ways to show messages at the bottom of the page. */
export const useToasts = (): Toasts => toasts

/** The landmark with the messages, once it is loaded. */
export function useToastRegion(): Region['ToastRegion'] | null {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => {}), preloadMs)
    return () => clearTimeout(timer)
  }, [])
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => region?.ToastRegion ?? null,
  )
}
