// Writes dist/*.d.ts: the types of the public interface, and of no other file. Each is made from its own text alone, which takes
// milliseconds; only what zod infers for the configuration needs the compiler's whole knowledge.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** Files whose exported types are inferred. */
const inferred = new Set(['config.ts'])

/** @type {import('typescript').CompilerOptions} */
const options = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts'],
  // What Node's modules are does not show in the interface.
  types: [],
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  noCheck: true,
  skipLibCheck: true,
  verbatimModuleSyntax: true,
}

/** @param {string} file */
function fromItsText(file) {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    compilerOptions: { ...options, isolatedDeclarations: true },
    reportDiagnostics: true,
  })
  if (diagnostics.length > 0) {
    const messages = diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    throw new Error(`${file} is part of the public interface and must say its types: ${messages.join('; ')}`)
  }
  return outputText
}

/** @param {string} file */
function inferredFrom(file) {
  let text = ''
  const program = ts.createProgram([file], options)
  program.emit(program.getSourceFile(file), (_name, written) => {
    text = written
  })
  return text
}

/**
 * Writes the declarations of `entry` and of every file that they name.
 * @param {string} entry
 * @param {string} folder
 */
export function writeDeclarations(entry, folder) {
  const source = dirname(resolve(entry))
  const waiting = [resolve(entry)]
  const done = new Set(waiting)
  for (const file of waiting) {
    const text = inferred.has(relative(source, file)) ? inferredFrom(file) : fromItsText(file)
    const written = join(folder, relative(source, file).replace(/\.ts$/, '.d.ts'))
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
