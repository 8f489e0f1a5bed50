// What `octavo dev` tells the processes of services.

/** To a process: serve the project. */
export interface Begin {
  readonly kind: 'begin'
  /** Another process still listens on the same port. */
  readonly replaces: boolean
}
