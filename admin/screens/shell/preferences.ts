// Preferences of this browser: appearance, density, letters as keys, hidden boxes of the home screen.
import { useSyncExternalStore } from 'react'

/** Preferences with the values of a browser that has none. */
const defaults = { theme: 'system', density: 'comfortable', letterKeys: 'on', hiddenBoxes: '' } as const

/** The name of a preference. */
type PreferenceName = keyof typeof defaults

const listeners = new Set<() => void>()
const keyOf = (name: PreferenceName): string => `octavo.${name}`

/** The value of a preference. */
export const preference = (name: PreferenceName): string => localStorage.getItem(keyOf(name)) ?? defaults[name]

/** Stores a preference for this browser; its other tabs follow. */
export function setPreference(name: PreferenceName, value: string): void {
  localStorage.setItem(keyOf(name), value)
  applyPreferences()
}

/** Gives the document the appearance that is preferred. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement
  const theme = preference('theme')
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  dataset.density = preference('density')
  for (const listener of listeners) listener()
}

function listen(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('storage', applyPreferences)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) removeEventListener('storage', applyPreferences)
  }
}

/** The value of a preference, and the function that changes it. */
export function usePreference(name: PreferenceName): readonly [string, (value: string) => void] {
  const value = useSyncExternalStore(listen, () => preference(name))
  return [value, (next) => setPreference(name, next)]
}
