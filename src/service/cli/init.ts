// `octavo init [folder]`: creates a project from a template. Asks in a terminal; elsewhere flags and defaults decide.
import { relative, resolve } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'
import { orExplain } from './explain-error.js'
import type { Choices, InitFlags } from './init/choices.js'
import { databases } from './init/choices.js'
import { type GivenChoices, readFlags, withDefaults } from './init/flags.js'
import { compilerDependencies, dependencyFor } from './init/package-source.js'
import { projectTexts } from './init/project-text.js'
import { copiedFiles, templateFolder } from './init/template-files.js'
import { createRepository, installDependencies, packageManager } from './init/tools.js'
import { folderProblem, writeProject } from './init/write-project.js'
import { print } from './project.js'
import { typesFile, typesOfTemplate } from './types.js'

/** Creates a project in `folder`. */
export const init = orExplain(async (folder: string | undefined, flags: InitFlags) => {
  const given = readFlags(folder, flags)
  if (given.folder !== undefined) checkFolder(given.folder)
  const choices = await choicesOf(given, flags.yes === true)
  const root = resolve(choices.folder)
  checkFolder(choices.folder)
  const facts = { dependency: dependencyFor(root), compiler: compilerDependencies(), manager: packageManager() }
  const types = choices.typescript ? [{ path: typesFile, text: await typesOfTemplate(templateFolder(choices.template)) }] : []
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

async function choicesOf(given: GivenChoices, acceptsDefaults: boolean): Promise<Choices> {
  if (acceptsDefaults || !process.stdin.isTTY || !process.stdout.isTTY) return withDefaults(given)
  // Only a terminal needs the code for questions.
  const { askFor } = await import('./init/questions.js')
  return askFor(given, (folder) => folderProblem(resolve(folder)))
}

/**
 * Installs, makes the repository, and prints what comes next. The project stays if one of them fails.
 * @throws ConfigError with the steps that are left if the dependencies cannot be installed
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
