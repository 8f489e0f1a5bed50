// `octavo types [folder]`: the content-types of a project as TypeScript.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandLine, quotedWord } from '../../foundation/runtime/command-line.js'
import { loadModel } from '../../model/schema/load.js'
import { type ClientPackage, declarationFiles, printFile, standaloneDeclarations } from '../../project/description/typescript/print.js'
import { viewOf } from '../../project/description/view.js'
import { contracts } from '../../query/contract.js'
import { orExplain } from './explain-error.js'
import { type GeneratedFileOptions, writeOutput } from './output-file.js'
import { anyDatabase, readProjectFolder } from './project-folder.js'

interface TypesOptions extends GeneratedFileOptions {
  readonly standalone?: boolean
  readonly client?: ClientPackage
}

/** Where a project has its types, unless it says otherwise. */
export const typesFile = 'types/octavo.d.ts'

/** Prints or writes the types of the project in `folder`. Needs no database. */
export const typesCommand = orExplain(async (folder: string, options: TypesOptions) => {
  writeOutput(await typesOf(folder, options), options, typesFile, commandLine(`types ${quotedWord(folder)}${flagsOf(options)}`, null))
})

const flagsOf = ({ standalone, client }: TypesOptions) =>
  `${standalone ? ' --standalone' : ''}${client === undefined ? '' : ` --client ${client}`}`

/** Returns the types of the project in `folder`. @throws ConfigError */
export async function typesOf(folder: string, options: Pick<TypesOptions, 'standalone' | 'client'>): Promise<string> {
  const { config, model } = await readProjectFolder(folder, anyDatabase)
  const view = viewOf(model, contracts[config.contract], () => true)
  const defaults = Object.fromEntries(Object.entries(config.types).map(([uid, settings]) => [uid, { ...settings.defaults }]))
  return printFile(view, {
    defaults,
    declarations: options.standalone ? { text: declarations() } : { package: options.client ?? 'octavo/client' },
  })
}

/** Returns the types of a new project with the schemas in `folder`: its configuration decides nothing about them. */
export async function typesOfTemplate(folder: string): Promise<string> {
  const view = viewOf(await loadModel({ folder }), contracts.specification, () => true)
  return printFile(view, { defaults: {}, declarations: { package: 'octavo/client' } })
}

/** The declarations are part of the package, beside its code. */
function declarations(): string {
  const folder = dirname(fileURLToPath(import.meta.url))
  return standaloneDeclarations(declarationFiles.map((file) => readFileSync(join(folder, 'types', file), 'utf8')))
}
