// Finds the code of a Strapi project that Octavo does not run, and what it does to requests as far as its text shows.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** One kind of code that was found. */
export interface FoundCode {
  /** What it is, as a sentence with what takes its place. */
  readonly message: string
  /** Files, as paths below the project folder. */
  readonly paths: readonly string[]
  /** Parameters and parts of requests that its text names, e.g. `populate`: what may be missing from responses or shown by mistake. */
  readonly mentions: readonly string[]
}

/** Files beyond this size are not read: they are bundled; bytes. */
const largestFile = 1_000_000

const isCode = (name: string): boolean => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.d.ts')

/** What code in the way of requests does to them. */
const effects: readonly (readonly [string, RegExp])[] = [
  ['populate', /\bpopulate\b/],
  ['filters', /\bfilters\b/],
  ['fields', /\bfields\b/],
  ['sort', /\bsort\b/],
  ['locale', /\blocale\b/],
  ['status', /\bstatus\s*[:=]\s*['"`](?:draft|published)/],
  ['user', /\bstate\.user\b/],
  ['refusal', /\b(?:PolicyError|ForbiddenError|UnauthorizedError|forbidden|unauthorized)\s*\(|\breturn false\b/],
]

/** Keys in a route file that change who may call a route, and which exist. */
const changesRoutes = /\b(?:policies|middlewares|prefix|only|except)\s*:|\bauth\s*:\s*false\b/

/** The whole of a generated controller or service. */
const isGenerated = (text: string): boolean => /createCore(?:Controller|Service)\(['"`][^'"`]+['"`]\)/.test(text.replaceAll(/\s/g, ''))

interface Kind {
  readonly message: string
  /** Where it is: below `src` and below each folder of `src/api`, or below the project folder. */
  readonly below: 'apis' | 'project'
  /** The folders, or files without their extension. */
  readonly places: readonly string[]
  /** Whether code does more than what is generated; absent: it does. */
  isOwn?(text: string): boolean
}

const cronMessage = 'cron tasks are not run: schedules of octavo.config take their place'

const kinds: readonly Kind[] = [
  {
    message: 'policies are not run: check the permissions of the roles; types.<uid>.policies and scope of octavo.config take their place',
    ...{ below: 'apis', places: ['policies'] },
  },
  {
    message: 'middlewares are not run: types.<uid>.defaults, reads, policies and scope of octavo.config take their place',
    ...{ below: 'apis', places: ['middlewares'] },
  },
  {
    message: 'settings of routes have no effect: check the permissions of the roles',
    ...{ below: 'apis', places: ['routes'], isOwn: (text) => changesRoutes.test(text) },
  },
  {
    message: 'custom routes do not exist: routes of octavo.config take their place',
    ...{ below: 'apis', places: ['routes'], isOwn: (text) => /\bhandler\s*:/.test(text) },
  },
  {
    message: 'controllers are not run: types.<uid>.reads, hooks and routes of octavo.config take their place',
    ...{ below: 'apis', places: ['controllers'], isOwn: (text) => !isGenerated(text) },
  },
  {
    message: 'services are not run: functions that octavo.config imports take their place',
    ...{ below: 'apis', places: ['services'], isOwn: (text) => !isGenerated(text) },
  },
  {
    message: 'lifecycle hooks are not run: hooks of octavo.config take their place',
    ...{ below: 'apis', places: ['content-types'], isOwn: (text) => /\b(?:before|after)(?:Create|Update|Delete|Find|Count)/.test(text) },
  },
  {
    message:
      'register and bootstrap are not run: hooks and schedules of octavo.config take the place of document middlewares and cron jobs, scripts of the rest',
    ...{ below: 'project', places: ['src/index'], isOwn: runsAtStart },
  },
  { message: 'extensions of plugins are not run', ...{ below: 'project', places: ['src/extensions'] } },
  { message: 'plugins are not run', ...{ below: 'project', places: ['src/plugins'] } },
  { message: cronMessage, ...{ below: 'project', places: ['config/cron-tasks'] } },
  {
    message: cronMessage,
    ...{ below: 'project', places: ['config/server'], isOwn: (text) => /\bcron\s*:\s*\{[\s\S]*\btasks\s*:\s*\{/.test(text) },
  },
]

/** Returns what Octavo does not run of a project, by kind. */
export function codeNotRun(folder: string): readonly FoundCode[] {
  const apis = ['src', ...entries(folder, 'src/api').map((api) => `src/api/${api}`)]
  return kinds.flatMap(({ message, below, places, isOwn = () => true }) => {
    const roots = below === 'project' ? places : apis.flatMap((api) => places.map((place) => `${api}/${place}`))
    const files = roots.flatMap((root) => codeFiles(folder, root)).map((path) => ({ path, text: textOf(join(folder, path)) }))
    const found = files.filter(({ text }) => isOwn(text))
    if (found.length === 0) return []
    const mentions = effects.flatMap(([name, pattern]) => (found.some(({ text }) => pattern.test(text)) ? [name] : []))
    return [{ message, paths: found.map(({ path }) => path), mentions }]
  })
}

/** Files with code below a folder, or with this name. */
function codeFiles(folder: string, path: string): readonly string[] {
  const named = entries(folder, path.slice(0, path.lastIndexOf('/'))).filter((name) => isCode(name))
  const files = named.map((name) => `${path.slice(0, path.lastIndexOf('/'))}/${name}`).filter((file) => file.replace(/\.\w+$/, '') === path)
  const inside = existsSync(join(folder, path)) ? readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' }) : []
  const isOwn = (name: string): boolean => isCode(name) && !/(?:^|[\\/])(?:node_modules|admin|dist|build)[\\/]/.test(name)
  return [...files, ...inside.filter(isOwn).map((name) => `${path}/${name.replaceAll('\\', '/')}`)].sort()
}

function entries(folder: string, path: string): readonly string[] {
  const whole = join(folder, path)
  return existsSync(whole) && statSync(whole).isDirectory() ? readdirSync(whole).sort() : []
}

/** The text of a file without comments; empty if it is too large, or cannot be read. */
function textOf(file: string): string {
  try {
    return statSync(file).size > largestFile ? '' : withoutComments(readFileSync(file, 'utf8'))
  } catch {
    return ''
  }
}

/** Comments that begin a line, or follow a space. A string that looks like one goes with them, which changes no verdict here. */
function withoutComments(text: string): string {
  const blocks = text.split('/*').map((part, index) => (index === 0 ? part : part.slice(Math.max(0, part.indexOf('*/') + 2))))
  return blocks
    .join(' ')
    .split('\n')
    .map((line) => (/^\s*\/\//.test(line) ? '' : line.split(' //')[0]!))
    .join('\n')
}

/** Whether register or bootstrap of src/index does anything. */
function runsAtStart(text: string): boolean {
  const dense = text.replaceAll(/\s/g, '')
  return [/register[(:=]/, /bootstrap[(:=]/].some((name) => {
    const at = dense.search(name)
    const begin = at === -1 ? -1 : Math.min(...['){', '=>{'].map((sign) => dense.indexOf(sign, at) + sign.length).filter((end) => end > at))
    return at !== -1 && Number.isFinite(begin) && dense[begin] !== '}'
  })
}
