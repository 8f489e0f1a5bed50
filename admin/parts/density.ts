// Density of rows and fields, stored in this browser.
import { useSyncExternalStore } from 'react'

/** Heights of rows and fields. */
export type Density = 'comfortable' | 'compact'

const key = 'octavo.density'
const listeners = new Set<() => void>()

const stored = (): Density => (localStorage.getItem(key) === 'compact' ? 'compact' : 'comfortable')

const apply = () => {
  document.documentElement.dataset.density = stored()
}

apply()

/** Chooses the density of the page. */
export function setDensity(density: Density): void {
  localStorage.setItem(key, density)
  apply()
  for (const listener of listeners) listener()
}

/** The density of the page. */
export const useDensity = (): Density =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, stored)
