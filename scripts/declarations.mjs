// Writes dist/types: the types of the public interface, and of no other file. Most say their types and need milliseconds; what
// zod infers for the configuration needs the compiler's whole knowledge.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** @type {import('typescript').CompilerOptions} */
const options = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  // Types of Node's modules do not appear in the interface.
  types: [],
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  noCheck: true,
  skipLibCheck: true,
  verbatimModuleSyntax: true,
}

/**
 * The declarations of a file that says all its types; null for another.
 * @param {string} file
 */
function said(file) {
  const compilerOptions = { ...options, isolatedDeclarations: true }
  const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    ...{ fileName: file, compilerOptions, reportDiagnostics: true },
  })
  return diagnostics?.length === 0 ? outputText : null
}

const host = ts.createCompilerHost(options)
const { getSourceFile } = host
/** @type {Map<string, import('typescript').SourceFile | undefined>} */
const parsed = new Map()
host.getSourceFile = (name, ...others) => {
  if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...others))
  return parsed.get(name)
}

/** @param {string} file */
function inferred(file) {
  let text = ''
  const program = ts.createProgram([file], options, host)
  program.emit(program.getSourceFile(file), (_name, written) => {
    text = written
  })
  return text
}

/**
 * Writes the declarations of `entry` and of every file that they name, each at its path in the repository.
 * @param {string} entry
 * @param {string} folder
 */
export function writeDeclarations(entry, folder) {
  const waiting = [resolve(entry)]
  const done = new Set(waiting)
  for (const file of waiting) {
    const text = said(file) ?? inferred(file)
    const written = join(folder, relative(process.cwd(), file).replace(/\.ts$/, '.d.ts'))
    mkdirSync(dirname(written), { recursive: true })
    writeFileSync(written, text)
    for (const [, path] of text.matchAll(/(?:from |import\()["'](\.[^"']+)["']/g)) {
      const named = resolve(dirname(file), path.replace(/\.js$/, '.ts'))
      if (done.has(named) || !existsSync(named)) continue
      done.add(named)
      waiting.push(named)
    }
  }
}
