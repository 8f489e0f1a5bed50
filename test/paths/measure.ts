// Functions and lines of src/ that one request runs: the sources file by file, a service on them that counts calls in all its
// threads, and the counts between two points in time.
import { type ChildProcess, fork } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { goldenProject } from '../support/serve.js'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '..', '..')

interface Script {
  readonly url: string
  readonly functions: readonly {
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[]
  }[]
}

/** Executed code by file of src/: offsets of functions, and lines. */
export type Run = ReadonlyMap<string, { readonly functions: ReadonlySet<number>; readonly lines: ReadonlySet<number> }>

export interface Measured {
  readonly origin: string
  /** Code that ran since the previous call, or since the start. */
  taken(): Promise<Run>
  /** The folder of its project. */
  readonly project: string
  /** Files of src/ that were loaded before the last `taken`. */
  loaded(): ReadonlySet<string>
  close(): Promise<void>
}

/** The golden project with its content, in a folder. */
function goldenIn(project: string): void {
  cpSync(goldenProject, project, { recursive: true })
  mkdirSync(join(project, '.tmp'))
  writeFileSync(join(project, '.tmp', 'data.db'), gunzipSync(readFileSync(join(project, 'content.db.gz'))))
}

/** Starts a service that counts its calls, on the golden project or on the one that `fill` creates in a folder. */
export async function startMeasured(
  environment: Readonly<Record<string, string>> = { NODE_ENV: 'production', UPLOADS_DIR: 'uploads' },
  fill: (project: string) => void = goldenIn,
): Promise<Measured> {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  // Next to node_modules, so that packages are found.
  const folder = mkdtempSync(join(root, '.tmp', 'paths-'))
  const code = join(folder, 'code')
  await build({ entryPoints: [join(root, 'src/**/*.ts'), join(root, 'packages/**/*.ts')], outbase: root, outdir: code, ...perFile })
  for (const each of [code, join(code, 'src')]) writeFileSync(join(each, 'package.json'), '{ "type": "module", "version": "0.0.0" }')
  const project = join(folder, 'project')
  fill(project)
  const child = fork(join(here, 'measured.mjs'), [code, project, JSON.stringify(environment)], {
    execArgv: ['--import', pathToFileURL(join(here, 'thread.mjs')).href],
    env: { PATH: process.env.PATH, MEASURED: pathToFileURL(code).href },
    serialization: 'advanced',
  })
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      rmSync(folder, { recursive: true, force: true })
      resolve()
    }),
  )
  const { origin } = await said<{ readonly origin: string }>(child)
  const maps = new Map<string, Mapped>()
  const loaded = new Set<string>()
  return {
    origin,
    project,
    loaded: () => loaded,
    taken: async () => {
      child.send('take')
      const { scripts } = await said<{ readonly scripts: readonly Script[] }>(child)
      for (const { url } of scripts) loaded.add(sourceOf(code, url))
      return runOf(scripts, code, maps)
    },
    close: async () => {
      child.disconnect()
      await ended
    },
  }
}

const perFile = { bundle: false, format: 'esm', platform: 'node', target: 'node20', sourcemap: 'external' } as const

function said<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`The measured service ended with ${code}`))
    child.once('exit', gone)
    child.once('message', (message) => {
      child.off('exit', gone)
      resolve(message as Message)
    })
  })
}

/** A file of the code: its length, and the words of its text with the lines of the source that they come from. */
interface Mapped {
  readonly length: number
  readonly words: readonly { readonly at: number; readonly line: number }[]
}

function mappedOf(file: string): Mapped {
  const text = readFileSync(file, 'utf8')
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')))
  let start = 0
  const words = text.split('\n').flatMap((line, index) => {
    const found = [...line.matchAll(/[\w$]+|[^\s\w$]/g)].flatMap(({ index: column }) => {
      const entry = map.findEntry(index, column)
      const isHere = 'originalLine' in entry && entry.generatedLine === index
      return isHere ? [{ at: start + column, line: entry.originalLine + 1 }] : []
    })
    start += line.length + 1
    return found
  })
  return { length: text.length, words }
}

/** The file of src/ that a script was built from. */
const sourceOf = (code: string, url: string): string => relative(code, fileURLToPath(url)).replaceAll('\\', '/').replace(/js$/, 'ts')

function runOf(scripts: readonly Script[], code: string, maps: Map<string, Mapped>): Run {
  const run = new Map<string, { functions: Set<number>; lines: Set<number> }>()
  for (const { url, functions } of scripts) {
    const file = fileURLToPath(url)
    const mapped = maps.get(file) ?? mappedOf(file)
    maps.set(file, mapped)
    const counts = new Uint8Array(mapped.length + 1)
    const name = sourceOf(code, url)
    const of = run.get(name) ?? { functions: new Set(), lines: new Set() }
    // Outer functions come before those within them, and so do ranges.
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) counts.fill(Math.min(count, 1), startOffset, endOffset)
      const [whole] = ranges
      const isModule = whole!.startOffset === 0 && whole!.endOffset >= mapped.length - 1
      if (whole!.count > 0 && !isModule) of.functions.add(whole!.startOffset)
    }
    for (const { at, line } of mapped.words) if (counts[at] === 1) of.lines.add(line)
    if (of.functions.size > 0) run.set(name, of)
  }
  return run
}

/** Code that ran in all of these: timers run in some. */
export function common([first, ...others]: readonly Run[]): Run {
  const shared = new Map<string, { readonly functions: ReadonlySet<number>; readonly lines: ReadonlySet<number> }>()
  for (const [file, { functions, lines }] of first!) {
    const inAll = (of: 'functions' | 'lines') => (one: number) => others.every((other) => other.get(file)?.[of].has(one))
    const always = new Set([...functions].filter(inAll('functions')))
    if (always.size > 0) shared.set(file, { functions: always, lines: new Set([...lines].filter(inAll('lines'))) })
  }
  return shared
}

/** Removes code that also runs without requests: on a slow machine, timers run in every request. */
export function without(run: Run, idle: Run): Run {
  const left = [...run].map(([file, { functions, lines }]) => {
    const other = idle.get(file)
    const isOwn = (of: 'functions' | 'lines') => (one: number) => other?.[of].has(one) !== true
    return [
      file,
      { functions: new Set([...functions].filter(isOwn('functions'))), lines: new Set([...lines].filter(isOwn('lines'))) },
    ] as const
  })
  return new Map(left.filter(([, { functions }]) => functions.size > 0))
}
