// Numbers, dates, plurals and lists in a language, by Intl; formatters are made once.

/** Words of a name in code: `readingMinutes` becomes "Reading minutes". */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z\d])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A person in a response. */
export interface Person {
  readonly firstname?: string | null
  readonly lastname?: string | null
}

/** First and last name; empty: neither is known. */
export const personName = ({ firstname, lastname }: Person): string => [firstname, lastname].filter(Boolean).join(' ')

/** Texts of a number by its plural category; `{}` is replaced by the number. */
export type Plural = Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string }

/** Formatters of one language. */
export interface Format {
  readonly language: string
  readonly number: (value: number) => string
  /** A share of 1 as a percentage. */
  readonly percent: (value: number) => string
  /** Bytes in the largest fitting unit. */
  readonly bytes: (value: number) => string
  readonly date: (value: Date) => string
  readonly time: (value: Date) => string
  readonly dateTime: (value: Date) => string
  /** Date and time with weekday, seconds and time zone. */
  readonly fullTime: (value: Date) => string
  /** Distance between two timestamps, as in "2 hours ago". */
  readonly relative: (value: Date, now: Date) => string
  readonly list: (values: readonly string[]) => string
  readonly plural: (count: number, forms: Plural) => string
  /** Name of a language by its code, or the code. */
  readonly languageName: (code: string) => string
  readonly compare: (a: string, b: string) => number
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** The reader's region of a language, as in `en-GB`; the language where the browser has none. */
function regionOf(language: string): string {
  const asked = typeof navigator === 'undefined' ? [] : navigator.languages
  return asked.find((one) => one === language || one.startsWith(`${language}-`)) ?? language
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function relativeIn(region: string): Format['relative'] {
  const short = once(() => new Intl.RelativeTimeFormat(region, { numeric: 'auto' }))
  return (value, now) => {
    const seconds = (value.getTime() - now.getTime()) / 1000
    const [unit, size] = steps.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', Infinity]
    return short().format(Math.trunc(seconds / size), unit)
  }
}

function bytesIn(region: string): Format['bytes'] {
  return (value) => {
    const step = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), sizes.length - 1)
    const digits = step < 2 ? 0 : 1
    return new Intl.NumberFormat(region, { style: 'unit', unit: sizes[step], unitDisplay: 'short', maximumFractionDigits: digits }).format(
      value / 1000 ** step,
    )
  }
}

function pluralIn(language: string, number: Format['number']): Format['plural'] {
  const rules = once(() => new Intl.PluralRules(language))
  return (count, forms) => (forms[rules().select(count)] ?? forms.other).replaceAll('{}', number(count))
}

function makeFormat(language: string): Format {
  const region = regionOf(language)
  const dates = (options: Intl.DateTimeFormatOptions) => {
    const format = once(() => new Intl.DateTimeFormat(region, options))
    return (value: Date) => format().format(value)
  }
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = once(() => new Intl.NumberFormat(region, options))
    return (value: number) => format().format(value)
  }
  const number = numbers({ maximumFractionDigits: 20 })
  const list = once(() => new Intl.ListFormat(region))
  const names = once(() => new Intl.DisplayNames(language, { type: 'language' }))
  const order = once(() => new Intl.Collator(region, { numeric: true }))
  return {
    language,
    number,
    percent: numbers({ style: 'percent', maximumFractionDigits: 0 }),
    bytes: bytesIn(region),
    date: dates({ dateStyle: 'medium' }),
    time: dates({ timeStyle: 'short' }),
    dateTime: dates({ dateStyle: 'medium', timeStyle: 'short' }),
    fullTime: dates({ dateStyle: 'full', timeStyle: 'long' }),
    relative: relativeIn(region),
    list: (values) => list().format(values),
    plural: pluralIn(language, number),
    languageName: (code) => {
      try {
        return names().of(code) ?? code
      } catch {
        return code
      }
    },
    compare: (a, b) => order().compare(a, b),
  }
}

const formats = new Map<string, Format>()

/** The formatters of a language. */
export function formatOf(language: string): Format {
  const known = formats.get(language)
  if (known !== undefined) return known
  const made = makeFormat(language)
  formats.set(language, made)
  return made
}
