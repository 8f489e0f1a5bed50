// The recipes of docs/guide/websites.md as files, type-checked and built with stubs of the frameworks.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** The recipes in a folder. */
export interface Recipes {
  /** The paths of their files, as the page names them. */
  readonly files: readonly string[]
  /** Errors of the compiler in them. */
  typeErrors(): readonly string[]
  /** Runs a file with its imports, and returns its exports. */
  load<Module>(file: string): Promise<Module>
  close(): void
}

/** Stubs of the frameworks, as types and as code that records its calls. */
const frameworks: Readonly<Record<string, { readonly types: string; readonly code: string }>> = {
  'next/cache': {
    types: 'export function revalidateTag(tag: string): void',
    code: 'export const revalidateTag = (tag) => { globalThis.previewState.tag = tag }',
  },
  'next/headers': {
    types: 'export function draftMode(): Promise<{ isEnabled: boolean; enable(): void; disable(): void }>',
    code: `export const state = globalThis.previewState
export const draftMode = async () => ({ get isEnabled() { return state.isOn }, enable() { state.isOn = true }, disable() { state.isOn = false } })`,
  },
  'next/navigation': {
    types: 'export function redirect(path: string): never\nexport function notFound(): never',
    code: `export const redirect = (path) => { throw Object.assign(new Error('redirect'), { path }) }
export const notFound = () => { throw new Error('notFound') }`,
  },
  h3: {
    types: `export interface H3Event { readonly context: object }
interface CookieOptions { httpOnly?: boolean; secure?: boolean; sameSite?: 'lax' | 'strict' | 'none'; path?: string }
export function defineEventHandler<Result>(handle: (event: H3Event) => Result): (event: H3Event) => Result
export function getQuery(event: H3Event): Record<string, unknown>
export function getRouterParam(event: H3Event, name: string): string | undefined
export function getCookie(event: H3Event, name: string): string | undefined
export function setCookie(event: H3Event, name: string, value: string, options?: CookieOptions): void
export function deleteCookie(event: H3Event, name: string, options?: CookieOptions): void
export function sendRedirect(event: H3Event, location: string, code?: number): Promise<void>
export function createError(input: { statusCode: number; statusMessage: string }): Error`,
    code: `export const defineEventHandler = (handle) => handle
export const getQuery = (event) => event.query
export const getRouterParam = (event, name) => event.params[name]
export const getCookie = (event, name) => event.cookies[name]
export const setCookie = (event, name, value) => { event.cookies[name] = value }
export const deleteCookie = (event, name) => { delete event.cookies[name] }
export const sendRedirect = async (event, location) => { event.location = location }
export const createError = (input) => Object.assign(new Error(input.statusMessage), input)`,
  },
  astro: {
    types: `interface Cookies {
  get(name: string): { value: string } | undefined
  set(name: string, value: string, options?: { httpOnly?: boolean; secure?: boolean; sameSite?: 'lax' | 'strict' | 'none'; path?: string }): void
  delete(name: string, options?: { path?: string; httpOnly?: boolean; secure?: boolean; sameSite?: 'lax' | 'strict' | 'none' }): void
}
export type APIRoute = (context: { url: URL; cookies: Cookies; redirect(path: string): Response }) => Response | Promise<Response>
export interface AstroGlobal { cookies: Cookies; params: Record<string, string | undefined> }`,
    code: '',
  },
}

/** Representation of page elements: their type, properties and children. */
const elements = `const element = (type, props, ...children) => ({ type, props, children })`
const jsxTypes = `declare namespace JSX { interface IntrinsicElements { [name: string]: object } interface Element { type: string; children: unknown[] } }
declare const element: (...all: unknown[]) => JSX.Element`

/** Writes the recipes of a page of the guide into a folder. */
export function writeRecipes(page: string): Recipes {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  // Next to node_modules, so that packages are found.
  const folder = mkdtempSync(join(root, '.tmp', 'recipes-'))
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const files = [...readFileSync(join(root, page), 'utf8').matchAll(/^```(tsx?|astro)\n(?:---\n)?\/\/ (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, kind, path, code]) => {
      const file = kind === 'astro' ? `${path}.ts` : path!
      write(file, kind === 'astro' ? pageOf(code!) : code!)
      return file
    },
  )
  for (const [name, { types, code }] of Object.entries(frameworks)) {
    write(`node_modules/${name}.d.ts`, types)
    write(`node_modules/${name}.js`, code)
  }
  write('jsx.d.ts', jsxTypes)
  return {
    files,
    typeErrors: () => typeErrorsOf([...files, 'jsx.d.ts'].map((file) => join(folder, file))),
    load: async (file) => {
      const outfile = join(folder, 'built', `${file.replace(/\W/g, '-')}.mjs`)
      await build({
        ...{ entryPoints: [join(folder, file)], outfile, bundle: true, platform: 'node', format: 'esm' },
        ...{ jsx: 'transform', jsxFactory: 'element', banner: { js: elements } },
        alias: Object.fromEntries(Object.keys(frameworks).map((name) => [name, join(folder, 'node_modules', `${name}.js`)])),
      })
      return import(pathToFileURL(outfile).href)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The part of an Astro page above its markup, as the function that Astro compiles it to; the markup shows \`article\`. */
function pageOf(source: string): string {
  const [script = ''] = source.split(/^---$/m)
  const imports = script.match(/^import .*$/gm) ?? []
  const body = script.replace(/^(?:import|export const prerender) .*$/gm, '')
  return `import type { AstroGlobal } from 'astro'\n${imports.join('\n')}\nexport default async function page(Astro: AstroGlobal) {\n${body}\nreturn article\n}\n`
}

function typeErrorsOf(files: readonly string[]): readonly string[] {
  const program = ts.createProgram(files, {
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ...{ strict: true, noEmit: true, skipLibCheck: true, jsx: ts.JsxEmit.React, jsxFactory: 'element', types: ['node'] },
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText, file }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}
