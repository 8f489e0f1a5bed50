// What a start of a project depends on: its schemas, its configuration with the code it imports, and .env. Compares two states of it.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { parseEnv } from 'node:util'
import { withoutMark } from '../../../foundation/runtime/byte-order-mark.js'
import { followImports } from './imports.js'

/** One state of the inputs of a project. */
export interface ProjectInputs {
  /** The text of each file by its path, relative to the project; .env is not among them. */
  readonly files: ReadonlyMap<string, string>
  /** The variables in .env. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Folders outside the fixed ones that have, or would have, imported files; absolute. */
  readonly importFolders: ReadonlySet<string>
}

/** Folders whose schema files are inputs, and those of Strapi's configuration. */
const schemaFolders = ['src/api', 'src/components', 'src/extensions']
export const inputFolders: readonly string[] = [...schemaFolders, 'config']

const configuration = /^(?:octavo\.config|config[/\\](?:env[/\\]development[/\\])?(?:api|database))\.(?:json|[cm]?js|ts)$/

/** True for the name of a file that could be an input. */
export const mayBeInput = (name: string): boolean => name === '.env' || /\.(?:json|[cm]?[jt]s)$/.test(name)

/** Reads the inputs of the project in `root`. Files that cannot be read count as absent. */
export function readInputs(root: string): ProjectInputs {
  const path = (file: string): string => relative(root, file)
  const schemas = schemaFolders.flatMap((folder) => filesBelow(join(root, folder))).filter((file) => file.endsWith('.json'))
  const own = [...filesIn(root), ...filesBelow(join(root, 'config'))].filter((file) => configuration.test(path(file)))
  const { files, missing } = followImports(own)
  const texts = [...[...schemas, join(root, 'package.json')].map((file) => [file, textOf(file)] as const), ...files]
  return {
    files: new Map(texts.flatMap(([file, text]) => (text === null ? [] : [[path(file), text]]))),
    variables: parseEnv(withoutMark(textOf(join(root, '.env')) ?? '')),
    importFolders: new Set([...files.keys(), ...missing].map((file) => dirname(file))),
  }
}

/** Secrets that the service itself adds to .env at its first start. */
const generated = ['API_TOKEN_SALT', 'JWT_SECRET']

/** Returns the paths that differ between two states, or an empty list. Secrets that .env did not have before are no difference. */
export function changedInputs(before: ProjectInputs, after: ProjectInputs): readonly string[] {
  const paths = new Set([...before.files.keys(), ...after.files.keys()])
  const changed = [...paths].filter((path) => before.files.get(path) !== after.files.get(path))
  const names = new Set([...Object.keys(before.variables), ...Object.keys(after.variables)])
  const differs = [...names].some(
    (name) => before.variables[name] !== after.variables[name] && !(generated.includes(name) && before.variables[name] === undefined),
  )
  return [...changed.map((path) => path.split(sep).join('/')).sort(), ...(differs ? ['.env'] : [])]
}

function filesBelow(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

const filesIn = (folder: string): readonly string[] =>
  entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [] : [join(folder, entry.name)]))

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
