// The files of a new project that are written for it: package.json, .env and .env.example, and its README.
import { basename, resolve } from 'node:path'
import { type Choices, databases, templates } from './choices.js'
import type { PackageManager } from './tools.js'

/** A file to be written, with its path in the project. */
export interface TextFile {
  readonly path: string
  readonly text: string
  /** Only its owner may read it. */
  readonly isSecret?: true
}

/** What the files say beyond the choices. */
export interface ProjectFacts {
  /** The dependency on this package. */
  readonly dependency: string
  /** What a project in TypeScript is compiled by. */
  readonly compiler: Readonly<Record<string, string>>
  /** The package manager that the project is installed with. */
  readonly manager: PackageManager
}

/** The texts of a new project. */
export function projectTexts(choices: Choices, facts: ProjectFacts): readonly TextFile[] {
  const environment = environmentOf(choices)
  return [
    { path: 'package.json', text: json(packageOf(choices, facts)) },
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

/** Only of a project in TypeScript. */
const compilerScripts = { check: 'octavo types --check && tsc' } as const

/** The package that has to be built by its install script. */
const built = 'better-sqlite3'

/**
 * Permission to run that script, in the form of each package manager: files, and members of package.json. bun allows it by default. pnpm 10
 * reads the first list, later versions the second. Octavo is started from node_modules, which yarn makes only if told to.
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

function packageOf({ folder, typescript }: Choices, { dependency, compiler, manager }: ProjectFacts): object {
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

/** The name of the folder as the name of a package. */
export function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._~-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
  return name === '' || name === 'octavo' || name === 'node_modules' ? 'content' : name
}

function environmentOf({ database, connection }: Choices): { readonly example: string; readonly own: string | null } {
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
      `DATABASE_HOST=${quoted(connection.host)}`,
      `DATABASE_PORT=${connection.port}`,
      `DATABASE_NAME=${quoted(connection.name)}`,
      `DATABASE_USERNAME=${quoted(connection.username)}`,
      `DATABASE_PASSWORD=${quoted(password)}\n`,
    ].join('\n')
  return { example: `${general}${variables('')}`, own: variables(connection.password) }
}

/** A value of .env, in quotes where it needs them. */
function quoted(value: string): string {
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
