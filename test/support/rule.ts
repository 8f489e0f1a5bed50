// A test that names the rule of docs/spec it proves.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'vitest'

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'spec')
const known = new Set(
  readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/^\*\*([a-z-]+\.\d+)\*\*/gm)].map(([, id]) => id!),
  ),
)

/** A test of the rule `id`, which must be written down in docs/spec as `**id** …`. `timeout`: milliseconds, where the usual ones do not suffice. */
export function rule(id: string, sentence: string, prove: () => Promise<void> | void, timeout?: number): void {
  if (!known.has(id)) throw new Error(`docs/spec has no rule ${id}`)
  test(`${id}: ${sentence}`, prove, timeout)
}
