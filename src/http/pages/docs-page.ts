// The page at /docs: an empty frame, which its script fills from the description of the API.
import type { Config } from '../../config/config.js'
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
}

/** Nothing runs or is loaded but the page's own files, and requests go to this origin only. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The page. */
export const docsPage = ({ prefix, description, script, style }: DocsPageAddresses): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API</title>
<link rel="stylesheet" href="${escapeHtml(style)}">
<script type="module" src="${escapeHtml(script)}"></script>
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
