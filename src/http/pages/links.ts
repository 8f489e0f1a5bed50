// Further pages that the service has for people, which the start page links: documentation of the API, once there is some.
import type { PageLink } from './start-page.js'

/** The pages, in the order of their links. */
export const pageLinks: readonly PageLink[] = []
