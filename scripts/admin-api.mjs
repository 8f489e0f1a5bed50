// Describes the administration API from its table of resources; with --types writes the page's types of it.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bundle } from './bundle.mjs'

const { version } = createRequire(import.meta.url)('../package.json')
const compiled = 'node_modules/.cache/octavo/admin-api.mjs'

/** Returns the OpenAPI document. */
export async function describeAdministration() {
  await build({
    stdin: {
      contents: `export { resources } from './src/http/admin/resources.ts'; export { describeResources } from './src/http/admin/openapi.ts'`,
      resolveDir: process.cwd(),
    },
    outfile: compiled,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: bundle.external,
    banner: bundle.banner,
  })
  const { resources, describeResources } = await import(pathToFileURL(compiled).href)
  return describeResources(resources, { url: '', version })
}

/** Writes the types of the page's requests and responses. */
async function writeTypes() {
  const { default: openapiTypes, astToString } = await import('openapi-typescript')
  const types = astToString(await openapiTypes(await describeAdministration()))
  writeFileSync('admin/server/api.d.ts', `// Generated from the resources of the administration API.\n${types}`)
}

if (process.argv.includes('--types')) await writeTypes()
