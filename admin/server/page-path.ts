// The path of the page: `/admin`, or below the path of PUBLIC_URL. Paths of the API start with it.

/** Without a slash at the end. */
export const pagePath =
  (typeof document === 'undefined' ? null : document.querySelector('meta[name="octavo-path"]')?.getAttribute('content')) ?? '/admin'
