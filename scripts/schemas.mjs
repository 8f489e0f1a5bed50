// Writes schemas/: the JSON schemas of content-types and components, made from the tables in src/model/schema.
import { mkdirSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'

/** @param {string} folder */
export async function writeSchemas(folder) {
  const { outputFiles } = await build({
    entryPoints: ['src/model/schema/json-schema.ts'],
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', target: 'node20' },
  })
  const { contentTypeSchema, componentSchema } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
  mkdirSync(folder, { recursive: true })
  for (const [name, schema] of [
    ['content-type', contentTypeSchema()],
    ['component', componentSchema()],
  ])
    writeFileSync(`${folder}/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`)
}
