// The declarations that generated types refer to, as one namespace: for projects that do not install the package.

/** Whole statements of a declaration file that have no place in a namespace: imports, functions and constants. */
const elsewhere = /^(?:import type [^;]*;|export declare (?:const|function) [^;]*;|export \{\};)\n?/gm

/** Joins declaration files that refer only to each other. */
export function standaloneDeclarations(files: readonly string[]): string {
  const body = files.map((text) => text.replaceAll(elsewhere, '').trim()).join('\n')
  return [
    `/** What the types below are made of. */\nexport declare namespace Octavo {\n${body.replaceAll(/^(?=.)/gm, '  ')}\n}`,
    'export declare namespace Octavo {\n  interface ContentTypes extends Types {}\n}',
  ].join('\n\n')
}

/** The declaration files that are needed, below the package's `dist/types`. */
export const declarationFiles: readonly string[] = [
  ...['blocks', 'content-types', 'filters', 'inputs', 'queries', 'results', 'selection'].map(
    (name) => `src/foundation/public/content/${name}.d.ts`,
  ),
  ...['document-methods', 'typed-strapi'].map((name) => `packages/client/${name}.d.ts`),
]
