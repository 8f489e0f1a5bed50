// Random content models, recorded with Strapi 5.54: Octavo creates the same tables, and responds alike except for named differences.
// Here the conversations about every third model are held; `node test/interop/schemas.mjs` holds all of them and prints the figures;
// with `--record` it records Strapi again.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { replay } from '../interop/schemas-replay.mjs'

const folder = join(import.meta.dirname, 'schemas')
const files = readdirSync(folder).sort()

test.each(files)('%s: the tables are equal, and the responses alike', async (file) => {
  const lines = gunzipSync(readFileSync(join(folder, file)))
    .toString()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const { schemas, refused, tables, requests, alike, named, differences } = await replay(lines, 3)
  expect(differences).toEqual([])
  expect([tables, alike + named]).toEqual([schemas - refused, requests])
  expect(named / requests).toBeLessThan(0.3)
})
