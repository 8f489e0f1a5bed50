// The page at /docs: an empty frame, which its script fills from the description of the API.
import type { Config } from '../../foundation/config/config.js'
import { escapeHtml } from './escape-html.js'

/** Where the page is. */
export const docsPath = '/docs'

/** Whether there is a page: not if it is switched off, nor if the API itself has the path. */
export const hasDocsPage = ({ docs, rest }: Pick<Config, 'docs' | 'rest'>): boolean =>
  docs.enabled && rest.prefix !== docsPath && !rest.prefix.startsWith(`${docsPath}/`)

/** What the page refers to, as paths. */
export interface DocsPageAddresses {
  /** Where the API begins. */
  readonly prefix: string
  /** The description of the API. */
  readonly description: string
  readonly script: string
  readonly style: string
  /** The service has a start page, and with it the mark. */
  readonly hasStartPage: boolean
}

/** Nothing runs or is loaded but the page's own files, and requests go to this origin only. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page. */
export const docsPage = ({ prefix, description, script, style, hasStartPage }: DocsPageAddresses): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="The operations of this content API, with requests to try.">
<title>API · Octavo</title>
${hasStartPage ? '<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n' : ''}<link rel="stylesheet" href="${escapeHtml(style)}">
<script type="module" src="${escapeHtml(script)}"></script>
</head>
<body data-prefix="${escapeHtml(prefix)}" data-description="${escapeHtml(description)}">
<a class="skip" href="#main">To the contents</a>
<header>
<h1>${hasStartPage ? '<a href="/"><img src="/favicon.svg" alt="" width="32" height="32">Octavo</a>' : '<a href="#">Octavo</a>'}</h1>
${hasStartPage ? '<a href="/">Start page</a>\n' : ''}<a href="#">Overview</a>
<form id="token-form" autocomplete="off">
<small id="token-state" role="status">Showing public operations</small>
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
