// The languages of the page: which exist, which one the reader takes, and their catalogs, each a chunk.
import type { en } from './en.js'

/** Every text of the page; a catalog of another language has the same form. */
export type Words = typeof en

/** Languages of the page by their code, named in themselves. */
export const languages = { en: 'English', de: 'Deutsch' } as const

/** Code of a language of the page. */
export type Language = keyof typeof languages

const catalogs: Readonly<Record<Language, () => Promise<Words>>> = {
  en: async () => (await import('./en.js')).en,
  de: async () => (await import('./de.js')).de,
}

/** Key of the chosen language in the browser's storage. */
export const languageKey = 'octavo.language'

const isLanguage = (code: string | null | undefined): code is Language => code != null && Object.hasOwn(languages, code)

/** The chosen language, or the first of the browser's languages that the page has. */
export function preferredLanguage(): Language {
  const chosen = localStorage.getItem(languageKey)
  if (isLanguage(chosen)) return chosen
  return navigator.languages.map((one) => one.split('-')[0]).find(isLanguage) ?? 'en'
}

const loaded = new Map<Language, Promise<Words>>()

/** The catalog of a language, loaded once. */
export function loadWords(language: Language): Promise<Words> {
  const known = loaded.get(language)
  if (known !== undefined) return known
  const loading = catalogs[language]()
  loaded.set(language, loading)
  loading.catch(() => loaded.delete(language))
  return loading
}
