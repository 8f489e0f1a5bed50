// The files of a new project that are copied: those of its template (schemas, and content that the first start loads), and those that every
// project has.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Choices, TemplateName } from './choices.js'
import { packageFolder } from './package-source.js'

/** A file that is copied, with its path in the project. */
export interface CopiedFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Where each template is in the package. */
const folders: Readonly<Record<TemplateName, string>> = {
  blank: 'templates/blank',
  blog: 'templates/blog',
  magazine: 'examples/magazine',
}

/** Where a template is on this machine. */
export const templateFolder = (template: TemplateName): string => join(packageFolder(), folders[template])

/** The parts of a template that a project gets. */
const parts = ['src', 'seed']
const left = new Set(['seed/check.mjs'])
const accessFile = 'seed/access.json'

/** The files of every project by their paths in the package. npm does not pack a file that is called .gitignore. */
const everywhere: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  '.vscode/settings.json': '.vscode/settings.json',
}
const inTypescript = ['octavo.config.ts', 'tsconfig.json']
const inJavascript = ['octavo.config.mjs']

/** Reads the files that a project gets. */
export const copiedFiles = ({ template, typescript }: Choices): readonly CopiedFile[] => [
  ...Object.entries(everywhere).map(([name, path]) => copied(name, path)),
  ...(typescript ? inTypescript : inJavascript).map((name) => copied(name, name)),
  ...templateFiles(template),
]

const copied = (name: string, path: string): CopiedFile => ({
  path,
  bytes: readFileSync(join(packageFolder(), 'templates', 'files', name)),
})

/** Users in the seed of a template get passwords that nobody knows, because those in the package are public. */
function templateFiles(template: TemplateName): readonly CopiedFile[] {
  const root = templateFolder(template)
  return parts
    .flatMap((part) => filesBelow(root, part))
    .filter((path) => !left.has(path))
    .map((path) => ({ path, bytes: path === accessFile ? withNewPasswords(join(root, path)) : readFileSync(join(root, path)) }))
}

function filesBelow(root: string, part: string): readonly string[] {
  if (statSync(join(root, part), { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
    .map((name) => `${part}/${name.split(sep).join('/')}`)
    .filter((path) => statSync(join(root, path)).isFile())
    .sort()
}

function withNewPasswords(file: string): Uint8Array {
  const access = JSON.parse(readFileSync(file, 'utf8')) as { readonly users?: readonly object[] }
  const users = access.users?.map((user) => ({ ...user, password: randomBytes(18).toString('base64url') }))
  return Buffer.from(`${JSON.stringify({ ...access, ...(users === undefined ? {} : { users }) }, null, 2)}\n`)
}
