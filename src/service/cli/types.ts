// `octavo types [folder]`: the content-types of a project as TypeScript.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, quotedWord } from '../../foundation/runtime/terminal.js'
import { loadModel } from '../../model/schema/load.js'
import {
  type ClientPackage,
  clientPackages,
  declarationFiles,
  fileHeader,
  printFile,
  standaloneDeclarations,
} from '../../project/description/typescript/print.js'
import { viewOf } from '../../project/description/view.js'
import { contracts } from '../../query/contract.js'
import { orExplain } from './explain-error.js'
import { type GeneratedFileOptions, writeOutput } from './output.js'
import { anyDatabase, readProjectFolder } from './project.js'

interface TypesOptions extends GeneratedFileOptions {
  readonly standalone?: boolean
  readonly client?: ClientPackage
}

export const typesFile = 'types/octavo.d.ts'

/** Prints or writes the types. Needs no database. */
export const typesCommand = orExplain(async (folder: string, options: TypesOptions) => {
  writeOutput(await generateTypes(folder, options), options, typesFile, commandLine(`types ${quotedWord(folder)}${toFlags(options)}`, null))
})

const toFlags = ({ standalone, client }: TypesOptions) =>
  `${standalone ? ' --standalone' : ''}${client === undefined ? '' : ` --client ${client}`}`

/** @throws ConfigError */
async function generateTypes(folder: string, options: Pick<TypesOptions, 'standalone' | 'client'>): Promise<string> {
  const { config, model } = await readProjectFolder(folder, anyDatabase)
  const view = viewOf(model, contracts[config.contract], () => true)
  const defaults = Object.fromEntries(Object.entries(config.types).map(([uid, settings]) => [uid, { ...settings.defaults }]))
  return printFile(view, {
    defaults,
    declarations: options.standalone ? { text: declarations() } : { package: options.client ?? 'octavo/client' },
  })
}

/** Types of a new project with the schemas in `folder`, regardless of its configuration. */
export async function generateTemplateTypes(folder: string): Promise<string> {
  const view = viewOf(await loadModel({ folder }), contracts.specification, () => true)
  return printFile(view, { defaults: {}, declarations: { package: 'octavo/client' } })
}

/** The declarations are part of the package. */
function declarations(): string {
  const folder = dirname(fileURLToPath(import.meta.url))
  return standaloneDeclarations(declarationFiles.map((file) => readFileSync(join(folder, 'types', file), 'utf8')))
}

/**
 * Updates the types of the project in `folder` if the usual file exists, was written by `octavo types`, and is out of date. Returns the
 * path of the written file, or null.
 */
export async function refreshTypes(folder: string): Promise<string | null> {
  const file = join(folder, typesFile)
  const present = readText(file)
  if (present === null || !present.startsWith(fileHeader)) return null
  const client = clientPackages.find((name) => present.includes(`from '${name}'`))
  const text = await generateTypes(folder, { standalone: client === undefined, ...(client && { client }) })
  if (present.replaceAll('\r\n', '\n') === text) return null
  writeFileSync(file, text)
  return typesFile
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
