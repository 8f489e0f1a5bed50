// Messages between the process of a command and its service processes.

/** To a process: serve the project. */
export interface BeginServing {
  readonly kind: 'begin'
  /** The first of all: it prints where the project is served. */
  readonly isFirst: boolean
  /** An empty database may be created although the project had one. */
  readonly allowsNew: boolean
  /** The shared address, even if the configuration has changed. */
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

/** From a process: its code is loaded, or the service listens. */
export type FromService = { readonly kind: 'loaded' } | { readonly kind: 'serving'; readonly address: string }

/** Sends a message to the parent process. */
export const tellStarter = (message: FromService): void => void process.send?.(message)
