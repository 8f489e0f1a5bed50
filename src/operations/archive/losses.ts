// What an import would lose: counted by what it is and where, with a few examples of each.

/** One kind of loss. */
export interface Loss {
  /** `api::article.article.headline: the project has no such attribute`. */
  readonly what: string
  readonly count: number
  /** Values or rows of it. */
  readonly examples: readonly string[]
}

/** Counts losses. */
export interface Losses {
  note(what: string, example?: string): void
  readonly list: readonly Loss[]
}

/** Examples of one kind. */
const shown = 3

/** Kinds that are told apart; the rest is counted together. */
const kinds = 1_000

export function openLosses(): Losses {
  const found = new Map<string, { count: number; readonly examples: string[] }>()
  return {
    note: (what, example) => {
      const key = found.has(what) || found.size < kinds ? what : 'others'
      const entry = found.get(key) ?? { count: 0, examples: [] }
      found.set(key, entry)
      entry.count++
      if (example !== undefined && entry.examples.length < shown) entry.examples.push(example)
    },
    get list() {
      return [...found].map(([what, { count, examples }]) => ({ what, count, examples }))
    },
  }
}
