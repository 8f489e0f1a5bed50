// What the main process of `octavo start --processes` tells the processes that serve.

/** To a process: serve the project. */
export interface BeginServing {
  readonly kind: 'begin'
  /** The first of all: it prints where the project is served. */
  readonly isFirst: boolean
  /** An empty database may be created although the project had one. */
  readonly allowsNew: boolean
  /** Where all listen, whatever the configuration says meanwhile. */
  readonly host: string
  readonly port: number
  /** The main process has a management port. */
  readonly isManaged: boolean
}

/** To a process: end. */
export interface EndServing {
  readonly kind: 'end'
  /** Serve for a moment longer, for load balancers. */
  readonly waits: boolean
  /** Another process has taken its place. */
  readonly isReplaced: boolean
}

/** From a process: it is about to stop listening. */
export interface LeavingPort {
  readonly kind: 'leaving'
}

/** To a process: nothing is lost if it stops listening. */
export interface LeavePort {
  readonly kind: 'leave'
}
