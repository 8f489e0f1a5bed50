// The texts of the page in the reader's language, and the choice of that language.
import { createContext, type ReactNode, startTransition, use, useEffect, useMemo, useState } from 'react'
import { type Language, languageKey, loadWords, preferredLanguage, type Words } from '../words/catalog.js'
import { type Format, formatOf } from '../words/format.js'

interface Reading {
  readonly words: Words
  readonly format: Format
  readonly language: Language
  readonly setLanguage: (language: Language) => void
}

const ReadingContext = createContext<Reading | null>(null)

/** Gives the texts to everything inside; suspends until the catalog is loaded. */
export function WordsProvider({ children }: { readonly children: ReactNode }) {
  const [language, choose] = useState(preferredLanguage)
  const words = use(loadWords(language))
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const reading = useMemo<Reading>(
    () => ({
      words,
      format: formatOf(language),
      language,
      setLanguage: (next) => {
        localStorage.setItem(languageKey, next)
        startTransition(() => choose(next))
      },
    }),
    [words, language],
  )
  return <ReadingContext value={reading}>{children}</ReadingContext>
}

function useReading(): Reading {
  const reading = use(ReadingContext)
  if (reading === null) throw new Error('WordsProvider is missing.')
  return reading
}

/** Every text of the page in the reader's language. */
export const useWords = (): Words => useReading().words

/** Formatters of numbers, dates and lists in the reader's language. */
export const useFormat = (): Format => useReading().format

/** The reader's language, and the way to change it. */
export function useLanguage(): readonly [Language, (language: Language) => void] {
  const { language, setLanguage } = useReading()
  return [language, setLanguage]
}
