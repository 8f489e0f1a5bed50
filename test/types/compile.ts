// Compiles snippets with the types of a project, all in one program, as a user's editor would.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
/** Below the package itself, whose name leads to its `exports`. Nothing is written there. */
const virtualFolder = join(root, 'test', 'types', 'virtual')

/** Output of `octavo types` for a project. */
export const typesOf = (project: string, ...options: readonly string[]): string =>
  execFileSync(process.execPath, [join(root, 'dist', 'main.js'), 'types', project, ...options], { encoding: 'utf8' })

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
}

/** An error: its file, its position, and the message. */
export interface Mistake {
  readonly file: string
  readonly start: number
  readonly message: string
}

/** Findings of the compiler, and a measure of its work. */
export interface Compiled {
  readonly mistakes: readonly Mistake[]
  /** Number of type instantiations: a measure of work that does not depend on the machine. */
  readonly instantiations: number
}

/** Compiles files of one folder by their names. Declaration files are read, and only others are checked. */
export function compile(files: Readonly<Record<string, string>>, folder = virtualFolder): Compiled {
  const host = ts.createCompilerHost(options)
  const texts = new Map(Object.entries(files).map(([name, text]) => [join(folder, name), text]))
  const { getSourceFile, readFile } = host
  const folders = new Set([...texts.keys()].map(dirname))
  host.directoryExists = (path) => folders.has(path) || existsSync(path)
  host.fileExists = (file) => texts.has(file) || existsSync(file)
  host.readFile = (file) => texts.get(file) ?? readFile(file)
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const text = texts.get(file)
    return text === undefined ? getSourceFile(file, languageVersion, ...rest) : ts.createSourceFile(file, text, languageVersion)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  const found = [...program.getOptionsDiagnostics(), ...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()]
  const mistakes = found.map(({ file, start = 0, messageText }) => ({
    file: file?.fileName.slice(folder.length + 1) ?? '',
    start,
    message: ts.flattenDiagnosticMessageText(messageText, '\n'),
  }))
  return { mistakes, instantiations: program.getInstantiationCount() }
}
