// `octavo init [folder]`: creates a project from a template. Asks in a terminal; otherwise flags and defaults decide.

import { mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'
import { orExplain } from './explain-error.js'
import { type Choices, databases, type GivenChoices, type InitFlags, readFlags, withDefaults } from './init/choices.js'
import { compilerDependencies, copiedFiles, dependencyFor, projectTexts, templateFolder } from './init/project-files.js'
import { askFor } from './init/questions.js'
import { createRepository, installDependencies, packageManager } from './init/tools.js'
import { print } from './output.js'
import { generateTemplateTypes, typesFile } from './types.js'

export const init = orExplain(async (folder: string | undefined, flags: InitFlags) => {
  const given = readFlags(folder, flags)
  if (given.folder !== undefined) checkFolder(given.folder)
  const choices = await getChoices(given, flags.yes === true)
  const root = resolve(choices.folder)
  checkFolder(choices.folder)
  const facts = { dependency: dependencyFor(root), compiler: compilerDependencies(), manager: packageManager() }
  const types = choices.typescript ? [{ path: typesFile, text: await generateTemplateTypes(templateFolder(choices.template)) }] : []
  writeProject(root, [
    ...[...projectTexts(choices, facts), ...types].map(({ text, ...file }) => ({ ...file, content: text })),
    ...copiedFiles(choices).map(({ path, bytes }) => ({ path, content: bytes })),
  ])
  print(`Created ${choices.folder} (${choices.template}, ${databases[choices.database].name}).`)
  await finish(choices, root)
})

function checkFolder(folder: string): void {
  const problem = folderProblem(resolve(folder))
  if (problem !== null) throw new ConfigError(problem)
}

async function getChoices(given: GivenChoices, acceptsDefaults: boolean): Promise<Choices> {
  if (acceptsDefaults || !process.stdin.isTTY || !process.stdout.isTTY) return withDefaults(given)
  return askFor(given, (folder) => folderProblem(resolve(folder)))
}

/**
 * Installs dependencies, creates the repository, and prints the next steps. The project is retained if that fails.
 * @throws ConfigError with the remaining steps if the dependencies cannot be installed
 */
async function finish({ folder, install, git, database, connection }: Choices, root: string): Promise<void> {
  const manager = packageManager()
  if (git && !(await createRepository(root))) print('No git repository was created: git is not available.')
  const failure = install ? await installDependencies(root) : null
  const place = relative(process.cwd(), root)
  const steps = [
    ...(place === '' ? [] : [`cd ${place}`]),
    ...(connection.password === '' && database !== 'sqlite' ? ['edit .env        # the connection to the database'] : []),
    ...(install && failure === null ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ]
  const lines = steps.map((step) => `  ${step}`).join('\n')
  if (failure !== null) {
    const problem = `${manager} install failed (${failure}). The files of the project are complete in ${folder}.`
    throw new ConfigError(`${problem} Once the cause is removed:\n${lines}`)
  }
  print(`Next:\n${lines}`)
}

/** Entries that do not prevent creating a project. */
const harmless = new Set(['.git', '.DS_Store'])
/** Maximum number of entries in a message. */
const maxNamedEntries = 5

/** Returns why a project cannot be created in a folder, or null. */
function folderProblem(folder: string): string | null {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (!stats.isDirectory()) return `${folder} is a file.`
  const others = readdirSync(folder)
    .filter((name) => !harmless.has(name))
    .sort()
  if (others.length === 0) return null
  const more = others.length > maxNamedEntries ? ` and ${others.length - maxNamedEntries} more` : ''
  return `${folder} is not empty: it has ${others.slice(0, maxNamedEntries).join(', ')}${more}. A new project needs an empty folder.`
}

interface ProjectFile {
  readonly path: string
  readonly content: string | Uint8Array
  readonly isSecret?: boolean
}

const privateFile = 0o600

/**
 * Writes the files without replacing existing ones. On failure, everything created is removed.
 * @throws ConfigError that names the file
 */
export function writeProject(folder: string, files: readonly ProjectFile[]): void {
  const made: string[] = []
  for (const { path, content, isSecret } of files) {
    const file = join(folder, path)
    try {
      makeFolder(dirname(file), made)
      writeFileSync(file, content, { flag: 'wx', ...(isSecret === true ? { mode: privateFile } : {}) })
      made.push(file)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // An existing file is retained; a partially written one is removed.
      for (const one of [...made, ...(code === 'EEXIST' ? [] : [file])].reverse()) remove(one)
      throw new ConfigError(`${file} cannot be written (${message}). Nothing was created.`)
    }
  }
}

function makeFolder(folder: string, made: string[]): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  makeFolder(dirname(folder), made)
  mkdirSync(folder)
  made.push(folder)
}

/** Removes a file, or an empty folder. */
function remove(path: string): void {
  try {
    if (statSync(path).isDirectory()) rmdirSync(path)
    else rmSync(path)
  } catch {
    // The folder is not empty, or already removed.
  }
}
