// The GET requests that pages of the documentation show as lines of curl.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Paths with queries of all `curl -g 'http://localhost:1337/…'` in these pages. */
export const curlLines = (pages: readonly string[]): readonly string[] =>
  pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^curl -g '?http:\/\/localhost:1337(\/api[^'\s]*)'?/gm)].map(([, path]) => path!),
  )
