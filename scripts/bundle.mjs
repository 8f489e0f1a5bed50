// Content of dist/: the options of the bundler, for the build and for the test of its content.

/** Modules that fastify would load for routes with JSON schemas and for requests without a socket: unused here, and code is memory too. */
const neverLoaded = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request']

export const bundle = {
  entryPoints: [
    'src/service/main.ts',
    'src/service/index.ts',
    'src/service/cli/dev/service-process.ts',
    'src/service/cli/processes/process-of-several.ts',
    'src/database/sqlite/readers/reader-thread.ts',
    'src/database/sqlite/writer/writer-thread.ts',
    'src/database/sqlite/index-thread.ts',
    'src/database/sqlite/apply-change-thread.ts',
    'src/content/media/images/image-process.ts',
    'src/operations/doctor/doctor-process.ts',
    'packages/strapi-code/project-code-thread.ts',
  ],
  outdir: 'dist',
  entryNames: '[name]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line that an error comes from.
  lineLimit: 400,
  legalComments: 'none',
  // Native modules stay external, and so does the TypeScript loader: it loads its compiler from its own folder.
  external: ['better-sqlite3', '@node-rs/bcrypt', 'sharp', 'jiti', ...neverLoaded],
  // Libraries written for CommonJS ask for Node's own modules with require.
  banner: { js: "import { createRequire as octavoRequire } from 'node:module';const require = octavoRequire(import.meta.url);" },
  metafile: true,
}

/**
 * The client of the API for `octavo/client` and `octavo-client`: one small file that also runs in browsers, and another one for pages in previews.
 * @param {string} outdir
 */
export const clientBundle = (outdir) => ({
  entryPoints: { client: 'packages/client/index.ts', 'client-preview': 'packages/client/preview.ts' },
  outdir,
  bundle: true,
  platform: 'neutral',
  format: 'esm',
  target: 'es2021',
  minify: true,
  legalComments: 'none',
})

/** Scripts of the service's pages in browsers: each with its imports, in one file. */
export const forBrowsers = {
  entryPoints: [
    'src/http/pages/browser/start-page.ts',
    'src/http/pages/browser/start-page.css',
    'src/http/pages/browser/new-password.ts',
    'src/http/pages/browser/account-pages.css',
    'src/http/pages/browser/favicon.svg',
    'src/http/pages/browser/docs-page/page.ts',
    'src/http/pages/browser/docs-page/page.css',
  ],
  outdir: 'dist/browser',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome110', 'firefox110', 'safari16'],
  legalComments: 'none',
  loader: { '.svg': 'copy' },
}
