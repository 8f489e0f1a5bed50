// The files of a new project: copied from its template, or generated for its choices.

import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Choices, databases, type TemplateName, templates } from './choices.js'
import type { PackageManager } from './tools.js'

/** The folder of this package; all code is one level below. */
const packageFolder = (): string => dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * The dependency for the package.json of a project in `folder`: the version if this package was installed from a registry, otherwise the
 * path of the tarball or checkout, relative to the project.
 */
export function dependencyFor(folder: string): string {
  const own = packageFolder()
  const { version } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { readonly version: string }
  const modules = dirname(own)
  if (!modules.endsWith(`${sep}node_modules`)) return fileSpecifier(folder, own)
  const tarball = findTarball(modules)
  return tarball === null ? `^${version}` : fileSpecifier(folder, tarball)
}

/** Development dependencies that compile project code, in the versions that this package is tested with. */
export function compilerDependencies(): Readonly<Record<string, string>> {
  const { devDependencies } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  return Object.fromEntries(['@types/node', 'typescript'].map((name) => [name, devDependencies[name]!]))
}

const fileSpecifier = (folder: string, path: string): string => `file:${relative(folder, path).split(sep).join('/')}`

/** The local tarball that this package was installed from, according to npm's lock file, or null. */
function findTarball(modules: string): string | null {
  const lock = join(modules, '.package-lock.json')
  if (!existsSync(lock)) return null
  const { packages = {} } = JSON.parse(readFileSync(lock, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>
  }
  const { resolved = '' } = packages['node_modules/octavo'] ?? {}
  return resolved.startsWith('file:') ? resolve(dirname(modules), resolved.slice('file:'.length)) : null
}

interface CopiedFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** Paths in the package. */
const folders: Readonly<Record<TemplateName, string>> = {
  blank: 'templates/blank',
  blog: 'templates/blog',
  magazine: 'examples/magazine',
}

export const templateFolder = (template: TemplateName): string => join(packageFolder(), folders[template])

/** The copied parts of a template. */
const parts = ['src', 'seed']
const omittedFiles = new Set(['seed/check.mjs'])
const accessFile = 'seed/access.json'

/** Files of every project by path in the package. npm does not pack a file called .gitignore. */
const everywhere: Readonly<Record<string, string>> = {
  gitignore: '.gitignore',
  '.vscode/settings.json': '.vscode/settings.json',
}
const typescriptFiles = ['octavo.config.ts', 'tsconfig.json']
const javascriptFiles = ['octavo.config.mjs']

export const copiedFiles = ({ template, typescript }: Choices): readonly CopiedFile[] => [
  ...Object.entries(everywhere).map(([name, path]) => copied(name, path)),
  ...(typescript ? typescriptFiles : javascriptFiles).map((name) => copied(name, name)),
  ...templateFiles(template),
]

const copied = (name: string, path: string): CopiedFile => ({
  path,
  bytes: readFileSync(join(packageFolder(), 'templates', 'files', name)),
})

/** Users in a template's seed get random passwords, because those in the package are public. */
function templateFiles(template: TemplateName): readonly CopiedFile[] {
  const root = templateFolder(template)
  return parts
    .flatMap((part) => filesBelow(root, part))
    .filter((path) => !omittedFiles.has(path))
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

interface TextFile {
  readonly path: string
  readonly text: string
  /** Readable only by its owner. */
  readonly isSecret?: true
}

interface ProjectFacts {
  /** The dependency on this package. */
  readonly dependency: string
  readonly compiler: Readonly<Record<string, string>>
  /** The package manager that installs the project. */
  readonly manager: PackageManager
}

/** The generated files of a new project. */
export function projectTexts(choices: Choices, facts: ProjectFacts): readonly TextFile[] {
  const environment = renderEnvironment(choices)
  return [
    { path: 'package.json', text: json(renderPackage(choices, facts)) },
    { path: '.env.example', text: environment.example },
    ...(environment.own === null ? [] : [{ path: '.env', text: environment.own, isSecret: true as const }]),
    { path: 'README.md', text: readme(choices, facts.manager) },
    ...(permissions[facts.manager].files ?? []),
  ]
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const scripts = {
  dev: 'octavo dev',
  start: 'octavo start',
  doctor: 'octavo doctor',
  types: 'octavo types --out types/octavo.d.ts',
} as const

/** Only for projects in TypeScript. */
const compilerScripts = { check: 'octavo types --check && tsc' } as const

/** The package that its install script must build. */
const built = 'better-sqlite3'

/**
 * Permission for that script in each package manager: files, and members of package.json. bun permits it by default. pnpm 10 reads the
 * first list, later versions the second. Octavo is started from node_modules, which yarn creates only with this setting.
 */
const permissions: Readonly<Record<PackageManager, { readonly files?: readonly TextFile[]; readonly members?: object }>> = {
  npm: { members: { allowScripts: { [built]: true } } },
  pnpm: { files: [{ path: 'pnpm-workspace.yaml', text: `onlyBuiltDependencies:\n  - ${built}\nallowBuilds:\n  ${built}: true\n` }] },
  yarn: {
    files: [{ path: '.yarnrc.yml', text: 'nodeLinker: node-modules\n' }],
    members: { dependenciesMeta: { [built]: { built: true } } },
  },
  bun: {},
}

function renderPackage({ folder, typescript }: Choices, { dependency, compiler, manager }: ProjectFacts): object {
  return {
    name: packageName(folder),
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { ...scripts, ...(typescript ? compilerScripts : {}) },
    dependencies: { octavo: dependency },
    ...(typescript ? { devDependencies: compiler } : {}),
    ...permissions[manager].members,
    engines: { node: '>=20.19' },
  }
}

/** Derives the package name from the folder. */
function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
  return name === '' || name === 'octavo' || name === 'node_modules' ? 'content' : name
}

function renderEnvironment({ database, connection }: Choices): { readonly example: string; readonly own: string | null } {
  const general = `# Variables of the environment take precedence over this file, and this file over octavo.config.
# API_TOKEN_SALT and JWT_SECRET are generated and saved in .env at the first start.
# HOST=0.0.0.0
# PORT=1337
# PUBLIC_URL=https://content.example.org
# SMTP_URL=smtps://name:password@mail.example.org
# MAIL_FROM=Content <content@example.org>
`
  if (database === 'sqlite') return { example: `${general}# DATABASE_FILENAME=.tmp/data.db\n`, own: null }
  const variables = (password: string): string =>
    [
      `DATABASE_CLIENT=${database}`,
      `DATABASE_HOST=${quoteValue(connection.host)}`,
      `DATABASE_PORT=${connection.port}`,
      `DATABASE_NAME=${quoteValue(connection.name)}`,
      `DATABASE_USERNAME=${quoteValue(connection.username)}`,
      `DATABASE_PASSWORD=${quoteValue(password)}\n`,
    ].join('\n')
  return { example: `${general}${variables('')}`, own: variables(connection.password) }
}

/** Quotes a value for .env if necessary. */
function quoteValue(value: string): string {
  if (/^[\w.@:/-]*$/.test(value)) return value
  const quote = ["'", '"', '`'].find((one) => !value.includes(one)) ?? "'"
  return `${quote}${value}${quote}`
}

const compilerCommands = (manager: PackageManager): string =>
  `${`${manager} run check`.padEnd(47)} # compiles octavo.config.ts and your code
`

function readme({ folder, template, database, install, typescript }: Choices, manager: PackageManager): string {
  const { name } = databases[database]
  const server = database === 'sqlite' ? '' : `\nThe database is on a ${name} server: check the connection in \`.env\` first.\n`
  return `# ${basename(resolve(folder))}

A content project for Octavo, made from the template \`${template}\` (${templates[template]}), with ${name}.
${server}
## Start

\`\`\`sh
${install ? '' : `${manager} install\n`}${manager} run dev    # serves http://localhost:1337 and follows your changes
\`\`\`

The first start creates the database${template === 'blank' ? '' : ', loads the content in `seed/`'} and saves its secrets in \`.env\`. In production, run
\`NODE_ENV=production node node_modules/octavo/dist/main.js start\`.

## First commands

\`\`\`sh
npx octavo roles list --actions                 # who may do what
npx octavo tokens create --name Site --type read-only
npx octavo users create --username editor --email editor@example.org
npx octavo doctor                               # checks the database and the files
${`${manager} run types`.padEnd(47)} # writes types/octavo.d.ts, which ${manager} run dev then keeps up to date
${typescript ? compilerCommands(manager) : ''}\`\`\`

The API describes itself at <http://localhost:1337/docs>.

## Folders

| | |
| --- | --- |
| \`src/api/<name>/content-types/<name>/schema.json\` | the content-types; editors complete them (\`.vscode/settings.json\`) |
| \`src/components/<category>/<name>.json\` | components |
${template === 'blank' ? '' : '| `seed/` | content that the first start loads |\n'}| \`octavo.config.*\` | settings |
| \`.tmp/\`, \`public/uploads/\` | the database file and uploaded files; not in git |

Reading drafts needs the permission \`findDraft\` here, and unknown query parameters are refused (\`octavo.config\`).
The guide \`node_modules/octavo/docs/guide/first-project.md\` continues from here.
`
}
