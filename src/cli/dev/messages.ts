// What `octavo dev` and the processes of services tell each other.

/** To a process: serve the project. */
export interface Begin {
  readonly kind: 'begin'
  /** Another process still listens on the same port. */
  readonly replaces: boolean
}

/** From a process: its code is loaded, or the service listens. */
export type FromService = { readonly kind: 'loaded' } | { readonly kind: 'serving'; readonly address: string }
