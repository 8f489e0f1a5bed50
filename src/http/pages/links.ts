// Further pages that the service has for people, which the start page links: the documentation of the API.
import { docsPath } from './docs-page.js'
import type { PageLink } from './start-page.js'

/** The pages, in the order of their links. `hasDocs`: the API describes itself on a page. */
export const pageLinks = (hasDocs: boolean): readonly PageLink[] => (hasDocs ? [{ href: docsPath, text: 'API documentation' }] : [])
