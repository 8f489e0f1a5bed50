// The page at /docs: an empty frame, which its script fills from the description of the API. Script and style are files of the package.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { escapeHtml } from './escape-html.js'

/** Nothing runs or is loaded but the page's own files, and requests go to this origin only. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page. `prefix`: where the API begins; `description`: the path of its description. */
export const docsPage = (prefix: string, description: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API</title>
<link rel="stylesheet" href="/docs/page.css">
<script type="module" src="/docs/page.js"></script>
</head>
<body data-prefix="${escapeHtml(prefix)}" data-description="${escapeHtml(description)}">
<a class="skip" href="#main">To the contents</a>
<header>
<h1><a href="#">API</a></h1>
<form id="token-form" autocomplete="off">
<small id="token-state" role="status">You see what is public.</small>
<input aria-label="Token" id="token" type="password" autocomplete="off" placeholder="API token or JWT">
<button>Use</button>
<button type="button" id="forget" hidden>Forget</button>
</form>
</header>
<div class="page">
<details id="menu" open>
<summary>Operations</summary>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search operations">
<nav id="list" aria-label="Operations"></nav>
</details>
<main id="main"><noscript><p>This page needs JavaScript. The same for programs: <a href="${escapeHtml(description)}">openapi.json</a>.</p></noscript></main>
</div>
</body>
</html>
`

/** The files of the page by their names in URLs. */
const files = { 'page.js': 'text/javascript; charset=utf-8', 'page.css': 'text/css; charset=utf-8' } as const

export interface PageFile {
  readonly type: string
  readonly text: string
}

/** Reads the files of the page, which are beside the code of the package. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const folder = join(dirname(fileURLToPath(import.meta.url)), 'docs-page')
  return new Map(Object.entries(files).map(([name, type]) => [name, { type, text: readFileSync(join(folder, name), 'utf8') }]))
}
