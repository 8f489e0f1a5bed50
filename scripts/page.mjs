// Builds the page at /admin into dist/admin, with each text file compressed as it is served.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { build } from 'vite'

const compress = { '.br': promisify(brotliCompress), '.gz': promisify(gzip) }
const folder = 'dist/admin'

/**
 * Builds the page. Returns the paths of all bundled modules.
 * @param {{ write?: boolean }} options without `write`, dist/ stays as it is
 */
export async function buildPage({ write = true } = {}) {
  const inputs = new Set()
  const collect = {
    name: 'collect-inputs',
    generateBundle: (_options, chunks) => {
      for (const { modules = {} } of Object.values(chunks))
        for (const id of Object.keys(modules)) inputs.add(relative('.', id.split('?')[0]))
    },
  }
  await build({ configFile: resolve('admin/vite.config.ts'), logLevel: 'warn', plugins: [collect], build: { write } })
  if (write) await compressFiles()
  return [...inputs].filter((path) => path.includes('node_modules'))
}

async function compressFiles() {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
  const texts = files.filter((file) => statSync(file).isFile() && /\.(?:js|css|svg)$/.test(file))
  await Promise.all(
    texts.flatMap((file) =>
      Object.entries(compress).map(async ([ending, run]) => writeFileSync(file + ending, await run(readFileSync(file)))),
    ),
  )
}
