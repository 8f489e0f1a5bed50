// The project that Strapi's changes of a model were recorded on, and those recordings.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { builtinTypes } from '../../src/model/builder/builtin-types.js'
import type { ProjectSchema, ProjectSchemas, SchemaContent } from '../../src/model/builder/project-schemas.js'

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'model')

/** Lines of a file of recordings. */
export const recordings = <Line>(file: string): readonly Line[] =>
  gunzipSync(readFileSync(join(folder, file)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

/** True for a recorded change by the route that Strapi 5.54's panel calls; its older routes do not exist here. */
export const isUpdateSchema = <Step extends { readonly path?: string }>(step: Step): step is Step & { readonly method: 'POST' } =>
  step.path === '/content-type-builder/update-schema'

/** True for a recorded request that changes the model. */
export const isWrite = ({ method, path }: { readonly method?: string | undefined; readonly path?: string }): boolean =>
  method !== undefined && method !== 'GET' && path!.startsWith('/content-type-builder/')

/** The files below src/ of the recorded project, path → text. */
export async function projectFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const archive = extract()
  archive.end(gunzipSync(readFileSync(join(folder, 'project.tar.gz'))))
  for await (const entry of archive) {
    const parts: Buffer[] = []
    for await (const part of entry) parts.push(part as Buffer)
    const path = entry.header.name.replace(/^(?:\.\/)?project\//, '')
    if (entry.header.type === 'file' && path.startsWith('src/')) files.set(path, Buffer.concat(parts).toString('utf8'))
  }
  return files
}

function uidOf(path: string): string | null {
  const [, type, plugin, singular] = /^src\/(api|extensions)\/([^/]+)\/content-types\/([^/]+)\/schema\.json$/.exec(path) ?? []
  if (type !== undefined) return `${type === 'api' ? 'api' : 'plugin'}::${plugin}.${singular}`
  const [, category, name] = /^src\/components\/([^/]+)\/([^/]+)\.json$/.exec(path) ?? []
  return category === undefined ? null : `${category}.${name}`
}

/** The schemas of a project with these files. */
export function schemasOf(files: ReadonlyMap<string, string>, more: Partial<ProjectSchemas> = {}): ProjectSchemas {
  const schemas = new Map<string, ProjectSchema>(builtinTypes().map((schema) => [schema.uid, schema]))
  for (const [path, text] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const uid = uidOf(path)
    if (uid !== null) schemas.set(uid, { uid, path, content: JSON.parse(text) as SchemaContent })
  }
  return {
    schemas,
    isTypeScript: false,
    isStrapis: true,
    files: [...files.keys()],
    customFields: new Set(),
    ...more,
  }
}
